"""Which priority of a ModelService answers, before, during and after a change, and who is silenced by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from function.core import NamespacedName
from function.planning import comparison, impact, tiers
from function.planning.outcome import (
    DeploymentOutcome,
    EndpointOutcome,
    PlanOutcome,
    ReplicaOutcome,
    ServiceEntry,
    ServiceOutcome,
)
from function.planning.tiers import Tier

SERVICE = NamespacedName("ml-team", "chat")
OWN, OUTSIDE, LAST = (("kind", kind) for kind in ("own", "outside", "last"))


def endpoint(name: str, *labels: tuple[str, str], cluster: str = "", namespace: str = "ml-team") -> EndpointOutcome:
    return EndpointOutcome(namespace, name, f"http://{name}/v1", cluster, tuple(sorted(labels)))


def replica(name: str, cluster: str, *, serving: bool = True) -> ReplicaOutcome:
    return ReplicaOutcome(name, cluster, ("gpu",), serving, serving, "", "", "r", ())


ENTRIES = (ServiceEntry(0, (OWN,)), ServiceEntry(1, (OUTSIDE,)), ServiceEntry(2, (LAST,)))
ENDPOINTS = (
    endpoint("a", OWN, cluster="east"),
    endpoint("b", OWN, cluster="west"),
    endpoint("c", OUTSIDE),
    endpoint("d", LAST),
)


def fleet(
    *replicas: ReplicaOutcome,
    routed: str = "abcd",
    priority: int | None = 0,
    entries: tuple[ServiceEntry, ...] = ENTRIES,
    endpoints: tuple[EndpointOutcome, ...] = ENDPOINTS,
) -> PlanOutcome:
    found = replicas or (replica("a", "east"), replica("b", "west"))
    own = DeploymentOutcome("ml-team", "own", 2, found, "", ())
    ready = len(routed)
    service = ServiceOutcome(*SERVICE, "http://x/ml-team/chat", len(endpoints), ready, tuple(routed), priority, entries)
    return PlanOutcome((own,), (), (), endpoints, (service,), (), ())


def counts(outcome: PlanOutcome) -> list[tuple[int, int, int]]:
    return [(t.priority, t.answering, t.matched) for t in tiers.of(outcome)[SERVICE]]


@pytest.mark.parametrize(
    ("outcome", "want", "answers"),
    [
        (fleet(), [(0, 2, 2), (1, 1, 1), (2, 1, 1)], 0),
        (fleet(replica("a", "east", serving=False), replica("b", "west")), [(0, 1, 2), (1, 1, 1), (2, 1, 1)], 0),
        (fleet(routed="cd", priority=1), [(0, 0, 2), (1, 1, 1), (2, 1, 1)], 1),
        (fleet(routed="abcd", priority=1), [(0, 0, 2), (1, 1, 1), (2, 1, 1)], 1),
        (fleet(routed="d", priority=2), [(0, 0, 2), (1, 0, 1), (2, 1, 1)], 2),
        (fleet(routed="", priority=None), [(0, 0, 2), (1, 0, 1), (2, 0, 1)], None),
    ],
    ids=["all", "one is silent", "the first is down", "the first is withdrawn", "only the last", "none"],
)
def test_the_lowest_priority_with_an_endpoint_that_answers_takes_the_requests(
    outcome: PlanOutcome, want: list[tuple[int, int, int]], answers: int | None
) -> None:
    """Endpoints below the priority that a service reports are in its proxy still, but are asked for nothing."""
    assert (counts(outcome), tiers.answers(tiers.of(outcome)[SERVICE])) == (want, answers)


def test_an_endpoint_belongs_to_the_first_entry_that_selects_it() -> None:
    both = endpoint("a", OWN, OUTSIDE)
    entries = (ServiceEntry(1, (OUTSIDE,)), ServiceEntry(0, (OWN,)))
    found = fleet(routed="ab", endpoints=(both, endpoint("b", OWN)), entries=entries)
    assert counts(found) == [(0, 1, 1), (1, 1, 1)]


def test_endpoints_of_other_namespaces_belong_to_nobody() -> None:
    other = endpoint("a", OWN, namespace="other-team")
    assert counts(fleet(endpoints=(other, endpoint("c", OUTSIDE)), routed="c")) == [(0, 0, 0), (1, 1, 1), (2, 0, 0)]


def test_an_entry_needs_all_labels_of_its_selector() -> None:
    narrow = (ServiceEntry(0, tuple(sorted((OWN, OUTSIDE)))), ServiceEntry(1, (OWN,)))
    assert counts(fleet(entries=narrow)) == [(0, 0, 0), (1, 2, 2)]


def test_a_service_with_one_priority_has_no_tiers() -> None:
    assert tiers.of(fleet(entries=(ServiceEntry(0, (OWN,)), ServiceEntry(0, (OUTSIDE,))))) == {}


def test_the_next_priority_answers_for_a_lost_cluster() -> None:
    """What is behind it is gone at once, whatever the service still reports."""
    before = fleet(replica("a", "east"), routed="acd", endpoints=(ENDPOINTS[0], *ENDPOINTS[2:]))
    found = impact.compare(["lose east"], before, before, lost=["east"])

    (service,) = found.services
    assert (service.before, service.after, service.answers) == (3, 2, (0, 0, 1))
    assert (service.is_taken_over, service.is_silent, service.is_dark) == (True, False, False)


def test_a_service_is_silent_only_if_no_priority_has_an_endpoint_left() -> None:
    alone = (ENDPOINTS[0],)
    before = fleet(replica("a", "east"), routed="a", endpoints=alone)
    (service,) = impact.compare(["lose east"], before, before, lost=["east"]).services

    assert (service.is_silent, service.answers) == (True, (0, 0, None))


def test_another_priority_answers_until_replicas_have_moved() -> None:
    before = fleet(replica("a", "east"), routed="acd", endpoints=(ENDPOINTS[0], *ENDPOINTS[2:]))
    after = fleet(replica("b", "west"), routed="bcd", endpoints=ENDPOINTS[1:])
    left = impact.left(impact.without(before, ["east"]))
    (service,) = impact.compare(["lose east"], before, after, lost=["east"], meanwhile=left).services

    assert (service.before, service.meanwhile, service.after) == (3, 2, 3)
    assert (service.answers, service.is_bridged, service.is_taken_over) == ((0, 1, 0), True, False)


def test_a_plan_says_that_another_priority_answers() -> None:
    first, then = fleet(), fleet(routed="cd", priority=1)
    (service,) = comparison.compare(first, then).services

    assert (service.what, service.answered, service.answers, service.is_lost) == ("changed", 0, 1, False)
    assert service.tiers[0] == Tier(0, 2, 0)


def test_priorities_that_change_places_are_a_change() -> None:
    """Although as many endpoints are ready as before, and the same are routed."""
    swapped = (replace(ENTRIES[0], priority=1), replace(ENTRIES[1], priority=0), ENTRIES[2])
    (service,) = comparison.compare(fleet(), fleet(entries=swapped)).services

    assert (service.what, service.is_taken_over) == ("changed", False)
    assert comparison.compare(fleet(), fleet()).services[0].what == "kept"
