"""The steps of a simulation. Each is a value: it prints as a line, and is read back from it."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from function.core import closest
from function.planning.simulation.actions import (
    Behind,
    Deny,
    Deposed,
    Fail,
    Interrupt,
    Mixed,
    Reconcile,
    Remember,
    Rest,
    Restart,
    Round,
    Settle,
    Skew,
    Without,
    Work,
)
from function.planning.simulation.events import (
    Copy,
    Delete,
    Fault,
    Heal,
    Hold,
    Lose,
    Mend,
    Pause,
    Release,
    Remove,
    Restore,
    Resume,
    Set,
    Wipe,
)
from function.planning.simulation.lines import verb
from function.planning.simulation.world import FAULTS, POLICIES

__all__ = [
    "STEPS",
    "Behind",
    "Copy",
    "Delete",
    "Deny",
    "Deposed",
    "Fail",
    "Fault",
    "Heal",
    "Hold",
    "Interrupt",
    "Lose",
    "Mend",
    "Mixed",
    "Pause",
    "Reconcile",
    "Release",
    "Remember",
    "Remove",
    "Rest",
    "Restart",
    "Restore",
    "Resume",
    "Round",
    "Set",
    "Settle",
    "Skew",
    "Step",
    "UnknownStep",
    "Wipe",
    "Without",
    "Work",
    "read",
    "verb",
]


class UnknownStep(ValueError):
    """A line is no step. The message says what is wrong, and what is accepted."""


Step: TypeAlias = (
    Set
    | Copy
    | Restore
    | Delete
    | Remove
    | Wipe
    | Pause
    | Resume
    | Hold
    | Release
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
    | Mixed
    | Deposed
    | Fail
    | Deny
    | Restart
    | Skew
    | Round
    | Settle
    | Rest
)

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
    if "policy" in values and values["policy"] not in POLICIES:
        raise UnknownStep(f"{values['policy']} is no policy; known: {', '.join(POLICIES)}")
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
