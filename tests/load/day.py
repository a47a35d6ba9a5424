"""A day of a fleet on the embedded control plane, and a sample of the calls that Crossplane makes in it.

Terms. A *reconcile* is one XR's calls in a row: each call but the first has what the call before asked for. A *phase*
is what happened in the fleet when the reconcile was made.

The sample has a share of its calls from each phase (`SHARES`). On a real day nearly all reconciles are settled ones,
because each XR is reconciled again when the time to live of its last response ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from function.core import Request, Result
from function.planning import edits, stubs
from function.planning.control_plane import ControlPlane, in_process
from tests.load import fleet

SHARES = {
    "settled": 0.50,
    "placed": 0.15,
    "scaled up": 0.06,
    "scaled down": 0.06,
    "rolled out": 0.08,
    "cluster lost": 0.06,
    "cluster drained": 0.05,
    "restarted": 0.04,
}
"""Of the calls, by phase, in the order of the day. `restarted`: Crossplane forgets what the XRs asked for."""
Calls = tuple[Request, ...]

_EDITED = 20
"""One deployment of so many is edited in each phase of edits."""


class Reconcile(NamedTuple):
    """The calls of one reconcile, in order."""

    phase: str
    calls: Calls


class Size(NamedTuple):
    """The size of a fleet, and of the sample."""

    clusters: int
    deployments: int
    calls: int


def sample(size: Size, seed: int) -> list[Reconcile]:
    """Play a day, and return a sample of its reconciles in random order. Equal arguments give an equal sample."""
    recorder = _Recorder(random.Random(seed), size.calls)
    control = ControlPlane(recorder)
    given = fleet.manifests(size.clusters, size.deployments)
    for phase, happens in _phases(size, given).items():
        recorder.begin(phase)
        happens(control)
        control.loop.settle()
    found = recorder.sample()
    recorder.pick.shuffle(found)
    return found


def _phases(size: Size, given: list[fleet.Object]) -> dict[str, Callable[[ControlPlane], None]]:
    """What happens in each phase, in order."""
    numbers = range(size.deployments)

    def edited(start: int, **changed: object) -> list[fleet.Object]:
        return [fleet.deployment(i, **changed) for i in numbers[start % size.deployments :: _EDITED]]  # type: ignore[arg-type]

    def placed(control: ControlPlane) -> None:
        control.loop.load([*given, *stubs.objects(given)])

    def replace(*manifests: fleet.Object) -> Callable[[ControlPlane], None]:
        return lambda control: [control.loop.replace(one) for one in manifests] and None

    return {
        "placed": placed,
        "settled": lambda control: control.loop.resync(),
        "scaled up": replace(*edited(1, replicas=5)),
        "scaled down": replace(*edited(1, replicas=1)),
        "rolled out": replace(*edited(2, image=f"{fleet.IMAGE}-next")),
        "cluster lost": lambda control: edits.apply(control, edits.LoseCluster("c0")),
        "cluster drained": lambda control: edits.apply(control, edits.DrainCluster("c1")),
        "restarted": lambda control: control.loop.restart(),
    }


@dataclass(slots=True)
class _Recorder:
    """Calls the function, and keeps a random sample of the reconciles of each phase (reservoir sampling).

    Stored manifests never change, so a request that is kept stays as it was sent.
    """

    pick: random.Random
    wanted: int
    """Calls in the whole sample."""
    _phase: str = ""
    _kept: dict[str, list[tuple[int, Calls]]] = field(default_factory=dict)
    """Reconciles by phase, each with its number."""
    _current: list[Request] = field(default_factory=list)
    _seen: int = 0
    """Reconciles of the phase so far."""

    def begin(self, phase: str) -> None:
        self._keep()
        self._phase, self._kept[phase], self._seen = phase, [], 0

    def sample(self) -> list[Reconcile]:
        """The sample, in the order of the day."""
        self._keep()
        return [Reconcile(phase, calls) for phase in self._kept for calls in self._trimmed(phase)]

    def __call__(self, request: Request) -> Result:
        if self._current and _xr(self._current[-1]) != _xr(request):
            self._keep()
        self._current.append(request)
        return in_process(request)

    def _most(self, phase: str) -> int:
        return max(1, round(SHARES[phase] * self.wanted))

    def _keep(self) -> None:
        if not self._current:
            return
        kept, found = self._kept[self._phase], (self._seen, tuple(self._current))
        if len(kept) < self._most(self._phase):
            kept.append(found)
        elif (place := self.pick.randrange(self._seen + 1)) < len(kept):
            kept[place] = found
        self._seen += 1
        self._current.clear()

    def _trimmed(self, phase: str) -> Iterator[Calls]:
        """The kept reconciles of a phase, up to the number of calls that it may have."""
        left = self._most(phase)
        chosen = []
        for number, calls in self._kept[phase]:
            if left > 0:
                chosen.append((number, calls))
                left -= len(calls)
        return (calls for _, calls in sorted(chosen, key=lambda one: one[0]))


def _xr(request: Request) -> tuple[object, ...]:
    return request.xr["kind"], request.identity
