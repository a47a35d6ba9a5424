"""The note on a replica that grows, of the spec that it may have to go back to."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from function.fleet import previous_spec
from function.scheduling import PlacedEngine, PlacedMember, PreviousSpec
from function.vocabulary import labels

SPEC = {
    "clusterName": "c",
    "engines": [
        {"name": "e", "members": [{"role": "Standalone", "nodePoolName": "p", "deviceRequests": [{"name": "g"}]}]}
    ],
}
OBSERVED = {"apiVersion": "v", "kind": "ModelReplica", "metadata": {"name": "r"}, "spec": SPEC}
ENGINES = (PlacedEngine("e", 1, (PlacedMember("Standalone", 1, "p", claims=True),)),)


def noted(text: str) -> dict[str, object]:
    return {"annotations": {labels.FORMER_SPEC: text}}


def test_what_is_noted_is_read_and_restored() -> None:
    text = previous_spec.note(PreviousSpec(ENGINES, "hash"), OBSERVED)
    found = previous_spec.read(noted(text))
    assert found == PreviousSpec(ENGINES, "hash", text)
    assert previous_spec.spec(found) == SPEC


def test_a_note_is_carried_on_as_it_is() -> None:
    assert previous_spec.note(PreviousSpec(ENGINES, "hash", "as noted"), OBSERVED) == "as noted"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "1", '{"spec": []}', '{"specHash": "x"}', 7, None, "[" * 100_000, '{"spec": {"a": NaN}}'],
    ids=lambda text: str(text)[:20],
)
def test_a_spoilt_note_says_nothing(text: object) -> None:
    assert previous_spec.read(noted(text)) is None


def test_a_spec_too_long_for_an_annotation_is_not_noted() -> None:
    long = {**OBSERVED, "spec": {**SPEC, "args": "x" * 200_000}}
    assert previous_spec.note(PreviousSpec(ENGINES, "hash"), long) == ""


def later(name: str) -> dict[str, object]:
    """The replica with an engine of another name."""
    return {**OBSERVED, "spec": {**SPEC, "engines": [{**SPEC["engines"][0], "name": name}]}}


def test_engines_between_two_edits_are_noted_each_once() -> None:
    first = previous_spec.read(noted(previous_spec.note(PreviousSpec(ENGINES, "hash"), OBSERVED)))
    assert first is not None
    edited = replace(first, between=(ENGINES,))
    second = previous_spec.read(noted(previous_spec.note(edited, later("f"))))
    assert second is not None
    assert [[engine.name for engine in spec] for spec in second.between] == [["f"]]
    assert previous_spec.spec(second) == SPEC
    assert previous_spec.note(second, later("g")) == second.noted
    assert previous_spec.note(replace(second, between=(*second.between, ENGINES)), later("f")) == second.noted
    third = previous_spec.note(replace(second, between=(*second.between, ENGINES)), later("g"))
    assert [spec[0].name for spec in previous_spec.read(noted(third)).between] == ["f", "g"]


def test_engines_that_are_too_long_leave_the_note_as_it_is() -> None:
    text = previous_spec.note(PreviousSpec(ENGINES, "hash"), OBSERVED)
    edited = PreviousSpec(ENGINES, "hash", text, (ENGINES,))
    assert previous_spec.note(edited, later("f" * 200_000)) == text


@pytest.mark.parametrize("between", [7, {}, [None, 7, {}]])
def test_spoilt_engines_between_are_none(between: object) -> None:
    text = json.dumps({"spec": SPEC, "specHash": "hash", "between": between})
    found = previous_spec.read(noted(text))
    assert found is not None
    assert not any(found.between)
