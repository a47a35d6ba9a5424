"""Steps of the control plane."""

from __future__ import annotations

from dataclasses import dataclass

from function.planning.simulation import reconciles
from function.planning.simulation.lines import Line, OldRead
from function.planning.simulation.world import World


@dataclass(frozen=True, slots=True)
class Work(Line):
    """Providers, clusters and clouds act once."""

    def __call__(self, world: World) -> None:
        world.control.loop.work()


@dataclass(frozen=True, slots=True)
class Reconcile(Line):
    """One XR is reconciled, out of turn."""

    target: str

    def __call__(self, world: World) -> None:
        world.reconcile(self.target)


@dataclass(frozen=True, slots=True)
class Remember(Line):
    """A snapshot is taken. A cache that is behind may answer from it later."""

    def __call__(self, world: World) -> None:
        world.remember()


@dataclass(frozen=True, slots=True)
class Behind(OldRead):
    """One XR is reconciled, and what it requires is answered from a snapshot. Age 1 is the latest one."""

    target: str
    age: int

    def __call__(self, world: World) -> None:
        reconciles.behind(world, self.target, self.age)


@dataclass(frozen=True, slots=True)
class Without(OldRead):
    """One XR is reconciled, and one of its requirements finds nothing."""

    target: str
    requirement: str

    def __call__(self, world: World) -> None:
        reconciles.without(world, self.target, self.requirement)


@dataclass(frozen=True, slots=True)
class Interrupt(Line):
    """One XR is reconciled, and Crossplane dies after some writes. It starts anew."""

    target: str
    writes: int

    def __call__(self, world: World) -> None:
        reconciles.interrupted(world, self.target, self.writes)


@dataclass(frozen=True, slots=True)
class Mixed(OldRead):
    """One XR is reconciled by a cache that has each kind as of another time: the XR too, and what it composed."""

    target: str
    order: int

    def __call__(self, world: World) -> None:
        reconciles.mixed(world, self.target, self.order)


@dataclass(frozen=True, slots=True)
class Deposed(OldRead):
    """A leader that lost its lease reconciles one XR by a snapshot. After some of its writes, the new one does too."""

    target: str
    age: int
    writes: int

    def __call__(self, world: World) -> None:
        reconciles.deposed(world, self.target, self.age, self.writes)


@dataclass(frozen=True, slots=True)
class Fail(Line):
    """One XR is reconciled, and the API server fails after it has applied some of what the XR composes."""

    target: str
    applied: int

    def __call__(self, world: World) -> None:
        reconciles.failing(world, self.target, self.applied)


@dataclass(frozen=True, slots=True)
class Deny(Line):
    """One XR is reconciled, and an admission policy denies one of the objects that it composes, by their order."""

    target: str
    number: int

    def __call__(self, world: World) -> None:
        reconciles.denied(world, self.target, self.number)


@dataclass(frozen=True, slots=True)
class Restart(Line):
    """Crossplane starts anew, and remembers nothing."""

    def __call__(self, world: World) -> None:
        world.control.loop.restart()


@dataclass(frozen=True, slots=True)
class Skew(Line):
    """The clock of the API server is changed by some seconds."""

    seconds: int

    def __call__(self, world: World) -> None:
        world.store.skew += self.seconds


@dataclass(frozen=True, slots=True)
class Round(Line):
    """The control loop runs one round, and what it began may not be finished. The order is as that of `settle`."""

    order: int

    def __call__(self, world: World) -> None:
        world.round(self.order)


@dataclass(frozen=True, slots=True)
class Settle(Line):
    """The control loop runs until nothing changes. Order 0 is the usual one; any other shuffles all reconciles."""

    order: int

    def __call__(self, world: World) -> None:
        world.settle(self.order)


@dataclass(frozen=True, slots=True)
class Rest(Line):
    """Time passes: every XR is reconciled again, until nothing changes."""

    def __call__(self, world: World) -> None:
        world.control.loop.resync()
        world.settle(0)
