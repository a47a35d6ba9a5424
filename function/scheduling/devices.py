"""Does one node satisfy one member's requests? Exactly, and whatever the order of requests and devices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from function.scheduling.allocation import LARGEST_CLAIM, Asked, Kind, Search
from function.scheduling.fleet import Cluster, Device, NodeShape
from function.scheduling.job import DeviceRequest, Member


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
        return all(a.options for a in asked) and Search(asked, shape.devices, largest_claim=1 << 30).run() is not None

    def _match(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> Offer | Shortfall:
        if not requests:
            return NOTHING_ASKED
        asked = self._asked(requests, shape)
        short = next((a for a in sorted(asked, key=lambda a: a.request.name) if not a.options), None)
        if short is not None:
            return self._shortfall(short.request, shape)
        search = Search(asked, shape.devices)
        chosen = search.run()
        self.steps += search.steps
        if chosen is not None:
            return _offer(tuple(chosen[i] for i in range(len(requests))), asked, shape)
        failing = next((a for a in asked if a.errors), None)
        if failing is not None:
            return self._shortfall(failing.request, shape)
        return _contended(requests, shape, searched=not search.exhausted)

    def _asked(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> list[Asked]:
        """The most constrained request first: the search then turns back early."""
        asked = [Asked(i, r, self._options(r, shape), self._errors(r, shape)) for i, r in enumerate(requests)]
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


def is_claim_too_large(matcher: Matcher, member: Member, clusters: Iterable[Cluster]) -> bool:
    """Whether nodes would satisfy a member, were it not that no claim is given so many devices."""
    if sum(request.count for request in member.requests) <= LARGEST_CLAIM:
        return False
    shapes = {pool.shape for cluster in clusters for pool in cluster.pools}
    refused = [shape for shape in shapes if not isinstance(matcher.offer(member, shape), Offer)]
    return len(refused) > 0 and any(matcher.offer_unbounded(member, shape) for shape in refused)


def _dra_first(kind: Kind) -> tuple[bool, str]:
    return kind is None, kind or ""


def _offer(classes: tuple[Kind, ...], asked: list[Asked], shape: NodeShape) -> Offer:
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
