"""The priorities of ModelServices: which endpoints each one has, and which one answers.

A *tier* is a priority of a service with the endpoints that belong to it. An endpoint belongs to the first entry that
selects it. It *answers* if the service leads to it and nothing behind it is known to be silent: of our own replicas,
those that serve; an outside provider always. The lowest tier with an endpoint that answers takes the requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from function.core import NamespacedName
from function.planning.outcome import EndpointOutcome, PlanOutcome, ServiceOutcome

Label = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tier:
    """A priority of a service."""

    priority: int
    matched: int
    """Endpoints that belong to it."""
    answering: int
    """Those that answer."""


Tiers = tuple[Tier, ...]
"""In order of priorities."""
TiersByService = Mapping[NamespacedName, Tiers]


def answers(tiers: Iterable[Tier]) -> int | None:
    """The priority that takes the requests; None if no endpoint answers."""
    return next((tier.priority for tier in tiers if tier.answering), None)


def of(outcome: PlanOutcome) -> TiersByService:
    """The tiers of each service that has several. All others have one, which takes whatever there is."""
    several = [service for service in outcome.services if len({entry.priority for entry in service.entries}) > 1]
    if not several:
        return {}
    silent, indexed = _silent(outcome), _by_label(outcome.endpoints)
    return {service.identity: tuple(_tiers(service, indexed, silent)) for service in several}


def serving_endpoints(outcome: PlanOutcome) -> dict[NamespacedName, int]:
    """By service, how many of the endpoints that it leads to are not silent."""
    silent = _silent(outcome)
    return {s.identity: sum((s.namespace, e) not in silent for e in s.routed) for s in outcome.services}


def answering(service: ServiceOutcome, outcome: PlanOutcome) -> frozenset[str]:
    """The names of the endpoints of a service that answer."""
    owned, floor = owners(service, outcome.endpoints), service.priority or 0
    led = _led(service, _silent(outcome))
    return frozenset(name for name, entry in owned.items() if name in led and service.entries[entry].priority >= floor)


def owners(service: ServiceOutcome, endpoints: Iterable[EndpointOutcome]) -> dict[str, int]:
    """The names of the endpoints that a service selects, each with the index of the entry that it belongs to."""
    return _owners(service, _by_label(endpoints))


def owners_of(
    services: Iterable[ServiceOutcome], endpoints: Iterable[EndpointOutcome]
) -> dict[NamespacedName, dict[str, int]]:
    """What `owners` tells, of several services."""
    indexed = _by_label(endpoints)
    return {service.identity: _owners(service, indexed) for service in services}


def _silent(outcome: PlanOutcome) -> set[tuple[str, str]]:
    """Namespace and name of the endpoints of replicas that do not serve."""
    return {(d.namespace, r.name) for d in outcome.deployments for r in d.replicas if not r.serving}


def _led(service: ServiceOutcome, silent: set[tuple[str, str]]) -> set[str]:
    return {name for name in service.routed if (service.namespace, name) not in silent}


def _tiers(
    service: ServiceOutcome, indexed: Mapping[tuple[str, Label], list[EndpointOutcome]], silent: set[tuple[str, str]]
) -> Iterator[Tier]:
    """Yield the tiers. Below the priority that answers, endpoints get nothing: their clusters do not answer."""
    owned, led = _owners(service, indexed), _led(service, silent)
    for priority in sorted({entry.priority for entry in service.entries}):
        names = {name for name, entry in owned.items() if service.entries[entry].priority == priority}
        yield Tier(priority, len(names), len(names & led) if priority >= (service.priority or 0) else 0)


def _owners(service: ServiceOutcome, indexed: Mapping[tuple[str, Label], list[EndpointOutcome]]) -> dict[str, int]:
    owned: dict[str, int] = {}
    for index, entry in enumerate(service.entries):
        for endpoint in indexed.get((service.namespace, entry.selector[0]), ()) if entry.selector else ():
            if set(entry.selector) <= set(endpoint.labels):
                owned.setdefault(endpoint.name, index)
    return owned


def _by_label(endpoints: Iterable[EndpointOutcome]) -> dict[tuple[str, Label], list[EndpointOutcome]]:
    found: dict[tuple[str, Label], list[EndpointOutcome]] = {}
    for endpoint in endpoints:
        for label in endpoint.labels:
            found.setdefault((endpoint.namespace, label), []).append(endpoint)
    return found
