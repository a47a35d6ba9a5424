"""YAML as Go programs write it (compared with crossplane/cli v2.5.0, whose YAML is sigs.k8s.io/yaml's)."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from function.cli import yaml_text


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ("plain", "plain"),
        ("", '""'),
        ("true", '"true"'),
        ("yes", '"yes"'),
        ("8000", '"8000"'),
        ("1.5", '"1.5"'),
        ("1e3", '"1e3"'),
        ("2024-01-01T00:00:00Z", '"2024-01-01T00:00:00Z"'),
        ("v1.2.3", "v1.2.3"),
        ("a: b", "'a: b'"),
        ("- x", "'- x'"),
        ("two\nlines", "|-\n  two\n  lines"),
        (3, "3"),
        (True, "true"),
        ({}, "{}"),
        ([], "[]"),
        ([{"b": 1, "a": 2}], "\n- a: 2\n  b: 1"),
    ],
)
def test_a_value_is_written_as_go_writes_it(value: Any, want: str) -> None:
    separator = "" if want.startswith("\n") else " "
    assert yaml_text.document({"key": value}) == f"key:{separator}{want}\n"


def test_documents_stand_behind_their_markers() -> None:
    assert yaml_text.documents([{"a": 1}, {"b": 2}]) == "---\na: 1\n---\nb: 2\n"


def test_long_texts_are_folded_at_80_columns() -> None:
    """As crossplane prints them; what is read again is the same."""
    text = "word " * 40 + "end"

    got = yaml_text.document({"text": text})

    assert (got.count("\n") > 2, yaml.safe_load(got)) == (True, {"text": text})
