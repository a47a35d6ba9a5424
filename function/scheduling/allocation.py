"""Divides the devices of one node among the requests of one member, exactly.

Terms:

- A *request* asks for a number of devices that satisfy all its selectors.
- An *entry* is a number of like devices of the node, as its class lists them.
- The *kind* of an entry is its DRA DeviceClass, or Synthetic. A request becomes one DRA request with one DeviceClass,
  so it may draw on several entries, but only on entries of one kind.
- An *option* of a request is a kind that has enough matching devices for it, with the entries that match.

Phases of `Search.run`:

1. Relax. Let every request draw on the entries of all its kinds. If the devices do not suffice even then, stop. This
   rejects most impossible inputs with one flow, before anything is searched.
2. Find twins: requests with the same count and options. They are interchangeable, so the later one of two need not try
   a kind that comes before the kind of the earlier one. Without this, n equal requests over k kinds are tried in k**n
   ways.
3. Choose a kind for each request by backtracking. Try first without Synthetic requests, then with one, and so on, so
   that the first choice found has the fewest. After each choice, check the size of the claim, and whether the requests
   of that kind can share its devices. The latter is a maximum flow from requests to entries, so that no device serves
   two requests and the order of requests and entries does not matter.
4. If a choice is complete and a selector fails on a device of a chosen kind, simulate Kubernetes' own allocator.
   Kubernetes gives up on a claim when it comes to such a device, even if other devices would do.

Exactness matters twice. A wrong no wastes nodes. A wrong yes is worse: Kubernetes' allocator takes exponential time on
a claim that cannot be met, and then leaves the pod pending.

Deliberately coarse: the number of steps is limited, over choices, flows and the simulation together. 16 requests over a
few kinds take some hundreds. A search at its limit finds nothing, and its `limit` is exhausted.
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
"""The name of a DeviceClass, or None for Synthetic."""


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """A request, and the entries of a node that satisfy it."""

    position: int
    """Position among the requests of the member."""
    request: DeviceRequest
    options: dict[Kind, tuple[int, ...]]
    """For each kind that has enough matching devices, the positions of the entries that match."""
    errors: frozenset[int]
    """Positions of the entries on which a selector of the request cannot be evaluated."""


@dataclass(slots=True)
class Search:
    """Chooses a kind for every request, so that the requests of each kind can share its devices."""

    asked: list[RequestOptions]
    """The requests, in the order in which they choose. The most constrained one should come first."""
    devices: tuple[Device, ...]
    """The entries of the node."""
    largest_claim: int = LARGEST_CLAIM
    """Devices that all DRA requests may have together."""
    limit: StepLimit = field(default_factory=lambda: StepLimit(_MOST_STEPS))
    found: dict[int, Kind] | None = None
    """The kind of each request by its position: of the choices with the fewest Synthetic requests, the first. None if
    there is no choice, or before `run`."""
    chosen: dict[int, Kind] = field(default_factory=dict)
    """The choice that is being tried."""
    groups: dict[Kind, list[RequestOptions]] = field(default_factory=dict)
    """The requests that have chosen each kind."""
    twins: dict[int, int] = field(default_factory=dict)
    """For an index of `asked`, the position of the latest earlier request with the same count and options."""

    def run(self) -> None:
        """Set `found`. Raises deadline.Exceeded."""
        if not self._flows([(a, _drawn(a)) for a in self.asked]):
            return
        self._find_twins()
        synthetic = sum(1 for a in self.asked if None in a.options)
        if any(self._from(0, allowed) for allowed in range(synthetic + 1)):
            self.found = self.chosen

    def _from(self, i: int, synthetic: int) -> bool:
        """Choose for the requests from index `i` on, at most `synthetic` of them Synthetic. Return success."""
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
        """Set `twins`, unless a selector fails on some device.

        Any choice can be turned into one in which twins have kinds in the order of their options, by swapping twins. So
        the first choice of all is among those that are left. If a selector fails, twins are not interchangeable: the
        simulation of Kubernetes' allocator goes by the names of requests.
        """
        if any(a.errors for a in self.asked):
            return
        last: dict[tuple[int, tuple[Kind, ...], tuple[tuple[int, ...], ...]], int] = {}
        for i, a in enumerate(self.asked):
            key = a.request.count, tuple(a.options), tuple(a.options.values())
            if key in last:
                self.twins[i] = self.asked[last[key]].position
            last[key] = i

    def _kinds(self, i: int) -> list[Kind]:
        """Return the kinds that the request at index `i` should try."""
        kinds = list(self.asked[i].options)
        twin = self.twins.get(i)
        return kinds if twin is None else kinds[kinds.index(self.chosen[twin]) :]

    def _is_evaluated(self) -> bool:
        """Whether Kubernetes finds an allocation before it comes to a device on which a selector fails.

        The simulation runs only if a selector fails on a device of a chosen kind: it takes exponential time at worst.
        """
        claimed = [(a, kind) for a in self.asked if (kind := self.chosen[a.position]) is not None]
        if not any(self.devices[e].device_class == kind for a, kind in claimed for e in a.errors):
            return True
        walk = _Walk(self.devices, sorted(claimed, key=lambda pair: pair[0].request.name))
        found = walk.allocate(0, 0)
        self.limit.took(walk.steps)
        return found and not walk.failed

    def _claimable(self) -> bool:
        """Whether all DRA requests fit into one claim, which is what a member gets."""
        asked = sum(a.request.count for kind, group in self.groups.items() if kind is not None for a in group)
        return asked <= self.largest_claim

    def _feasible(self, kind: Kind) -> bool:
        """Whether the requests that have chosen a kind can share its devices."""
        group = self.groups[kind]
        if len(group) == 1:
            return True  # an option has enough devices for its request alone
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
    """A simulation of Kubernetes' allocator (k8s.io/dynamic-resource-allocation v0.36, structured).

    Each unit of each request takes the first free device that matches. If the rest of the claim cannot be met, the
    allocator takes the device back and tries the next one. Requests and devices are visited by name.
    """

    devices: tuple[Device, ...]
    claimed: list[tuple[RequestOptions, Kind]]
    """The DRA requests with their kinds, sorted by name."""
    steps: int = 0
    """Devices visited."""
    failed: bool = False
    """Whether it came to a device on which a selector fails, or visited too many devices to know."""
    used: dict[int, int] = field(default_factory=dict)
    """Devices taken of each entry."""

    def allocate(self, i: int, unit: int) -> bool:
        """Allocate from unit `unit` of request `i` on, and return whether it worked."""
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
    """Whether all demands can be met from the entries that each may draw on: a maximum flow by augmenting paths.

    A demand is a number of devices, and the positions of the entries that it may draw on.
    """

    def __init__(self, devices: tuple[Device, ...], demands: list[tuple[int, tuple[int, ...]]]) -> None:
        self.demands = demands
        self.given: list[dict[int, int]] = [dict.fromkeys(entries, 0) for _, entries in demands]
        self.left = {e: devices[e].count for _, entries in demands for e in entries}
        self.steps = 0

    def run(self) -> bool:
        """Return whether all demands can be met."""
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
        """Give demand `i` up to `most` more devices, and return how many.

        If its entries are used up, move another demand to another entry. `seen` are the demands that are already being
        moved on this path.
        """
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
