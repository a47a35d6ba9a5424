"""Why a ModelService answers as it does: its priorities, their endpoints, and what each of them says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.core import Manifest, NamespacedName, condition, dig, identity, is_ready
from function.planning import parts, tiers
from function.planning.outcome import PlanOutcome, ServiceOutcome
from function.sandbox.store import Ref, Store
from function.vocabulary import labels, versions


@dataclass(frozen=True, slots=True)
class EndpointState:
    """An endpoint of an entry."""

    name: str
    where: str
    """Its cluster; `outside` without one."""
    answers: bool
    """Whether the service leads to it, and nothing behind it is known to be silent."""
    why: str
    """What it says of itself: the message of its condition RoutingReady."""


@dataclass(frozen=True, slots=True)
class EntryState:
    """An entry of the service."""

    index: int
    priority: int
    weight: int
    model: str
    """The name that requests get; empty if they keep theirs."""
    endpoints: tuple[EndpointState, ...]


@dataclass(frozen=True, slots=True)
class ServiceExplanation:
    """A service in its final state."""

    address: str
    ready: bool
    why: str
    """What it says of its route: the message of its condition RoutingReady."""
    answers: int | None
    """The priority that takes the requests; None if no endpoint answers."""
    entries: tuple[EntryState, ...]

    @property
    def priorities(self) -> tuple[int, ...]:
        return tuple(sorted({entry.priority for entry in self.entries}))

    @property
    def is_complete(self) -> bool:
        """Whether each entry has endpoints, and all of them answer."""
        return all(entry.endpoints and all(one.answers for one in entry.endpoints) for entry in self.entries)


def explain(store: Store, service: Manifest) -> ServiceExplanation:
    """Explain a service of a store that has converged."""
    name, read = identity(service), parts.read(store)
    found = next(one for one in read.services if one.identity == name)
    entries = tuple(_entries(store, service, found, read))
    answering = (e.priority for e in entries if any(one.answers for one in e.endpoints))
    return ServiceExplanation(
        address=found.address,
        ready=is_ready(service),
        why=_message(service),
        answers=min(answering, default=None),
        entries=entries,
    )


def _entries(store: Store, service: Manifest, found: ServiceOutcome, read: PlanOutcome) -> Iterator[EntryState]:
    answering = tiers.answering(found, read)
    owners = tiers.owners(found, read.endpoints)
    for index, (entry, spec) in enumerate(zip(found.entries, service["spec"]["endpoints"], strict=True)):
        own = sorted(name for name, owner in owners.items() if owner == index)
        states = (_endpoint(store, NamespacedName(found.namespace, one), answers=one in answering) for one in own)
        yield EntryState(index, entry.priority, int(spec.get("weight") or 1), spec.get("model") or "", tuple(states))


def _endpoint(store: Store, name: NamespacedName, *, answers: bool) -> EndpointState:
    manifest = store.get(Ref(versions.MODELPLANE, "ModelEndpoint", *name)) or {}
    where = dig(manifest, "metadata", "labels", labels.CLUSTER) or "outside"
    return EndpointState(name.name, str(where), answers, _message(manifest))


def _message(manifest: Manifest) -> str:
    found = condition(manifest, "RoutingReady")
    return f"{dig(found, 'reason')}: {dig(found, 'message') or ''}".rstrip(": ") if found else "Not reconciled yet"
