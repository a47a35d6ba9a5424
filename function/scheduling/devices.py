"""Decides whether one node satisfies the device requests of one member, and how.

Terms:

- A *shape* is the devices of one node: a number of entries, each with a count of like devices.
- A *verdict* is what a request, or one of its selectors, says of one device: true, false, or the text of an error.
- An *offer* says how a node of a shape satisfies a member. A *shortfall* says why it does not.
- The *price* of a selector bounds what one evaluation costs, in units of a budget (see `budget.py`).

Phases of `Matcher.offer`:

1. Answer from memory: by the identity of member and shape, then by their content, then from the findings of earlier
   calls (see `findings.py`).
2. Judge every entry for every request. Selectors are evaluated in order until one is not true. The budget is charged
   with the price of each selector before it is evaluated.
3. If a request alone lacks devices, return its shortfall.
4. Search for a way to divide the devices among all requests (see `allocation.py`), and charge the budget for its steps.
   If there is none, return a shortfall: a failing selector, if there is one, otherwise the requests together.

The memory makes this fast. A fleet has thousands of nodes, but few shapes and few distinct devices, and evaluating a
selector takes thousands of times as long as looking up a verdict. So each selector is evaluated once for each distinct
device, and each distinct set of requests is matched once for each shape.

Deliberately coarse:

- An offer assumes an empty node. What other pods have claimed of a shared node is counted in `sharing.py`.
- A shortfall names one request, although several may lack devices. `breakdown.py` works out the others on demand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from function.scheduling.allocation import LARGEST_CLAIM, Kind, RequestOptions, Search
from function.scheduling.budget import Budget
from function.scheduling.findings import Findings, OfferKey
from function.scheduling.fleet import Cluster, Device, NodeResources, NodeShape
from function.scheduling.job import DeviceRequest, Member
from function.scheduling.packing import Resources
from function.scheduling.selector import Selector


@dataclass(frozen=True, slots=True)
class Offer:
    """How a node satisfies a member."""

    classes: tuple[Kind, ...]
    """The DeviceClass of each request, in the order of the requests; None for Synthetic."""
    memory: int
    """Bytes of memory of the largest device that it may draw on; UNKNOWN_MEMORY if one publishes no memory."""
    spare: int
    """DRA devices of the node that are left over."""

    @property
    def claims(self) -> bool:
        """Whether at least one request is a DRA claim, so that the member takes nodes."""
        return any(kind is not None for kind in self.classes)


UNKNOWN_MEMORY = 1 << 62
"""Larger than any device, so that a device of unknown size is the worst fit."""
NOTHING_ASKED = Offer((), 0, 0)
"""The offer of every node to a member without requests."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a node does not satisfy a member."""

    request: str
    """The name of the request that lacks devices; the largest one if only all requests together lack them."""
    wanted: int
    """Devices that are needed on one node."""
    has: int
    """Devices that match on one node."""
    error: str | None = None
    """The error of a selector that could not be evaluated."""
    searched: bool = True
    """Whether the search was complete. If not, the node may satisfy the member after all."""


RESOURCES = "cpu", "memory", "ephemeral-storage"
"""The resources of a node that are counted, in the order of `Resources`."""


@dataclass(frozen=True, slots=True)
class Oversized:
    """A pod requests more of a resource than a whole node has."""

    resource: str
    """cpu, memory or ephemeral-storage."""
    wanted: int
    has: int


def oversized(requested: Resources, node: NodeResources) -> Oversized | None:
    """Return the first resource of which a pod requests more than a node has; None if there is none."""
    for resource, wanted, has in zip(RESOURCES, requested, node, strict=True):
        if has is not None and wanted > has:
            return Oversized(resource, wanted, has)
    return None


_PAIR = 3
"""Units of a budget for looking at one device for one request, without the evaluation of its selectors."""
_STEP = 25
"""Units of a budget for one step of a search."""


