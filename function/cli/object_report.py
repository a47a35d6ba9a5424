"""The explanation of an object of any kind, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from function.core import plain

if TYPE_CHECKING:
    from function.planning.explanation.objects import ObjectExplanation, Waiting

_MOST = 10
"""Objects that the text lists of those that one waits for, or that use one."""


def data(what: str, found: ObjectExplanation) -> dict[str, Any]:
    """The complete explanation as data."""
    own = asdict(found)
    told: dict[str, Any] = plain({"object": what, "cause": [{"message": one} for one in own.pop("causes")], **own})
    return told


def lines(what: str, found: ObjectExplanation) -> Iterator[str]:
    """The explanation as text."""
    source = "" if found.simulated else ", as the input has it"
    yield f"{what}: {'ready' if found.ready else 'not ready'}{source}."
    yield from (f"Cause: {cause}" for cause in found.causes)
    if found.is_complete:
        yield "Nothing is missing."
    yield from map(str, found.conditions)
    if found.waits_for:
        yield ""
        yield "waits for:"
        yield from _waiting(found.waits_for, "  ")
    if found.used_by:
        yield ""
        yield "used by:"
        yield from _few([f"  {user}" for user in found.used_by], "  ")


def _waiting(found: tuple[Waiting, ...], indent: str) -> Iterator[str]:
    for one in found[:_MOST]:
        yield f"{indent}{one.name}"
        yield from (f"{indent}  {condition}" for condition in one.conditions)
        yield from _waiting(one.waits_for, f"{indent}  ")
    if len(found) > _MOST:
        yield f"{indent}and {len(found) - _MOST} more"


def _few(rows: list[str], indent: str) -> list[str]:
    return rows[:_MOST] + ([f"{indent}and {len(rows) - _MOST} more"] if len(rows) > _MOST else [])
