"""The note on a replica that grows, of the spec that it may have to go back to."""

from __future__ import annotations

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


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"spec": []}', '{"specHash": "x"}', 7, None])
def test_a_spoilt_note_says_nothing(text: object) -> None:
    assert previous_spec.read(noted(text)) is None


def test_a_spec_too_long_for_an_annotation_is_not_noted() -> None:
    long = {**OBSERVED, "spec": {**SPEC, "args": "x" * 200_000}}
    assert previous_spec.note(PreviousSpec(ENGINES, "hash"), long) == ""
