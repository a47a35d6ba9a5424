"""Which of a node's devices go to which request.

A request may draw on several of a node's entries, but they are claimed together, so they are of one kind: all DRA
through one DeviceClass, or all Synthetic. No device serves two requests. So each request chooses a kind, and the
requests of one kind share its devices, which is a flow problem. DRA is preferred to Synthetic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from function.scheduling.budget import StepLimit
from function.scheduling.fleet import Device
from function.scheduling.job import DeviceRequest

LARGEST_CLAIM = 32
"""Devices that one ResourceClaim can be given (k8s.io/api v0.36, resource/v1 AllocationResultsMaxSize)."""
_MOST_STEPS = 5_000
"""Steps for one member on one node: choices of kinds, augmentations of flows, and devices visited by the simulation."""

Kind = str | None
"""A DeviceClass, or None for Synthetic."""


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """A request, with what a node has for it."""

    position: int
    request: DeviceRequest
    options: dict[Kind, tuple[int, ...]]
    """For each kind that has enough of them, the entries that satisfy it."""
    errors: frozenset[int]
    """The entries on which a selector cannot be evaluated."""


@dataclass(slots=True)
class Search:
    """Chooses a kind for every request, so that the requests of each kind fit into its devices together."""

    asked: list[RequestOptions]
    devices: tuple[Device, ...]
    largest_claim: int = LARGEST_CLAIM
    """Devices that all DRA requests may have together."""
    limit: StepLimit = field(default_factory=lambda: StepLimit(_MOST_STEPS))
    found: dict[int, Kind] | None = None
    """The choice with the fewest Synthetic requests, and of these the first."""
    chosen: dict[int, Kind] = field(default_factory=dict)
    groups: dict[Kind, list[RequestOptions]] = field(default_factory=dict)
    twins: dict[int, int] = field(default_factory=dict)
    """By its place, the position of the request before that asks for the same."""

    def run(self) -> None:
        if not self._flows([(a, _drawn(a)) for a in self.asked]):
            return  # not even if a request could draw on several kinds
        self._find_twins()
        synthetic = sum(1 for a in self.asked if None in a.options)
        if any(self._from(0, allowed) for allowed in range(synthetic + 1)):
            self.found = self.chosen

    def _from(self, i: int, synthetic: int) -> bool:
        if i == len(self.asked):
            return self._is_evaluated()
        asked = self.asked[i]
        for kind in self._kinds(i):
            if not self.limit.step():
                return False
            if kind is None and not synthetic:
                continue
            group = self.groups.setdefault(kind, [])
            group.append(asked)
            self.chosen[asked.position] = kind
            if self._claimable() and self._feasible(kind) and self._from(i + 1, synthetic - (kind is None)):
                return True
            group.pop()
            del self.chosen[asked.position]
        return False

    def _find_twins(self) -> None:
        """Requests that ask for as many of the same devices are as good as each other: the later one of two takes no
        earlier kind. The first choice of all is among those that are left. Where a selector fails, Kubernetes' walk
        goes by the names, so there all are tried."""
        if any(a.errors for a in self.asked):
            return
        last: dict[tuple[int, tuple[Kind, ...], tuple[tuple[int, ...], ...]], int] = {}
        for i, a in enumerate(self.asked):
            key = a.request.count, tuple(a.options), tuple(a.options.values())
            if key in last:
                self.twins[i] = self.asked[last[key]].position
            last[key] = i

    def _kinds(self, i: int) -> list[Kind]:
        kinds = list(self.asked[i].options)
        twin = self.twins.get(i)
        return kinds if twin is None else kinds[kinds.index(self.chosen[twin]) :]

    def _is_evaluated(self) -> bool:
        """Whether Kubernetes would find an allocation before it comes to a device on which a selector fails.

        It gives up on the claim there, though other devices would do; so where one can fail, its walk is walked.
        """
        claimed = [(a, kind) for a in self.asked if (kind := self.chosen[a.position]) is not None]
        if not any(self.devices[e].device_class == kind for a, kind in claimed for e in a.errors):
            return True
        walk = _Walk(self.devices, sorted(claimed, key=lambda pair: pair[0].request.name))
        found = walk.allocate(0, 0)
        self.limit.took(walk.steps)
        return found and not walk.failed

    def _claimable(self) -> bool:
        """All DRA requests of a member are one claim."""
        asked = sum(a.request.count for kind, group in self.groups.items() if kind is not None for a in group)
        return asked <= self.largest_claim

    def _feasible(self, kind: Kind) -> bool:
        group = self.groups[kind]
        if len(group) == 1:
            return True  # it was only an option because there are enough
        return self._flows([(a, a.options[kind]) for a in group])

    def _flows(self, demands: list[tuple[RequestOptions, tuple[int, ...]]]) -> bool:
        flow = _Flow(self.devices, [(a.request.count, entries) for a, entries in demands])
        found = flow.run()
        self.limit.took(flow.steps)
        return found


def _drawn(asked: RequestOptions) -> tuple[int, ...]:
    return tuple(entry for entries in asked.options.values() for entry in entries)


@dataclass(slots=True)
class _Walk:
    """Kubernetes' allocator: each unit of each request takes the first device that is free and matches, and turns back
    where the rest cannot be met (k8s.io/dynamic-resource-allocation v0.36, structured). All by name."""

    devices: tuple[Device, ...]
    claimed: list[tuple[RequestOptions, Kind]]
    steps: int = 0
    failed: bool = False
    used: dict[int, int] = field(default_factory=dict)

    def allocate(self, i: int, unit: int) -> bool:
        if i == len(self.claimed):
            return True
        asked, kind = self.claimed[i]
        if unit == asked.request.count:
            return self.allocate(i + 1, 0)
        for entry, device in enumerate(self.devices):
            self.steps += 1
            if device.device_class != kind or self.used.get(entry, 0) >= device.count:
                continue
            if entry in asked.errors or self.steps > _MOST_STEPS:
                self.failed = True
            elif entry in asked.options[kind] and self._take(entry, i, unit):
                return True
            if self.failed:
                return False
        return False

    def _take(self, entry: int, i: int, unit: int) -> bool:
        self.used[entry] = self.used.get(entry, 0) + 1
        found = self.allocate(i, unit + 1)
        if not found:
            self.used[entry] -= 1
        return found


class _Flow:
    """Whether every demand can be met from the entries it may draw on: a maximum flow by augmenting paths."""

    def __init__(self, devices: tuple[Device, ...], demands: list[tuple[int, tuple[int, ...]]]) -> None:
        self.demands = demands
        self.given: list[dict[int, int]] = [dict.fromkeys(entries, 0) for _, entries in demands]
        self.left = {e: devices[e].count for _, entries in demands for e in entries}
        self.steps = 0

    def run(self) -> bool:
        if sum(count for count, _ in self.demands) > sum(self.left.values()):
            return False
        for i, (count, _) in enumerate(self.demands):
            missing = count
            while missing:
                moved = self._augment(i, missing, set())
                if not moved:
                    return False
                missing -= moved
        return True

    def _augment(self, i: int, most: int, seen: set[int]) -> int:
        """Give demand `i` up to `most` devices more, moving other demands to other entries where that helps."""
        self.steps += 1
        mine = self.given[i]
        for entry in mine:
            if self.left[entry]:
                moved = min(most, self.left[entry])
                self.left[entry] -= moved
                mine[entry] += moved
                return moved
        seen.add(i)
        for entry in mine:
            for j, other in enumerate(self.given):
                if j in seen or not other.get(entry):
                    continue
                moved = self._augment(j, min(most, other[entry]), seen)
                if moved:
                    other[entry] -= moved
                    mine[entry] += moved
                    return moved
        return 0
