"""Joins the records of a cluster by node: which devices it has, who holds them, and what its pods request.

A driver replaces its ResourceSlices generation by generation, and a generation is valid when all of its slices are
there. Kubernetes allocates nothing from an incomplete one, so its devices are not counted either.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from function.observe.amounts import NOTHING, Amounts
from function.observe.records import Claim, Device, Event, Fact, Group, Key, Node, Owner, Pod, Slice


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The records of a cluster at one moment."""

    nodes: Iterable[Node] = ()
    slices: Iterable[Slice] = ()
    claims: Iterable[Claim] = ()
    pods: Iterable[Pod] = ()
    owners: Iterable[Owner] = ()
    events: Iterable[Event] = ()
    autoscaler: Iterable[Group] = ()


@dataclass(slots=True)
class Place:
    """A node, with what is on it."""

    node: Node
    devices: list[tuple[Device, tuple[Fact, ...]]] = field(default_factory=list)
    """Devices that claims can hold, in the order of their names."""
    requested: Amounts = NOTHING
    """By pods that are not engines of ours."""
    daemons: Amounts = NOTHING
    """Of those, by pods of DaemonSets."""
    engines: Counter[str] = field(default_factory=Counter)
    """Engine pods of ours by `namespace/workload`."""
    of_engines: Amounts = NOTHING
    """What those request."""


@dataclass(frozen=True, slots=True)
class Inventory:
    places: Mapping[str, Place]
    """By the names of nodes, in their order."""
    holders: Mapping[Device, str]
    """Who holds a device: `namespace/workload` of an engine of ours, or nothing for anyone else."""


def of(snapshot: Snapshot) -> Inventory:
    places = {node.name: Place(node) for node in sorted(snapshot.nodes, key=lambda node: node.name)}
    for slice_ in sorted(_valid(snapshot.slices), key=lambda slice_: slice_.name):
        place = places.get(slice_.node)
        if place:
            place.devices.extend(_devices(slice_))
    for place in places.values():
        place.devices.sort(key=lambda one: one[0])
    engines: dict[Key, str] = {}
    for pod in snapshot.pods:
        if pod.is_over:
            continue
        if pod.workload:
            engines[pod.key] = f"{pod.key[0]}/{pod.workload}"
        if pod.node in places:
            _add(places[pod.node], pod)
    return Inventory(places, dict(_holders(snapshot.claims, engines)))


def _valid(slices: Iterable[Slice]) -> Iterator[Slice]:
    """The slices of the newest generation of each driver's pool, if it is complete."""
    pools: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    for slice_ in slices:
        pools[slice_.driver, slice_.pool].append(slice_)
    for members in pools.values():
        newest = max(slice_.generation for slice_ in members)
        current = [slice_ for slice_ in members if slice_.generation == newest]
        if len(current) >= max(slice_.slices for slice_ in current):
            yield from current


def _devices(slice_: Slice) -> Iterator[tuple[Device, tuple[Fact, ...]]]:
    for device in slice_.devices:
        if not device.is_tainted:
            yield Device(slice_.driver, slice_.pool, device.name), device.facts


def _add(place: Place, pod: Pod) -> None:
    if pod.workload:
        place.engines[f"{pod.key[0]}/{pod.workload}"] += 1
        place.of_engines = place.of_engines.plus(pod.requests)
        return
    place.requested = place.requested.plus(pod.requests)
    if pod.is_daemon:
        place.daemons = place.daemons.plus(pod.requests)


def _holders(claims: Iterable[Claim], engines: Mapping[Key, str]) -> Iterator[tuple[Device, str]]:
    """A device that several claims share is held by someone else if any of them is not ours."""
    held: dict[Device, set[str]] = defaultdict(set)
    for claim in claims:
        namespace = claim.key[0]
        holder = min(filter(None, (engines.get((namespace, pod), "") for pod in claim.pods)), default="")
        for device in claim.devices:
            held[device].add(holder)
    return ((device, min(holders)) for device, holders in held.items())
