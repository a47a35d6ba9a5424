"""Why a ModelService answers as it does: its priorities, their endpoints, and what each of them says of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from function.core import (
    Manifest,
    NamespacedName,
    closest,
    condition,
    dig,
    dig_objects,
    dig_text_fields,
    enumerate_names,
    identity,
    is_ready,
)
from function.planning import parts, tiers
from function.planning.outcome import PlanOutcome, ServiceOutcome
from function.sandbox.store import Ref, Store
from function.vocabulary import labels, names, versions


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
    why: str = ""
    """Why it has no endpoint; empty if it has one."""


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
    causes: tuple[str, ...] = ()
    """Why entries have no endpoint, and what it names and does not exist."""

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
        causes=tuple(dict.fromkeys(f"spec.endpoints[{e.index}]: {e.why}" for e in entries if e.why)),
    )


def _entries(store: Store, service: Manifest, found: ServiceOutcome, read: PlanOutcome) -> Iterator[EntryState]:
    answering = tiers.answering(found, read)
    owners = tiers.owners(found, read.endpoints)
    for index, (entry, spec) in enumerate(zip(found.entries, service["spec"]["endpoints"], strict=True)):
        own = sorted(name for name, owner in owners.items() if owner == index)
        states = (_endpoint(store, NamespacedName(found.namespace, one), answers=one in answering) for one in own)
        why = "" if own else "; ".join(_unmatched(store, found.namespace, dict(entry.selector)))
        weight, model = int(spec.get("weight") or 1), spec.get("model") or ""
        yield EntryState(index, entry.priority, weight, model, tuple(states), why)


def _unmatched(store: Store, namespace: str, selector: dict[str, str]) -> Iterator[str]:
    """Yield why no endpoint has the labels of an entry: those that none has, or the deployment that they are of."""
    labelled = [dig_text_fields(m, "metadata", "labels") for m in _of(store, "ModelEndpoint", namespace)]
    deployments = {names.label_value(identity(m).name): m for m in _of(store, "ModelDeployment", namespace)}
    for key, value in sorted(selector.items()):
        own = deployments if key == labels.DEPLOYMENT else {}
        known = {one[key] for one in labelled if key in one} | own.keys()
        if value in own:
            yield from _unplaced(own[value])
        elif value not in known:
            meant = closest(value, known)
            hint = f"did you mean {meant}?" if meant else f"there are: {enumerate_names(sorted(known)) or 'none'}"
            yield f"no ModelEndpoint in namespace {namespace} has label {key}={value}; {hint}"


def _unplaced(deployment: Manifest) -> Iterator[str]:
    """Yield why a deployment has no endpoints, if it says so."""
    for one in dig_objects(deployment, "status", "conditions"):
        if one.get("status") != "True" and one["type"] in ("ReplicasScheduled", "ReplicasReady"):
            yield f"ModelDeployment {identity(deployment)}: {one.get('reason')}: {one.get('message') or ''}"
            return


def _of(store: Store, kind: str, namespace: str) -> list[Manifest]:
    return [m for m in store.of_kind(versions.MODELPLANE, kind) if identity(m).namespace == namespace]


def _endpoint(store: Store, name: NamespacedName, *, answers: bool) -> EndpointState:
    manifest = store.get(Ref(versions.MODELPLANE, "ModelEndpoint", *name)) or {}
    where = dig(manifest, "metadata", "labels", labels.CLUSTER) or "outside"
    return EndpointState(name.name, str(where), answers, _message(manifest))


def _message(manifest: Manifest) -> str:
    found = condition(manifest, "RoutingReady")
    return f"{dig(found, 'reason')}: {dig(found, 'message') or ''}".rstrip(": ") if found else "Not reconciled yet"
