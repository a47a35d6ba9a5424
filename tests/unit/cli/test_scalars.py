"""Where the characters of a YAML scalar are in its document."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from function.cli.scalars import Mark, characters, span
from function.cli.values import Loader

TEXTS = {
    "plain": "a: one two\n",
    "plain over lines": "a: one\n  two\n\n  three\nb: c\n",
    "single quotes": "a: 'it''s\n  one\n\n\n  text '\n",
    "double quotes": 'a: "one \\"two\\"\\n\\u00e9\\x41 \\\\ three"\n',
    "double quotes over lines": 'a: "one \\\n   two\\\n   three\n   four\n\n   five "\n',
    "literal": "a: |\n  one\n    two\n\n  three\nb: c\n",
    "literal, stripped": "a: |-\n  one\n  two\n\n\nb: c\n",
    "literal, kept": "a: |+\n  one\n\n\nb: c\n",
    "literal, indicator": "a: |2\n    one\n   two\n",
    "literal, comment": "a: | # why\n  one\n",
    "literal at the end": "a: |\n  one\n  two",
    "folded": "a: >\n  one\n  two\n\n  three\n    more\n    indented\n\n  four\nb: c\n",
    "folded, stripped": "a: >-\n\n  one\n  two\n \n  three\n",
    "in a list": "a:\n- >-\n  one\n  two\n- b\n",
    "flow": "a: {b: [one, 'two']}\n",
    "CRLF": "a: |\r\n  one\r\n  two\r\nb: 'three\r\n  four'\r\n",
    "wide": "a: \u65e5\u672c one\n",
}


def scalars(text: str) -> list[yaml.ScalarNode]:
    root = next(yaml.compose_all(text, Loader=Loader))
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode):
            found.append(node)
        else:
            waiting.extend(part for item in node.value for part in (item if isinstance(item, tuple) else (item,)))
    return found


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_every_character_is_where_it_is_written(text: str) -> None:
    lines = text.split("\n")
    for node in scalars(text):
        placed = characters(lines, node)
        assert placed is not None
        assert "".join(one.text for one in placed) == node.value
        for one in placed:
            written = lines[one.start.line][one.start.column : one.end.column]
            assert written == one.text or one.text in " \n" or written[0] in "\\'"


@pytest.mark.parametrize(
    ("text", "word", "want"),
    [
        ("a: x && y", "y", (Mark(0, 8), Mark(0, 9))),
        ("a: |\n    x &&\n      yes", "yes", (Mark(2, 6), Mark(2, 9))),
        ("a: >-\n  x &&\n\n\n  yes\n", "yes", (Mark(4, 2), Mark(4, 5))),
        ("a: 'x == ''yes'''", "yes", (Mark(0, 11), Mark(0, 14))),
        ('a: "x == \\"yes\\""', '"yes"', (Mark(0, 9), Mark(0, 16))),
        ('a: "x \\\n   && yes"', "yes", (Mark(1, 6), Mark(1, 9))),
    ],
)
def test_a_part_of_a_value_has_a_begin_and_an_end(text: str, word: str, want: tuple[Mark, Mark]) -> None:
    node = next(one for one in scalars(text) if word in one.value)
    first = node.value.index(word)

    assert span(text.split("\n"), node, first, first + len(word)) == want


def test_what_is_behind_the_end_is_at_the_end() -> None:
    (node,) = (one for one in scalars("a: |-\n  x &&\nb: c") if one.value == "x &&")

    assert span(["a: |-", "  x &&", "b: c"], node, 4, 5) == (Mark(1, 6), Mark(1, 6))


def test_an_empty_value_has_no_characters() -> None:
    (node,) = (one for one in scalars("a: ''") if not one.value)

    assert span(["a: ''"], node, 0, 1) is None


def test_lines_that_are_not_those_of_the_scalar_give_no_place() -> None:
    (node,) = (one for one in scalars("a: |\n  xyz\n") if one.value == "xyz\n")

    assert span(["a: |", "  other"], node, 0, 1) is None


WORDS = st.text(alphabet="ab '\"\\\n\t#:\u00e9-", min_size=1, max_size=30)


@given(WORDS, st.sampled_from(["|", ">", "'", '"', None]))
def test_what_a_yaml_library_writes_is_placed(value: str, style: str | None) -> None:
    text = yaml.dump({"k": {"v": value}}, default_style=style, width=10, allow_unicode=True)
    for node in scalars(text):
        placed = characters(text.split("\n"), node)
        assert placed is not None
        assert "".join(one.text for one in placed) == node.value
