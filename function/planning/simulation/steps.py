"""The steps of a simulation. Each is a value: it prints as a line, and is read back from it."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias, get_args

from function.core import closest
from function.planning.simulation.world import FAULTS, World


class UnknownStep(ValueError):
    """A line is no step. The message says what is wrong, and what is accepted."""


@dataclass(frozen=True, slots=True)
class _Line:
    """Prints as a verb and its words."""

    disturbs: ClassVar[bool] = False
    """Whether it may be a reason to stop serving."""

    def __str__(self) -> str:
        words = [verb(type(self)), *(str(getattr(self, f.name)) for f in dataclasses.fields(self))]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class _Event(_Line):
    """What users, clusters or clouds do."""

    disturbs: ClassVar[bool] = True


# What users do


@dataclass(frozen=True, slots=True)
class Set(_Event):
    """A user sets a field of an object. The value is JSON; null removes the field."""

    target: str
    pointer: str
    value: str

    def __call__(self, world: World) -> None:
        world.edit(self.target, self.pointer, json.loads(self.value))


@dataclass(frozen=True, slots=True)
class Copy(_Event):
    """A user creates an object like one of the files."""

    target: str
    name: str

    def __call__(self, world: World) -> None:
        world.copy(self.target, self.name)


@dataclass(frozen=True, slots=True)
class Restore(_Event):
    """A user applies an object of the files again, also if it is gone."""

    target: str

    def __call__(self, world: World) -> None:
        world.restore(self.target)


@dataclass(frozen=True, slots=True)
class Delete(_Event):
    """A user deletes an object."""

    target: str

    def __call__(self, world: World) -> None:
        world.delete(self.target)


# What clusters and clouds do


@dataclass(frozen=True, slots=True)
class Lose(_Event):
    """A cluster is lost for good, with its InferenceCluster."""

    cluster: str

    def __call__(self, world: World) -> None:
        world.lose(self.cluster)


@dataclass(frozen=True, slots=True)
class Fault(_Event):
    """A fault begins. It lasts until it is mended."""

    fault: str
    name: str

    def __call__(self, world: World) -> None:
        world.switch(self.fault, self.name, on=True)


@dataclass(frozen=True, slots=True)
class Mend(_Event):
    """A fault ends."""

    fault: str
    name: str

    def __call__(self, world: World) -> None:
        world.switch(self.fault, self.name, on=False)


@dataclass(frozen=True, slots=True)
class Heal(_Event):
    """All faults end."""

    def __call__(self, world: World) -> None:
        world.heal()


# What the control plane does


@dataclass(frozen=True, slots=True)
class Work(_Line):
    """Providers, clusters and clouds act once."""

    def __call__(self, world: World) -> None:
        world.control.loop.work()


@dataclass(frozen=True, slots=True)
class Reconcile(_Line):
    """One XR is reconciled, out of turn."""

    target: str

    def __call__(self, world: World) -> None:
        world.reconcile(self.target)


@dataclass(frozen=True, slots=True)
class Remember(_Line):
    """A snapshot is taken. A cache that is behind may answer from it later."""

    def __call__(self, world: World) -> None:
        world.remember()


@dataclass(frozen=True, slots=True)
class Behind(_Line):
    """One XR is reconciled, and what it requires is answered from a snapshot. Age 1 is the latest one."""

    target: str
    age: int

    def __call__(self, world: World) -> None:
        world.reconcile_behind(self.target, self.age)


@dataclass(frozen=True, slots=True)
class Without(_Line):
    """One XR is reconciled, and one of its requirements finds nothing."""

    target: str
    requirement: str

    def __call__(self, world: World) -> None:
        world.reconcile_without(self.target, self.requirement)


@dataclass(frozen=True, slots=True)
class Interrupt(_Line):
    """One XR is reconciled, and Crossplane dies after some writes. It starts anew."""

    target: str
    writes: int

    def __call__(self, world: World) -> None:
        world.interrupt(self.target, self.writes)


@dataclass(frozen=True, slots=True)
class Restart(_Line):
    """Crossplane starts anew, and remembers nothing."""

    def __call__(self, world: World) -> None:
        world.control.loop.restart()


@dataclass(frozen=True, slots=True)
class Skew(_Line):
    """The clock of the API server is changed by some seconds."""

    seconds: int

    def __call__(self, world: World) -> None:
        world.store.skew += self.seconds


@dataclass(frozen=True, slots=True)
class Settle(_Line):
    """The control loop runs until nothing changes. Order 0 is the usual one; any other shuffles all reconciles."""

    order: int

    def __call__(self, world: World) -> None:
        world.settle(self.order)


@dataclass(frozen=True, slots=True)
class Rest(_Line):
    """Time passes: every XR is reconciled again, until nothing changes."""

    def __call__(self, world: World) -> None:
        world.control.loop.resync()
        world.settle(0)


Step: TypeAlias = (
    Set
    | Copy
    | Restore
    | Delete
    | Lose
    | Fault
    | Mend
    | Heal
    | Work
    | Reconcile
    | Remember
    | Behind
    | Without
    | Interrupt
    | Restart
    | Skew
    | Settle
    | Rest
)


def verb(step: type[_Line]) -> str:
    """The first word of a step's line."""
    return step.__name__.lower()


STEPS: Mapping[str, type[Step]] = {verb(step): step for step in get_args(Step)}


def read(line: str) -> Step:
    """Read a step from its line.

    Raises:
        UnknownStep: The line is no step.
    """
    try:
        first, *words = shlex.split(line)
    except ValueError as wrong:
        raise UnknownStep(f"{line}: {wrong}") from wrong
    step = STEPS.get(first)
    if step is None:
        meant = closest(first, STEPS)
        hint = f"did you mean {meant}?" if meant else f"known: {', '.join(STEPS)}"
        raise UnknownStep(f"unknown step {first}; {hint}")
    return _made(step, words)


def _made(step: type[Step], words: list[str]) -> Step:
    fields = dataclasses.fields(step)
    usage = " ".join([verb(step), *(f.name.upper() for f in fields)])
    if len(words) != len(fields):
        raise UnknownStep(f"{verb(step)} has {len(words)} words after it; use: {usage}")
    values: dict[str, Any] = {f.name: _value(f.type, word, usage) for f, word in zip(fields, words, strict=True)}
    if "value" in values:
        _check_json(str(values["value"]), usage)
    if "fault" in values and values["fault"] not in FAULTS:
        raise UnknownStep(f"{values['fault']} is no fault; known: {', '.join(FAULTS)}")
    return step(**values)


def _value(type_: object, word: str, usage: str) -> str | int:
    if type_ not in ("int", int):
        return word
    if not re.fullmatch(r"-?[0-9]{1,18}", word):
        raise UnknownStep(f"{word} is not a whole number; use: {usage}")
    return int(word)


def _check_json(text: str, usage: str) -> None:
    try:
        json.loads(text)
    except ValueError as wrong:
        raise UnknownStep(f"{text} is not JSON; use: {usage}") from wrong