@dataclass(slots=True)
class Matcher:
    """Matches members with node shapes: each selector once for each device, each member once for each shape.

    All methods raise Exhausted if the budget does not suffice, and deadline.Exceeded. What was found out until then is
    in `findings`.
    """

    budget: Budget = field(default_factory=Budget)
    known: Findings = field(default_factory=Findings)
    """Findings of earlier calls."""
    evaluations: int = 0
    """Selectors evaluated so far. Verdicts that were remembered are not counted."""
    steps: int = 0
    """Steps of all searches so far."""
    _devices: dict[int, int] = field(default_factory=dict)
    """The number of a published device, by its identity."""
    _published: dict[Hashable, int] = field(default_factory=dict)
    """The number of a published device, by its content: numbers compare faster than contents."""
    _verdicts: dict[tuple[str, int], bool | str] = field(default_factory=dict)
    """Verdicts by the text of a selector and the number of a device."""
    _requests: dict[tuple[int, int], bool | str] = field(default_factory=dict)
    """Verdicts by the identity of a request and the number of a device."""
    _offers: dict[tuple[int, int], Offer | Shortfall] = field(default_factory=dict)
    """By the identities of member and shape."""
    _unbounded: dict[tuple[int, int], bool] = field(default_factory=dict)
    """By the identities of member and shape."""
    _found: dict[OfferKey, Offer | Shortfall] = field(default_factory=dict)
    """By content: other members may have the same requests."""
    _found_unbounded: dict[OfferKey, bool] = field(default_factory=dict)
    """Results by content."""
    _alive: dict[tuple[int, int], tuple[Member, NodeShape]] = field(default_factory=dict)
    """Objects whose identities are keys above. They are held so that no other object gets the same identity."""

    def offer(self, member: Member, shape: NodeShape) -> Offer | Shortfall:
        """Return how a node of a shape satisfies a member, or why it does not."""
        key = (id(member), id(shape))
        found = self._offers.get(key)
        if found is None:
            self._alive[key] = member, shape
            found = self._offers[key] = self._offer(member.requests, shape)
        return found

    def verdict(self, request: DeviceRequest, device: Device) -> bool | str:
        """Return whether a device satisfies every selector of a request, or the error of one that cannot be evaluated.

        The first selector that is not true decides.
        """
        number = self._devices.get(id(device.published))
        if number is None:
            number = self._numbered(device)
        key = (id(request), number)
        found = self._requests.get(key)
        if found is None:
            found = self._requests[key] = self._judged(request.selectors, device.published, number)
        return found

    def matches(self, selectors: Sequence[Selector], device: Device) -> bool | str:
        """Return the verdict of selectors that belong to no request of the job."""
        number = self._devices.get(id(device.published))
        if number is None:
            number = self._numbered(device)
        return self._judged(selectors, device.published, number)

    def offer_unbounded(self, member: Member, shape: NodeShape) -> bool:
        """Whether a node would satisfy a member if there were no limit on the devices of a ResourceClaim."""
        key = (id(member), id(shape))
        found = self._unbounded.get(key)
        if found is None:
            self._alive[key] = member, shape
            found = self._unbounded[key] = self._offered_unbounded(member.requests, shape)
        return found

    @property
    def findings(self) -> Findings:
        """Everything that was found out, by this matcher and in earlier calls."""
        devices = list(self._published)
        verdicts = {(text, devices[number]): verdict for (text, number), verdict in self._verdicts.items()}
        return self.known | Findings(verdicts, self._found, self._found_unbounded)

    def _offer(self, requests: tuple[DeviceRequest, ...], shape: NodeShape) -> Offer | Shortfall:
        """Match, unless another member with the same requests was matched before."""
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

    def _judged(self, selectors: Sequence[Selector], published: Hashable, number: int) -> bool | str:
        for selector in selectors:
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
        """Return the options of each request, the most constrained first: then the search turns back early."""
        asked = [RequestOptions(i, r, self._options(r, shape), self._errors(r, shape)) for i, r in enumerate(requests)]
        return sorted(asked, key=lambda a: (len(a.options), a.request.name))

    def _options(self, request: DeviceRequest, shape: NodeShape) -> dict[Kind, tuple[int, ...]]:
        """Return the entries that satisfy a request, for each kind that has enough of them, DRA before Synthetic."""
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
        """Return the entries on which a selector of a request cannot be evaluated."""
        return frozenset(
            i for i, d in enumerate(shape.devices) if d.count > 0 and isinstance(self.verdict(request, d), str)
        )

    def _shortfall(self, request: DeviceRequest, shape: NodeShape) -> Shortfall:
        """Return why a node does not satisfy one request alone."""
        has: dict[Kind, int] = {}
        verdicts = [(device, self.verdict(request, device)) for device in shape.devices]
        for device, verdict in verdicts:
            if verdict is True:
                has[device.device_class] = has.get(device.device_class, 0) + max(device.count, 0)
        errors = (verdict for _, verdict in verdicts if isinstance(verdict, str))
        error = None if evaluable(verdicts) else next(errors, None)
        return Shortfall(request.name, request.count, max(has.values(), default=0), error)


def evaluable(verdicts: Iterable[tuple[Device, bool | str]]) -> frozenset[str]:
    """Return the DeviceClasses on all of whose devices a request can be evaluated.

    If there is one, errors on other devices are not why the request lacks devices. A claim names one DeviceClass.
    Kubernetes applies its selectors first, and those of the request to its devices only. A Synthetic device is in no
    ResourceSlice.
    """
    pairs = tuple(verdicts)
    failing = {device.device_class for device, verdict in pairs if isinstance(verdict, str)}
    return frozenset(d.device_class for d, _ in pairs if d.device_class is not None and d.device_class not in failing)


def is_claim_too_large(matcher: Matcher, member: Member, clusters: Iterable[Cluster]) -> bool:
    """Whether only the limit on a ResourceClaim (LARGEST_CLAIM) keeps the nodes of some pool from satisfying a member.

    Raises Exhausted and deadline.Exceeded, as the matcher does.
    """
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
    """Return the shortfall of requests each of which can be met alone, but not all of them on one node.

    `searched` is False if the search gave up. `has` is kept below `wanted`: the devices of a node may suffice in number
    and still be of the wrong kinds.
    """
    largest = max(requests, key=lambda r: (r.count, r.name))
    wanted = sum(r.count for r in requests)
    has = sum(max(d.count, 0) for d in shape.devices)
    return Shortfall(largest.name, wanted, min(has, wanted - 1), searched=searched)
