"""What kubectl says of our kinds: columns, and the descriptions that `kubectl explain` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from function.publish import catalog, xrd
from function.publish.catalog import Kind
from function.publish.explained import explained

each_kind = pytest.mark.parametrize("kind", catalog.KINDS, ids=lambda kind: kind.kind)
FEWEST_WORDS = 3
WIDEST = 8
"""Columns without `-o wide`, NAME and those of Crossplane not counted."""


def published(kind: Kind) -> dict[str, Any]:
    [version] = xrd.definition(kind)["spec"]["versions"]
    return dict(version)


def fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        yield path + name, field
        yield from fields(field, f"{path}{name}.")
        for inside in ("items", "additionalProperties"):
            if isinstance(field.get(inside), dict):
                yield from fields(field[inside], f"{path}{name}[].")


@each_kind
def test_every_field_has_a_description_of_some_words(kind: Kind) -> None:
    schema = published(kind)["schema"]["openAPIV3Schema"]
    texts = {path: field.get("description", "") for path, field in fields(schema)}
    assert {path: text for path, text in texts.items() if len(text.split()) < FEWEST_WORDS} == {}
    assert {path: text for path, text in texts.items() if not text.endswith((".", ")"))} == {}
    assert len(schema["description"].split()) >= FEWEST_WORDS


@each_kind
def test_a_description_says_the_bounds_and_the_default(kind: Kind) -> None:
    """`kubectl explain` shows neither."""
    for path, field in fields(published(kind)["schema"]["openAPIV3Schema"]):
        bound = next((key for key in ("maximum", "maxItems", "maxProperties", "maxLength") if key in field), None)
        assert bound is None or str(field[bound]) in field["description"], path
        if isinstance(field.get("default"), int | str):
            assert re.search("default", field["description"], re.IGNORECASE), path


@each_kind
def test_a_description_says_that_a_field_cannot_be_changed(kind: Kind) -> None:
    schema = published(kind)["schema"]["openAPIV3Schema"]
    for path, field in (("", schema), *fields(schema)):
        for inside in (field, field.get("items", {})):
            for rule in inside.get("x-kubernetes-validations", ()):
                fixed = inside.get("properties", {}).get(rule.get("fieldPath", "").lstrip("."))
                if fixed and "oldSelf" in rule["rule"]:
                    assert re.search("refused|Cannot be changed", fixed["description"]), path


@pytest.mark.parametrize(
    ("schema", "want"),
    [
        ({"minimum": 0, "maximum": 100, "default": 1}, "Copies. From 0 to 100. Defaults to 1."),
        ({"minimum": 1}, "Copies. At least 1."),
        ({"maxItems": 1, "minItems": 1}, "Copies. Exactly 1 item."),
        ({"maxItems": 8}, "Copies. At most 8 items."),
        ({"minItems": 2, "maxItems": 8}, "Copies. From 2 to 8 items."),
        ({"maxProperties": 32}, "Copies. At most 32 entries."),
        ({"maxLength": 63, "default": "a"}, "Copies. At most 63 characters. Defaults to a."),
        ({"type": "boolean", "default": True}, "Copies. Defaults to true."),
        ({"default": {"mode": "Unified"}}, "Copies."),
    ],
)
def test_sentences_are_added_to_a_description(schema: dict[str, Any], want: str) -> None:
    assert explained({"description": "Copies.", **schema})["description"] == want


@pytest.mark.parametrize(
    "schema",
    [
        {"description": "By default, one.", "default": 1},
        {"description": "A label of up to 63 characters.", "maxLength": 63},
        {"description": "A number from 1 to 64.", "minimum": 1, "maximum": 64},
    ],
)
def test_what_a_description_tells_is_not_told_again(schema: dict[str, Any]) -> None:
    assert explained(schema)["description"] == schema["description"]


# Columns


@each_kind
def test_columns_end_with_the_reason_and_fit_a_terminal(kind: Kind) -> None:
    shown = [column["name"] for column in published(kind)["additionalPrinterColumns"] if "priority" not in column]
    assert shown[-1] == "REASON"
    assert len(shown) <= WIDEST
    assert all(name == name.upper() and len(name) <= len("TOKENS/MINUTE") for name in shown)


@each_kind
def test_the_message_is_shown_on_request_only(kind: Kind) -> None:
    [message] = [column for column in published(kind)["additionalPrinterColumns"] if column["name"] == "MESSAGE"]
    assert (message["priority"], message["jsonPath"]) == (1, ".status.message")


def test_short_names_are_those_of_one_kind() -> None:
    names = [name for kind in catalog.KINDS for name in (*kind.short_names, kind.plural, kind.kind.lower())]
    assert len(names) == len(set(names))
    assert all(kind.short_names for kind in catalog.KINDS)
