"""Steps of users, clusters and clouds."""

from __future__ import annotations

import json
from dataclasses import dataclass

from function.planning.simulation.lines import Event
from function.planning.simulation.world import World

# What users do


@dataclass(frozen=True, slots=True)
class Set(Event):
    """A user sets a field of an object. The value is JSON; null removes the field."""

    target: str
    pointer: str
    value: str

    def __call__(self, world: World) -> None:
        world.edit(self.target, self.pointer, json.loads(self.value))


@dataclass(frozen=True, slots=True)
class Copy(Event):
    """A user creates an object like one of the files."""

    target: str
    name: str

    def __call__(self, world: World) -> None:
        world.copy(self.target, self.name)


@dataclass(frozen=True, slots=True)
class Restore(Event):
    """A user applies an object of the files again, also if it is gone."""

    target: str

    def __call__(self, world: World) -> None:
        world.restore(self.target)


@dataclass(frozen=True, slots=True)
class Delete(Event):
    """A user deletes an object."""

    target: str

    def __call__(self, world: World) -> None:
        world.delete(self.target)


@dataclass(frozen=True, slots=True)
class Remove(Event):
    """A user deletes an object by another propagation policy: foreground, or orphan."""

    target: str
    policy: str

    def __call__(self, world: World) -> None:
        world.remove(self.target, self.policy)


@dataclass(frozen=True, slots=True)
class Wipe(Event):
    """A user deletes a namespace, and with it everything that is in it."""

    namespace: str

    def __call__(self, world: World) -> None:
        world.wipe(self.namespace)


@dataclass(frozen=True, slots=True)
class Pause(Event):
    """A user pauses an XR or an Object: its controller leaves it alone, also if it is deleted."""

    target: str

    def __call__(self, world: World) -> None:
        world.pause(self.target, on=True)


@dataclass(frozen=True, slots=True)
class Resume(Event):
    """A user resumes what is paused."""

    target: str

    def __call__(self, world: World) -> None:
        world.pause(self.target, on=False)


@dataclass(frozen=True, slots=True)
class Hold(Event):
    """A finalizer of a controller that does not answer is put on an object: its deletion does not end."""

    target: str

    def __call__(self, world: World) -> None:
        world.hold(self.target, on=True)


@dataclass(frozen=True, slots=True)
class Release(Event):
    """That finalizer is removed."""

    target: str

    def __call__(self, world: World) -> None:
        world.hold(self.target, on=False)


# What clusters and clouds do


@dataclass(frozen=True, slots=True)
class Lose(Event):
    """A cluster is lost for good, with its InferenceCluster."""

    cluster: str

    def __call__(self, world: World) -> None:
        world.lose(self.cluster)


@dataclass(frozen=True, slots=True)
class Fault(Event):
    """A fault begins. It lasts until it is mended."""

    fault: str
    name: str

    def __call__(self, world: World) -> None:
        world.switch(self.fault, self.name, on=True)


@dataclass(frozen=True, slots=True)
class Mend(Event):
    """A fault ends."""

    fault: str
    name: str

    def __call__(self, world: World) -> None:
        world.switch(self.fault, self.name, on=False)


@dataclass(frozen=True, slots=True)
class Heal(Event):
    """All faults end, what is paused is resumed, and what is held is released."""

    def __call__(self, world: World) -> None:
        world.heal()
