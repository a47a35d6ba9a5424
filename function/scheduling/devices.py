"""Does one node satisfy one member's requests? Exactly, and whatever the order of requests and devices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from function.scheduling.allocation import LARGEST_CLAIM, Kind, RequestOptions, Search
from function.scheduling.budget import Budget
from function.scheduling.findings import Findings, OfferKey
from function.scheduling.fleet import Cluster, Device, NodeShape
from function.scheduling.job import DeviceRequest, Member, Selector


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


_PAIR = 3
"""Units of a budget that looking at one device for one request takes, beside judging it."""
_STEP = 25
"""Units that a step of a search takes."""


@dataclass(slots=True)
class Matcher:
    """Asks each selector once about each device, and each member once about each shape of node.

    Raises Exhausted where that takes more than its budget.
    """

    budget: Budget = field(default_factory=Budget)
    known: Findings = field(default_factory=Findings)
    """What was found out before."""
    evaluations: int = 0
    """Selectors evaluated: the distinct (selector, device) pairs that had to be asked."""
    steps: int = 0
    _devices: dict[int, int] = field(default_factory=dict)
    _published: dict[Hashable, int] = field(default_factory=dict)
    """A number for each device that is published, so that its content is looked at once."""
    _verdicts: dict[tuple[str, int], bool | str] = field(default_factory=dict)
    _requests: dict[tuple[int, int], bool | str] = field(default_factory=dict)
    _offers: dict[tuple[int, int], Offer | Shortfall] = field(default_factory=dict)
    _unbounded: dict[tuple[int, int], bool] = field(default_factory=dict)
    _found: dict[OfferKey, Offer | Shortfall] = field(default_factory=dict)
    _found_unbounded: dict[OfferKey, bool] = field(default_factory=dict)
    """What was found out, by content."""
    _alive: dict[tuple[int, int], tuple[Member, NodeShape]] = field(default_factory=dict)
    """What was asked about, so that nothing else gets its identity."""

    def offer(self, member: Member, shape: NodeShape) -> Offer | Shortfall:
        key = (id(member), id(shape))
        found = self._offers.get(key)
        if found is None:
            self._alive[key] = member, shape
            found = self._offers[key] = self._offer(member.requests, shape)
        return found

    def verdict(self, request: DeviceRequest, device: Device) -> bool | str:
        """Whether a device satisfies every selector, or what the first that could not be evaluated said."""
        number = self._devices.get(id(device.published))
        if number is None:
            number = self._numbered(device)
        key = (id(request), number)
        found = self._requests.get(key)
        if found is None:
            found = self._requests[key] = self._judged(request, device.published, number)
        return found

    def offer_unbounded(self, member: Member, shape: NodeShape) -> bool:
        """Whether a node would satisfy a member if a claim could be given any number of devices."""
        key = (id(member), id(shape))
        found = self._unbounded.get(key)
        if found is None:
            self._alive[key] = member, shape
            found = self._unbounded[key] = self._offered_unbounded(member.requests, shape)
        return found

    @property
    def findings(self) -> Findings:
        """What was found out, here and before."""
        devices = list(self._published)
        verdicts = {(text, devices[number]): verdict for (text, number), verdict in self._verdicts.items()}
        return self.known | Findings(verdicts, self._found, self._found_unbounded)

    def _offer(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> Offer | Shortfall:
        """Members often ask for the same."""
        found = self._found.get((requests, shape)) or self.known.offers.get((requests, shape))
        if found is None:
            before = self.steps
            found = self._found[requests, shape] = self._match(requests, shape)
            self.budget.took(_PAIR * len(requests) * len(shape.devices) + _STEP * (self.steps - before))
        return found

    def _offered_unbounded(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> bool:
        found = self.known.unbounded.get((requests, shape))
        if found is None:
            before = self.steps
            found = self._found_unbounded[requests, shape] = self._would_match(requests, shape)
            self.budget.took(_STEP * (self.steps - before))
        return found

    def _numbered(self, device: Device) -> int:
        number = self._published.setdefault(device.published, len(self._published))
        self._devices[id(device.published)] = number
        return number

    def _judged(self, request: DeviceRequest, published: Hashable, number: int) -> bool | str:
        for selector in request.selectors:
            key = (selector.text, number)
            verdict = self._verdicts.get(key)
            if verdict is None:
                verdict = self._verdicts[key] = self._evaluated(selector, published)
            if verdict is not True:
                return verdict
        return True

    def _evaluated(self, selector: Selector, published: Hashable) -> bool | str:
        known = self.known.verdicts.get((selector.text, published)) if self.known.verdicts else None
        if known is not None:
            return known
        self.budget.spend(selector.price)
        self.evaluations += 1
        return selector.judge(published)

    def _match(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> Offer | Shortfall:
        if not requests:
            return NOTHING_ASKED
        asked = self._asked(requests, shape)
        short = next((a for a in sorted(asked, key=lambda a: a.request.name) if not a.options), None)
        if short is not None:
            return self._shortfall(short.request, shape)
        search = self._searched(Search(asked, shape.devices))
        if search.found is not None:
            return _offer(tuple(search.found[i] for i in range(len(requests))), asked, shape)
        failing = next((a for a in asked if a.errors), None)
        if failing is not None:
            return self._shortfall(failing.request, shape)
        return _combined_shortfall(requests, shape, searched=not search.limit.exhausted)

    def _would_match(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> bool:
        asked = self._asked(requests, shape)
        if not all(a.options for a in asked):
            return False
        return self._searched(Search(asked, shape.devices, largest_claim=1 << 30)).found is not None

    def _searched(self, search: Search) -> Search:
        search.run()
        self.steps += search.limit.steps
        return search

    def _asked(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> list[RequestOptions]:
        """The most constrained request first: the search then turns back early."""
        asked = [RequestOptions(i, r, self._options(r, shape), self._errors(r, shape)) for i, r in enumerate(requests)]
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


def _offer(classes: tuple[Kind, ...], asked: list[RequestOptions], shape: NodeShape) -> Offer:
    drawn = {e for a in asked for e in a.options[classes[a.position]]}
    memory = max(UNKNOWN_MEMORY if (m := shape.devices[e].memory) is None else m for e in drawn)
    total = sum(max(device.count, 0) for device in shape.devices if device.device_class is not None)
    return Offer(classes, memory, total - sum(a.request.count for a in asked if classes[a.position] is not None))


def _combined_shortfall(requests: tuple[DeviceRequest, ...], shape: NodeShape, *, searched: bool) -> Shortfall:
    """Each request could be met alone, all of them together not."""
    largest = max(requests, key=lambda r: (r.count, r.name))
    wanted = sum(r.count for r in requests)
    has = sum(max(d.count, 0) for d in shape.devices)
    return Shortfall(largest.name, wanted, min(has, wanted - 1), searched=searched)
