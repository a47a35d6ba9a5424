"""JSON that others wrote has any value, or none: it never raises."""

import pytest

from function.core import json_text


@pytest.mark.parametrize(
    ("text", "want"),
    [('{"a": [1, 0.5, null]}', {"a": [1, 0.5, None]}), ("7", 7), ('"x"', "x"), ("[[" * 15 + "]]" * 15, ...)],
)
def test_a_value_is_read(text, want):
    got = json_text.parse(text)
    assert got == want if want is not ... else isinstance(got, list)


@pytest.mark.parametrize(
    "text",
    [
        *(None, 7, {"a": 1}, "", "x", "{", "NaN", "[Infinity]", "[-Infinity]", "1e999", "[-1e999]", "9" * 5000),
        *("[" * 40 + "]" * 40, "[" * 900 + "]" * 900, "[" * 100_000, '{"a":' * 100_000, '{"a":[' * 40 + "]}" * 40),
    ],
    ids=lambda text: repr(text)[:20],
)
def test_what_no_manifest_can_hold_is_none(text):
    assert json_text.parse(text) is None
