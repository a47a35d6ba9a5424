"""The objects of a kind, found by label and namespace."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from function.sandbox import fields
from function.sandbox.stored import Stored
from function.sandbox.table import Key, Table

KEYS = st.tuples(st.sampled_from("nm"), st.sampled_from("abc"))
LABELS = st.dictionaries(st.sampled_from(("app", "tier")), st.sampled_from("xy"))
WRITES = st.lists(st.tuples(KEYS, st.none() | LABELS), max_size=12)
MARKS = st.sets(st.sampled_from((("", "n"), ("", "m"), ("app", "x"), ("app", "y"), ("tier", "x"))), max_size=2)


def stored(key: Key, labels: dict[str, str]) -> Stored:
    metadata = {"namespace": key[0], "name": key[1], "labels": labels}
    return Stored({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})


@given(WRITES, WRITES, MARKS)
def test_a_look_up_finds_what_a_scan_finds(
    writes: list[tuple[Key, dict[str, str] | None]], later: list[tuple[Key, dict[str, str] | None]], wanted: Any
) -> None:
    """Whatever was created, relabelled and removed; and a copy keeps what the original had."""
    table = Table()
    expected: dict[Key, Stored] = {}

    def write(some: list[tuple[Key, dict[str, str] | None]]) -> None:
        for key, labels in some:
            one = None if labels is None else stored(key, labels)
            table.put(key, one)
            expected.pop(key, None)
            expected.update({key: one} if one else {})

    def scan() -> list[Any]:
        found = (expected[key].manifest for key in sorted(expected))
        return [m for m in found if wanted <= fields.marks(m)]

    write(writes)
    copy, copied = table.copied(), scan()
    assert list(table.having(wanted)) == copied
    assert list(table.order()) == sorted(expected)

    write(later)
    assert (list(table.having(wanted)), list(copy.having(wanted))) == (scan(), copied)
