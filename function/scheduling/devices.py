"""Does one node satisfy one member's requests? Exactly, and whatever the order of requests and devices.

A request may draw on several of a node's entries, but they are claimed together, so they are of one kind: all DRA
through one DeviceClass, or all Synthetic. No device serves two requests. So each request chooses a kind, and the
requests of one kind share its devices, which is a flow problem. DRA is preferred to Synthetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from function.scheduling.fleet import Cluster, Device, NodeShape
from function.scheduling.job import DeviceRequest, Member

LARGEST_CLAIM = 32
"""Devices that one ResourceClaim can be given (k8s.io/api v0.36, resource/v1 AllocationResultsMaxSize)."""
_MOST_STEPS = 20_000
"""Choices of kinds for one member on one node. 16 requests over a few kinds take some dozens."""

Kind = str | None
"""A DeviceClass, or None for Synthetic."""


@dataclass(frozen=True, slots=True)
class Offer:
    """How a node satisfies a member: the DeviceClass of each of its requests, in their order; None is Synthetic."""

    classes: tuple[Kind, ...]
    memory: int
    """Bytes of the largest device it draws on: what is wasted on a small model. Huge where it is not published."""
    spare: int
    """Devices of the node that are left over."""

    @property
    def claims(self) -> bool:
        return any(kind is not None for kind in self.classes)


UNKNOWN_MEMORY = 1 << 62
NOTHING_ASKED = Offer((), 0, 0)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a node cannot satisfy a member: the request it fails at, and by how much."""

    request: str
    wanted: int
    has: int
    error: str | None = None
    """What a selector said instead of an answer."""
    searched: bool = True
    """False where the search was given up."""


