"""Which version composed a replica, and what a revision is."""

from __future__ import annotations

import pytest

from function.core import NamespacedName
from function.fleet import previous_spec, renderings
from function.fleet.replicas import replica
from function.scheduling import PreviousSpec, Revision
from function.vocabulary import conditions as c
from function.vocabulary import labels, versions

NOW = str(versions.RENDERING)
MINE = NamespacedName("ml", "d")


def manifest(
    rendering: str | None = NOW, said: str = "Accepted", status: str = "True", **notes: str
) -> dict[str, object]:
    annotations = {**notes, **({} if rendering is None else {labels.RENDERING: rendering})}
    conditions = [{"type": "Ready", "status": "True"}, {"type": "ModelAccepted", "status": status, "reason": said}]
    return {
        "metadata": {"name": "r", "namespace": "ml", "annotations": annotations},
        "spec": {"clusterName": "c"},
        "status": {"serving": True, "conditions": conditions},
    }


@pytest.mark.parametrize(
    ("noted", "number"), [(None, 1), ("1", 1), ("7", 7), ("", 0), ("x", 0), ("-1", 0), ("1.0", 0), ("²", 0), (7, 0)]
)
def test_the_rendering_that_a_replica_notes(noted: object, number: int) -> None:
    metadata = {} if noted is None else {"annotations": {labels.RENDERING: noted}}
    assert renderings.rendering(metadata) == number


@pytest.mark.parametrize(("number", "revision"), [(1, "1a2b3c4d"), (2, "1a2b3c4d-2"), (12, "1a2b3c4d-12")])
def test_a_revision_is_a_spec_and_a_rendering(number: int, revision: str) -> None:
    assert renderings.revision("1a2b3c4d", number) == revision
    assert renderings.spec_hash(revision) == "1a2b3c4d"


def test_a_hash_that_was_not_noted_is_no_revision() -> None:
    assert (renderings.revision("", 2), renderings.spec_hash("")) == ("", "")


def test_what_the_first_releases_noted_is_a_revision_of_theirs() -> None:
    found = replica(manifest(None, **{labels.SPEC_HASH: "1a2b3c4d"}), MINE)
    assert found
    assert found.spec_hash == "1a2b3c4d"


@pytest.mark.parametrize(
    ("rendering", "said", "status", "ready", "answered"),
    [
        (NOW, "Accepted", "True", True, True),
        (NOW, "AwaitingTurn", "True", False, True),
        (NOW, "FatalError", "Unknown", True, False),
        (NOW, "WaitingForCluster", "False", True, False),
        (None, "AwaitingTurn", "True", True, True),
        (None, "Accepted", "True", True, True),
    ],
)
def test_a_replica_is_ready_with_its_turn_once_it_no_longer_awaits_it(
    rendering: str | None, said: str, status: str, ready: bool, answered: bool
) -> None:
    found = replica(manifest(rendering, said, status), MINE)
    assert found
    assert (found.ready, found.answered, found.awaits_turn) == (ready, answered, said == c.AWAITING_TURN.reason)
    assert found.serving


TRIED, SERVED = {"tried": True}, {"tried": True, "served": True}


@pytest.mark.parametrize(
    ("noted", "carried"),
    [
        ([], False),
        ([Revision("a", **TRIED)], True),
        ([Revision("a-2", **TRIED)], True),
        ([Revision("a", **SERVED)], False),
        ([Revision("a-2", **TRIED), Revision("a", **SERVED)], False),
        ([Revision("a")], False),
        ([Revision("b", **TRIED)], False),
        ([Revision("a-3"), Revision("a", **TRIED)], False),
    ],
)
def test_a_spec_that_never_worked_stays_tried_with_a_new_version(noted: list[Revision], carried: bool) -> None:
    assert list(renderings.tried_before(noted, "a-3")) == ([Revision("a-3", tried=True)] if carried else [])


def test_a_successor_is_awaited_whichever_version_noted_it() -> None:
    found = replica(manifest(None, **{labels.MOVING_FOR: "1a2b3c4d"}), MINE)
    assert found
    assert found.moving_for == f"1a2b3c4d-{NOW}"


def test_the_previous_spec_comes_back_with_the_present_rendering() -> None:
    """The workloads that another version composed for it are gone."""
    observed = {
        "apiVersion": "v",
        "kind": "ModelReplica",
        "metadata": {"name": "r", "annotations": {labels.FORMER_SPEC: "{}", labels.RENDERING: "1"}},
        "spec": {"clusterName": "c"},
    }
    previous = PreviousSpec((), "1a2b3c4d", '{"spec":{"clusterName":"before"}}')
    restored = previous_spec.restored(observed, previous)
    assert restored["metadata"]["annotations"] == {labels.SPEC_HASH: "1a2b3c4d", labels.RENDERING: NOW}
    assert restored["spec"] == {"clusterName": "before"}
