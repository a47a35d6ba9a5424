"""The schema of pod templates: it is Kubernetes' own, and every type is one that the reader knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from function import podspec
from function.podspec import definitions
from function.podspec.definitions import Type
from tests.support import foreign, kubernetes_schema

FILE = Path(definitions.__file__).with_name("schema.json")
KINDS = {"object", "map", "list", "string", "int32", "int64", "boolean", "Quantity", "IntOrString", "Time", "any"}


def test_the_file_holds_what_kubernetes_publishes() -> None:
    """UPDATE_GOLDEN=1 rewrites the file; then read the diff."""
    want = kubernetes_schema.text()
    if os.environ.get("UPDATE_GOLDEN"):
        FILE.write_text(want)

    assert FILE.read_text() == want


def test_it_is_that_of_the_oldest_kubernetes() -> None:
    assert podspec.VERSION == foreign.KUBERNETES


def test_every_type_is_one_that_the_reader_knows() -> None:
    assert {type_.kind for type_ in _types()} == KINDS
    assert {name for name, type_ in definitions.definitions().items() if type_.kind == "any"} == {"FieldsV1"}


def test_every_definition_of_the_file_is_reached() -> None:
    reached = {kubernetes_schema.short(name) for name in kubernetes_schema.reached(kubernetes_schema.original())}

    assert {*definitions.definitions(), "Quantity", "IntOrString", "Time"} == reached


def _types() -> Iterator[Type]:
    for type_ in definitions.definitions().values():
        yield type_
        for field in type_.fields.values():
            yield field
            yield from [field.items] if field.items else []
