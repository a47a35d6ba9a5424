"""How many more pods a pool with shared nodes takes, by the devices that each claims.

A cluster publishes these numbers: for people, and for deployments that choose among clusters before they read the
replicas there (see `hint.py`).

Terms:

- An *entry* is an entry of the node's shape. One whose devices can be claimed is *claimable*.
- *Guaranteed* is, for an entry and a size, how many pods that claim so many devices of the entry, and request nothing
  else, the pool takes.
- *At most* is, for a size, an upper bound on the pods that claim so many devices in all, of whichever entries, whatever
  else they request.

If a shape has one claimable entry of few devices, and no resource is counted, *guaranteed* is an upper bound already: a
pod in place of a larger one leaves a safe pool safe. Otherwise it is not. A request for cpu may keep two pods from one
node that would block it for a third, so that a pool takes pods that request cpu, and not the same pods without. So *at
most* is found in another way: some pods that are there are put on nodes until a pod of the size lacks devices there.
All pods of a safe pool find a place in every arrangement, so the newcomers fit on the other nodes.

Phases of `vacancy`:

1. Count the free devices of each entry.
2. Find how many pods fit that take a whole node.
3. For each claimable entry, find what is guaranteed, for the sizes 1, 2, 4 and so on, and those in use.
4. Find the bounds, if they are needed.

Deliberately coarse:

- Claims that may draw on several entries are charged to the first of them that has free devices.
- The steps of phases 2 and 3 are limited together. If the limit is reached, or there are very many kinds of pods,
  nothing is guaranteed, and bounds are given in any case.
- Phase 4 puts pods on nodes greedily, and could block more nodes. A bound may be too large, and not too small.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from function.scheduling import packing
from function.scheduling.budget import StepLimit
from function.scheduling.fleet import NodeShape, Pool
from function.scheduling.packing import NodeCapacity, PodDemand, Resources, fits_empty
from function.scheduling.sharing import Room, whole_node

_MOST_STEPS = 20_000
"""Steps of phases 2 and 3 together. No question alone may take more, so that no answer is a guess."""
_MOST_PUT = 2_000
"""Pods that are tried on nodes for one bound."""
_MOST_KINDS = 200
"""Kinds of pods that are told apart. If there are more, nothing is guaranteed, and only those with the most pods are
put on nodes for the bounds: fewer pods block fewer nodes."""
_FEW_DEVICES = 8
"""Devices of a node up to which all packings are told apart."""
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
    """Empty if the guaranteed numbers are upper bounds themselves."""


def vacancy(room: Room, pool: Pool, *, is_placement: bool = False) -> Vacancy:
    """Return what is left of a shared pool.

    If `is_placement`, pods are placed on the nodes as they are, so that more may fit than is guaranteed: the bounds are
    then those of the best arrangement. Raises deadline.Exceeded.
    """
    if len(room.everyone) > _MOST_KINDS:
        return replace(roughly_vacant(room, pool), at_most=tuple(_at_most(room, is_placement=is_placement)))
    limit, shape = StepLimit(_MOST_STEPS), pool.shape
    left = _free(room, shape)
    nodes = sum(count for _, count in room.nodes)
    whole = _more(room, PodDemand(whole_node(shape)), nodes, limit)
    guaranteed = {entry: _guaranteed(room, entry, shape, free, limit) for entry, free in left.items()}
    return Vacancy(
        whole=whole,
        entries=tuple(
            EntryVacancy(
                name=shape.devices[e].name,
                total=_total(room.nodes, e),
                free=free,
                guaranteed=() if limit.exhausted else guaranteed[e],
            )
            for e, free in left.items()
        ),
        at_most=tuple(_at_most(room, is_placement=is_placement))
        if is_placement or limit.exhausted or _needs_bounds(shape)
        else (),
    )


def roughly_vacant(room: Room, pool: Pool) -> Vacancy:
    """Return what is left of a shared pool if each pod that claims devices is taken to have a node of its own.

    It takes few steps, and nothing is guaranteed.
    """
    pods = sum(count for demand, count in room.everyone if demand.devices)
    entries = (
        EntryVacancy(pool.shape.devices[e].name, _total(room.nodes, e), free)
        for e, free in _free(room, pool.shape).items()
    )
    return Vacancy(max(0, sum(count for _, count in room.nodes) - pods), tuple(entries))


def claimable(shape: NodeShape) -> tuple[int, ...]:
    """Return the positions of the claimable entries."""
    return tuple(i for i, d in enumerate(shape.devices) if d.count > 0 and d.device_class is not None)


def _needs_bounds(shape: NodeShape) -> bool:
    counts = [shape.devices[e].count for e in claimable(shape)]
    return len(counts) > 1 or max(counts, default=0) > _FEW_DEVICES or any(has is not None for has in shape.node)


def _total(nodes: Iterable[tuple[NodeCapacity, int]], entry: int) -> int:
    return sum(count * capacity.devices[entry] for capacity, count in nodes)


def _free(room: Room, shape: NodeShape) -> dict[int, int]:
    """Return the free devices of each claimable entry, in the combination of states that leaves the fewest."""
    total = {e: _total(room.nodes, e) for e in claimable(shape)}
    free = dict(total)
    for pods in room.combinations():
        left = dict(total)
        claims = [(entries, n * count) for demand, count in pods.items() for n, entries in demand.devices]
        for entries, claimed in sorted(claims, key=lambda claim: (len(claim[0]), claim)):
            rest = claimed
            for entry in entries:
                taken = min(left[entry], rest)
                left[entry] -= taken
                rest -= taken
        free = {e: min(free[e], left[e]) for e in free}
    return free


def _more(room: Room, demand: PodDemand, most: int, limit: StepLimit) -> int:
    """Return how many more pods of a demand the room takes, in every combination of states."""
    for pods in room.combinations():
        most = packing.most_more(dict(room.nodes), pods, demand, most, limit)
    return most


def _guaranteed(room: Room, entry: int, shape: NodeShape, free: int, limit: StepLimit) -> Counts:
    used = {n for demand, _ in room.everyone for n, entries in demand.devices if entry in entries}
    sizes = _sizes(shape.devices[entry].count, used)
    return tuple((n, _more(room, PodDemand(((n, (entry,)),)), free // n, limit)) for n in sizes)


def _at_most(room: Room, *, is_placement: bool) -> Iterator[tuple[int, int]]:
    """Yield the bounds. Those of one combination of states hold, since all pods fit in each of them."""
    pods = next(room.combinations())
    most = max((sum(capacity.devices) for capacity, _ in room.nodes), default=0)
    free = sum(count * sum(capacity.devices) for capacity, count in room.nodes)
    free = max(0, free - sum(count * _size(pod) for pod, count in pods.items()))
    used = {_size(pod) for pod in pods}
    claiming = sorted((pod for pod in pods if pod.devices), key=lambda pod: (-pods[pod], _order(pod)))[:_MOST_KINDS]
    for size in _sizes(most, used):
        left, open_ = {pod: pods[pod] for pod in sorted(claiming, key=_order)}, 0
        for capacity, nodes in sorted(room.nodes, key=lambda one: -sum(one[0].devices)):
            blocked = 0 if is_placement else _block(capacity, nodes, left, size)
            open_ += (nodes - blocked) * (sum(capacity.devices) // size)
        yield size, min(free // size, open_)


def _block(capacity: NodeCapacity, nodes: int, left: dict[PodDemand, int], size: int) -> int:
    """Return how many like nodes pods leave with fewer than `size` devices, and take these pods from `left`."""
    blocked, tries = 0, StepLimit(_MOST_PUT)
    while blocked < nodes and (pods := _blocking(capacity, left, size, tries)) is not None:
        times = min([nodes - blocked, *(left[pod] // count for pod, count in pods.items())])
        blocked += times
        for pod, count in pods.items():
            left[pod] -= count * times
    return blocked


def _blocking(
    capacity: NodeCapacity, left: Mapping[PodDemand, int], size: int, tries: StepLimit
) -> dict[PodDemand, int] | None:
    """Return pods that leave a node with fewer than `size` devices, greedily; None if none are found.

    The smallest pod that suffices is added last, and the largest that fits before. `left` is in order of sizes.
    """
    lacking = sum(capacity.devices) - size + 1
    chosen: dict[PodDemand, int] = {}
    together = PodDemand()
    kinds = [(_size(pod), pod) for pod, count in left.items() if count]
    while lacking > 0:
        split = bisect_left(kinds, lacking, key=lambda kind: kind[0])
        for at in chain(range(split, len(kinds)), range(split - 1, -1, -1)):
            if not tries.step():
                return None
            taken, pod = kinds[at]
            more = _with(together, pod)
            if chosen.get(pod, 0) < left[pod] and fits_empty(capacity, more):
                together, lacking = more, lacking - taken
                chosen[pod] = chosen.get(pod, 0) + 1
                break
        else:
            return None
    return chosen


def _size(pod: PodDemand) -> int:
    return sum(count for count, _ in pod.devices)


def _order(pod: PodDemand) -> tuple[int, Resources, tuple[tuple[int, tuple[int, ...]], ...]]:
    return _size(pod), pod.resources, pod.devices


def _with(pods: PodDemand, pod: PodDemand) -> PodDemand:
    """Return what pods take of a node together with one more."""
    cpu, memory, storage = (a + b for a, b in zip(pods.resources, pod.resources, strict=True))
    return PodDemand((*pods.devices, *pod.devices), (cpu, memory, storage))


def _sizes(most: int, used: Iterable[int]) -> list[int]:
    """Return the sizes for which numbers are given, the largest first: powers of two, `most`, and those in use."""
    powers = [2**i for i in range(most.bit_length())]
    wanted = dict.fromkeys([*powers, *([most] if most else []), *sorted(n for n in used if 0 < n < most)])
    return sorted([*wanted][:MOST_SIZES], reverse=True)
