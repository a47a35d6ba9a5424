"""Every key of the tables is a field of the schema, of a type that the table can be about."""

from __future__ import annotations

import re

import pytest

from function.podspec import definitions, tables
from function.podspec.definitions import Type

NUMBERS = {"int32", "int64", "IntOrString"}


def field_type(field: tables.Field) -> Type:
    """The type of a field, or of the items of a list. Fails where there is none."""
    definition, name = field
    type_ = definitions.definition(definition).fields[name]
    return type_.items if type_.kind == "list" and type_.items else type_


@pytest.mark.parametrize("field", sorted({*tables.ONE_OF, *tables.FORMS, *tables.EMPTY_MEANS}), ids=".".join)
def test_a_table_of_texts_is_about_a_text(field: tables.Field) -> None:
    assert field_type(field).kind == "string"


@pytest.mark.parametrize("field", tables.BETWEEN, ids=".".join)
def test_a_table_of_numbers_is_about_a_number(field: tables.Field) -> None:
    least, most = tables.BETWEEN[field]

    assert field_type(field).kind in NUMBERS
    assert least < most


@pytest.mark.parametrize("field", sorted(tables.MAY_REPEAT), ids=".".join)
def test_what_may_repeat_is_a_list_with_keys(field: tables.Field) -> None:
    definition, name = field

    assert definitions.definition(definition).fields[name].keys


@pytest.mark.parametrize("definition", {**tables.REQUIRED, **tables.EXACTLY_ONE})
def test_a_table_of_definitions_names_fields_that_they_have(definition: str) -> None:
    type_ = definitions.definition(definition)
    named = {*tables.REQUIRED.get(definition, ()), *tables.EXACTLY_ONE.get(definition, ())}

    assert named <= type_.fields.keys()
    assert set(tables.REQUIRED.get(definition, ())).isdisjoint(type_.required), "the schema requires it already"


def test_handlers_are_those_of_a_probe() -> None:
    actions = {name for name, type_ in definitions.definition("Probe").fields.items() if type_.definition}

    assert set(tables.HANDLERS) == actions


def test_usual_sources_of_volumes_are_sources() -> None:
    assert set(tables.USUAL) < definitions.definition("Volume").fields.keys() - {"name"}


def test_no_field_is_in_two_tables() -> None:
    assert len(tables.TOLD) == len(tables.ONE_OF) + len(tables.BETWEEN) + len(tables.FORMS)


@pytest.mark.parametrize("field", sorted(tables.TOLD), ids=".".join)
def test_what_is_accepted_is_told(field: tables.Field) -> None:
    assert re.fullmatch(r"\S.*\S", tables.accepted(field))