@dataclass(slots=True)
class Matcher:
    """Asks each selector once about each device, and each member once about each shape of node."""

    evaluations: int = 0
    """Selectors evaluated: the distinct (selector, device) pairs that had to be asked."""
    steps: int = 0
    _verdicts: dict[tuple[str, object], bool | str] = field(default_factory=dict)
    _offers: dict[tuple[int, int], Offer | Shortfall] = field(default_factory=dict)
    _alive: list[tuple[Member, NodeShape]] = field(default_factory=list)
    """What was asked about, so that nothing else gets its identity."""

    def offer(self, member: Member, shape: NodeShape) -> Offer | Shortfall:
        key = (id(member), id(shape))
        found = self._offers.get(key)
        if found is None:
            self._alive.append((member, shape))
            found = self._offers[key] = self._match(member.requests, shape)
        return found

    def verdict(self, request: DeviceRequest, device: Device) -> bool | str:
        """Whether a device satisfies every selector, or what the first that could not be evaluated said."""
        for selector in request.selectors:
            key = (selector.text, device.published)
            if key not in self._verdicts:
                self.evaluations += 1
                self._verdicts[key] = selector.judge(device.published)
            if self._verdicts[key] is not True:
                return self._verdicts[key]
        return True

    def offer_unbounded(self, member: Member, shape: NodeShape) -> bool:
        """Whether a node would satisfy a member if a claim could be given any number of devices."""
        asked = self._asked(member.requests, shape)
        return all(a.options for a in asked) and _Search(asked, shape.devices, largest_claim=1 << 30).run() is not None

    def _match(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> Offer | Shortfall:
        if not requests:
            return NOTHING_ASKED
        asked = self._asked(requests, shape)
        short = next((a for a in sorted(asked, key=lambda a: a.request.name) if not a.options), None)
        if short is not None:
            return self._shortfall(short.request, shape)
        search = _Search(asked, shape.devices)
        chosen = search.run()
        self.steps += search.steps
        if chosen is not None:
            return _offer(tuple(chosen[i] for i in range(len(requests))), asked, shape)
        failing = next((a for a in asked if a.errors), None)
        if failing is not None:
            return self._shortfall(failing.request, shape)
        return _contended(requests, shape, searched=not search.exhausted)

    def _asked(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> list[_Asked]:
        """The most constrained request first: the search then turns back early."""
        asked = [_Asked(i, r, self._options(r, shape), self._errors(r, shape)) for i, r in enumerate(requests)]
        return sorted(asked, key=lambda a: (len(a.options), a.request.name))

    def _options(self, request: DeviceRequest, shape: NodeShape) -> dict[Kind, tuple[int, ...]]:
        """For each kind that has enough of them, the entries that satisfy a request."""
        by_kind: dict[Kind, list[int]] = {}
        for i, device in enumerate(shape.devices):
            if device.count > 0 and self.verdict(request, device) is True:
                by_kind.setdefault(device.device_class, []).append(i)
        return {
            kind: tuple(by_kind[kind])
            for kind in sorted(by_kind, key=_dra_first)
            if sum(shape.devices[i].count for i in by_kind[kind]) >= request.count
        }

    def _errors(self, request: DeviceRequest, shape: NodeShape) -> frozenset[int]:
        """The entries on which a selector of a request cannot be evaluated."""
        return frozenset(
            i for i, d in enumerate(shape.devices) if d.count > 0 and isinstance(self.verdict(request, d), str)
        )

    def _shortfall(self, request: DeviceRequest, shape: NodeShape) -> Shortfall:
        has: dict[Kind, int] = {}
        error = None
        for device in shape.devices:
            verdict = self.verdict(request, device)
            if verdict is True:
                has[device.device_class] = has.get(device.device_class, 0) + max(device.count, 0)
            elif isinstance(verdict, str):
                error = error or verdict
        return Shortfall(request.name, request.count, max(has.values(), default=0), error)


@dataclass(frozen=True, slots=True)
class _Asked:
    position: int
    request: DeviceRequest
    options: dict[Kind, tuple[int, ...]]
    errors: frozenset[int]


@dataclass(slots=True)
class _Search:
    """Chooses a kind for every request, so that the requests of each kind fit into its devices together."""

    asked: list[_Asked]
    devices: tuple[Device, ...]
    largest_claim: int = LARGEST_CLAIM
    steps: int = 0
    chosen: dict[int, Kind] = field(default_factory=dict)
    groups: dict[Kind, list[_Asked]] = field(default_factory=dict)

    def run(self) -> dict[int, Kind] | None:
        """The choice with the fewest Synthetic requests, and of these the first."""
        synthetic = sum(1 for a in self.asked if None in a.options)
        if any(self._from(0, allowed) for allowed in range(synthetic + 1)):
            return self.chosen
        return None

    @property
    def exhausted(self) -> bool:
        return self.steps > _MOST_STEPS

    def _from(self, i: int, synthetic: int) -> bool:
        if i == len(self.asked):
            return self._is_evaluated()
        asked = self.asked[i]
        for kind in asked.options:
            self.steps += 1
            if self.exhausted:
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

    def _is_evaluated(self) -> bool:
        """Whether Kubernetes would find an allocation before it comes to a device on which a selector fails.

        It gives up on the claim there, though other devices would do; so where one can fail, its walk is walked.
        """
        claimed = [(a, kind) for a in self.asked if (kind := self.chosen[a.position]) is not None]
        if not any(self.devices[e].device_class == kind for a, kind in claimed for e in a.errors):
            return True
        walk = _Walk(self.devices, sorted(claimed, key=lambda pair: pair[0].request.name))
        found = walk.allocate(0, 0)
        self.steps += walk.steps
        return found and not walk.failed

    def _claimable(self) -> bool:
        """All DRA requests of a member are one claim."""
        asked = sum(a.request.count for kind, group in self.groups.items() if kind is not None for a in group)
        return asked <= self.largest_claim

    def _feasible(self, kind: Kind) -> bool:
        group = self.groups[kind]
        if len(group) == 1:
            return True  # it was only an option because there are enough
        return _flows([(a.request.count, a.options[kind]) for a in group], self.devices)


@dataclass(slots=True)
class _Walk:
    """Kubernetes' allocator: each unit of each request takes the first device that is free and matches, and turns back
    where the rest cannot be met (k8s.io/dynamic-resource-allocation v0.36, structured). All by name."""

    devices: tuple[Device, ...]
    claimed: list[tuple[_Asked, Kind]]
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


def is_claim_too_large(matcher: Matcher, member: Member, clusters: Iterable[Cluster]) -> bool:
    """Whether nodes would satisfy a member, were it not that no claim is given so many devices."""
    if sum(request.count for request in member.requests) <= LARGEST_CLAIM:
        return False
    shapes = {pool.shape for cluster in clusters for pool in cluster.pools}
    refused = [shape for shape in shapes if not isinstance(matcher.offer(member, shape), Offer)]
    return len(refused) > 0 and any(matcher.offer_unbounded(member, shape) for shape in refused)


def _flows(demands: list[tuple[int, tuple[int, ...]]], devices: tuple[Device, ...]) -> bool:
    """Whether every demand can be met from the entries it may draw on: a maximum flow by augmenting paths."""
    given: list[dict[int, int]] = [dict.fromkeys(entries, 0) for _, entries in demands]
    left = {e: devices[e].count for _, entries in demands for e in entries}
    for i, (count, _) in enumerate(demands):
        missing = count
        while missing:
            moved = _augment(i, missing, given, left, set())
            if not moved:
                return False
            missing -= moved
    return True


def _augment(i: int, most: int, given: list[dict[int, int]], left: dict[int, int], seen: set[int]) -> int:
    """Give demand `i` up to `most` devices more, moving other demands to other entries where that helps."""
    for entry in given[i]:
        if left[entry]:
            moved = min(most, left[entry])
            left[entry] -= moved
            given[i][entry] += moved
            return moved
    seen.add(i)
    for entry in given[i]:
        for j, other in enumerate(given):
            if j in seen or not other.get(entry):
                continue
            moved = _augment(j, min(most, other[entry]), given, left, seen)
            if moved:
                other[entry] -= moved
                given[i][entry] += moved
                return moved
    return 0


def _dra_first(kind: Kind) -> tuple[bool, str]:
    return kind is None, kind or ""


def _offer(classes: tuple[Kind, ...], asked: list[_Asked], shape: NodeShape) -> Offer:
    drawn = {e for a in asked for e in a.options[classes[a.position]]}
    memory = max(UNKNOWN_MEMORY if (m := shape.devices[e].memory) is None else m for e in drawn)
    total = sum(max(device.count, 0) for device in shape.devices if device.device_class is not None)
    return Offer(classes, memory, total - sum(a.request.count for a in asked if classes[a.position] is not None))


def _contended(requests: tuple[DeviceRequest, ...], shape: NodeShape, *, searched: bool) -> Shortfall:
    """Each request could be met alone, all of them together not."""
    largest = max(requests, key=lambda r: (r.count, r.name))
    wanted = sum(r.count for r in requests)
    has = sum(max(d.count, 0) for d in shape.devices)
    return Shortfall(largest.name, wanted, min(has, wanted - 1), searched=searched)
