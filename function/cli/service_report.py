"""The explanation of a ModelService, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from function.cli import report
from function.core import plain, plural

if TYPE_CHECKING:
    from function.planning.service_explanation import EntryState, ServiceExplanation

ENDPOINTS = ("", "endpoint", "at", "why")


def data(what: str, found: ServiceExplanation) -> dict[str, Any]:
    """The complete explanation as data."""
    own = asdict(found)
    told: dict[str, Any] = plain({"object": what, "cause": [{"message": one} for one in own.pop("causes")], **own})
    return told


def lines(what: str, found: ServiceExplanation) -> Iterator[str]:
    """The explanation as text."""
    yield f"{what}: {headline(found)}"
    yield from (f"Cause: {cause}" for cause in found.causes)
    yield found.why
    for priority in found.priorities:
        entries = [entry for entry in found.entries if entry.priority == priority]
        yield ""
        yield f"priority {priority}: {_standing(found, priority, entries)}"
        for entry in entries:
            yield from (f"  {line}" for line in _entry(entry))


def headline(found: ServiceExplanation) -> str:
    """Who answers, in a sentence."""
    if found.answers is None:
        return f"no endpoint answers at {found.address}." if found.address else "it has no address yet."
    return f"priority {found.answers} answers at {found.address}."


def _standing(found: ServiceExplanation, priority: int, entries: list[EntryState]) -> str:
    """How a priority stands, and why it answers or not."""
    states = [one for entry in entries for one in entry.endpoints]
    serving = sum(one.answers for one in states)
    count = f"{serving} of {plural(len(states), 'endpoint')} {'serves' if len(states) == 1 else 'serve'}"
    if found.answers == priority:
        lower = "" if priority == 0 else ", because no endpoint of a lower priority serves"
        return f"{count}; it answers{lower}"
    if not serving:
        return f"{count}; it cannot answer"
    return f"{count}; it takes over as far as those before it fail"


def _entry(entry: EntryState) -> Iterator[str]:
    model = f", asked for model {entry.model}" if entry.model else ""
    yield f"spec.endpoints[{entry.index}] (weight {entry.weight}{model})"
    rows = [("serves" if one.answers else "waits", one.name, one.where, one.why) for one in entry.endpoints]
    yield from (f"  {line}" for line in report.aligned(("",) * 4, rows))
    if not rows:
        yield "  no endpoint matches its selector"
