"""How many more pods a pool with shared nodes takes, by the devices that each claims.

A cluster publishes these numbers: for people, and for deployments that choose among clusters before they read the
replicas there (see `hint.py`).

Terms:

- An *entry* is an entry of the node's shape. One whose devices can be claimed is *claimable*.
- *Guaranteed* is, for an entry and a size, how many pods that claim so many devices of the entry, and request nothing
  else, the pool takes. It is exact.
- *At most* is, for a size, an upper bound on the pods that claim so many devices in all, of whichever entries, whatever
  else they request.

If a shape has one claimable entry and no resource is counted, *guaranteed* is an upper bound already: a pod in place of
a larger one leaves a safe pool safe. Otherwise it is not. A request for cpu may keep two pods from one node that would
block it for a third, so that a pool takes pods that request cpu, and not the same pods without. So *at most* is found
in another way: the pods that are there block some nodes for a pod, by its devices alone. All pods of a safe pool find a
place in every arrangement, so the newcomers fit on the other nodes.

Phases of `vacancy`:

1. Count the free devices of each entry.
2. Find how many pods fit that take a whole node.
3. For each claimable entry, find what is guaranteed, for the sizes 1, 2, 4 and so on, and those in use.
4. Find the bounds, if they are needed.

Deliberately coarse:

- Claims that may draw on several entries are charged to the first of them that has free devices.
- The steps of all phases are limited together. If the limit is reached, nothing is guaranteed, and no bound is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from function.scheduling import packing
from function.scheduling.budget import StepLimit
from function.scheduling.fleet import NodeShape, Pool
from function.scheduling.packing import NodeCapacity, Nodes, PodDemand
from function.scheduling.sharing import Room, whole_node

_MOST_STEPS = 50_000
"""Steps of all questions about one room. No question alone may take more, so that each answer is exact."""
MOST_SIZES = 16
"""Sizes for which numbers are given."""

Counts = tuple[tuple[int, int], ...]
"""Pairs of a size and a number of pods, the largest size first."""


@dataclass(frozen=True, slots=True)
class EntryVacancy:
    """What is left of one entry of the node's shape."""

    name: str
    total: int
    """Devices on all nodes."""
    free: int
    """Devices that no pod claims."""
    guaranteed: Counts = ()
    """Empty if it is not known."""


@dataclass(frozen=True, slots=True)
class Vacancy:
    """What is left of a shared pool."""

    whole: int
    """Pods that fit and take a whole node."""
    entries: tuple[EntryVacancy, ...]
    """The claimable entries."""
    at_most: Counts = ()
    """Empty if the guaranteed numbers are upper bounds themselves, or if it is not known."""


def vacancy(room: Room, pool: Pool) -> Vacancy:
    """Return what is left of a shared pool. Raises deadline.Exceeded."""
    limit, shape = StepLimit(_MOST_STEPS), pool.shape
    left = _free(room, shape)
    nodes = sum(count for _, count in room.nodes)
    whole = _more(room, PodDemand(whole_node(shape)), nodes, limit)
    guaranteed = {entry: _guaranteed(room, entry, shape, left[entry], limit) for entry in left}
    at_most = tuple(_at_most(room, sum(left.values()), limit)) if _needs_bounds(shape, left) else ()
    is_known = not limit.exhausted
    return Vacancy(
        whole=whole,
        entries=tuple(
            EntryVacancy(shape.devices[e].name, _total(room.nodes, (e,)), free, guaranteed[e] if is_known else ())
            for e, free in left.items()
        ),
        at_most=at_most if is_known else (),
    )


def roughly_vacant(room: Room, pool: Pool) -> Vacancy:
    """Return what is left of a shared pool if each pod that claims devices is taken to have a node of its own.

    It takes few steps, and nothing is guaranteed.
    """
    pods = sum(count for demand, count in room.everyone if demand.devices)
    entries = (
        EntryVacancy(pool.shape.devices[e].name, _total(room.nodes, (e,)), free)
        for e, free in _free(room, pool.shape).items()
    )
    return Vacancy(max(0, sum(count for _, count in room.nodes) - pods), tuple(entries))


def claimable(shape: NodeShape) -> tuple[int, ...]:
    """Return the positions of the claimable entries."""
    return tuple(i for i, d in enumerate(shape.devices) if d.count > 0 and d.device_class is not None)


def _needs_bounds(shape: NodeShape, entries: Mapping[int, int]) -> bool:
    return len(entries) > 1 or any(has is not None for has in shape.node)


def _total(nodes: Iterable[tuple[NodeCapacity, int]], entries: Iterable[int]) -> int:
    return sum(count * capacity.devices[e] for capacity, count in nodes for e in entries)


def _free(room: Room, shape: NodeShape) -> dict[int, int]:
    """Return the free devices of each claimable entry; 0 where more are claimed than there are."""
    left = {e: _total(room.nodes, (e,)) for e in claimable(shape)}
    claims = [(entries, n * count) for demand, count in room.everyone for n, entries in demand.devices]
    for entries, claimed in sorted(claims, key=lambda claim: (len(claim[0]), claim)):
        rest = claimed
        for entry in entries:
            taken = min(left[entry], rest)
            left[entry] -= taken
            rest -= taken
    return left


def _more(room: Room, demand: PodDemand, most: int, limit: StepLimit) -> int:
    """Return how many more pods of a demand the room takes, in every combination of states."""
    for pods in room.combinations():
        most = packing.most_more(dict(room.nodes), pods, demand, most, limit)
    return most


def _guaranteed(room: Room, entry: int, shape: NodeShape, free: int, limit: StepLimit) -> Counts:
    used = {n for demand, _ in room.everyone for n, entries in demand.devices if entry in entries}
    sizes = _sizes(shape.devices[entry].count, used)
    return tuple((n, _more(room, PodDemand(((n, (entry,)),)), free // n, limit)) for n in sizes)


def _at_most(room: Room, free: int, limit: StepLimit) -> Iterator[tuple[int, int]]:
    nodes = dict(room.nodes)
    most = max((sum(capacity.devices) for capacity in nodes), default=0)
    used = {sum(n for n, _ in demand.devices) for demand, _ in room.everyone}
    for size in _sizes(most, used):
        bounds = (_bound(nodes, pods, size, limit) for pods in room.combinations())
        yield size, min(free // size, *bounds)


def _bound(nodes: Nodes, pods: packing.Pods, size: int, limit: StepLimit) -> int:
    """Return a bound on the pods that claim `size` devices in all, and find a place beside `pods`."""
    demand = PodDemand(((size, tuple(range(max(len(capacity.devices) for capacity in nodes)))),))
    places = {capacity: sum(capacity.devices) // size for capacity in nodes}
    lost = max(places[c] * packing.most_blocked(c, n, pods, demand, limit) for c, n in nodes.items())
    return sum(places[c] * n for c, n in nodes.items()) - lost


def _sizes(most: int, used: Iterable[int]) -> list[int]:
    """Return the sizes for which numbers are given, the largest first: powers of two, `most`, and those in use."""
    powers = [2**i for i in range(most.bit_length())]
    wanted = dict.fromkeys([*powers, *([most] if most else []), *sorted(n for n in used if 0 < n < most)])
    return sorted([*wanted][:MOST_SIZES], reverse=True)
