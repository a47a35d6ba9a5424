"""Conditions, as Crossplane writes them into a status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.core import Condition, Manifest, Result

NOW = "2024-01-01T00:00:00Z"
"""The only time there is."""

_SYSTEM_CONDITIONS = ("Ready", "Synced", "Healthy", "UpToDate", "Responsive")

_RESPONSIVE = Condition("Responsive", "True", "WatchCircuitClosed")

_NOT_REACHED = "A fatal error occurred before the status of this condition could be determined."


def conditions_after(
    before: list[Any], result: Result, unsynced: Sequence[str], generation: int | None, *, later: int | None
) -> list[dict[str, Any]]:
    """An XR's conditions after a reconcile. Crossplane notes the generation on its own only: that of the start on the
    first, the `later` one, for its references are part of the spec, on the last.
    """
    synced = Condition("Synced", "True", "ReconcileSuccess")
    if unsynced:
        synced = Condition("Synced", "False", "ReconcileError", f"Unsynced resources: {', '.join(unsynced)}")
    ready = Condition("Ready", *(("True", "Available") if result.ready else ("False", "Creating")))
    said = with_conditions(before, (_RESPONSIVE,), generation)
    own = tuple(c for c in result.conditions if c.type not in _SYSTEM_CONDITIONS)
    return with_conditions(with_conditions(said, own, None), (synced, ready), later)


def conditions_after_failure(before: list[Any], message: str, generation: int | None) -> list[dict[str, Any]]:
    """What was not said this time is unknown; Ready stays as it was."""
    custom = [c["type"] for c in before if c["type"] not in _SYSTEM_CONDITIONS]
    unknown = (Condition(type_, "Unknown", "FatalError", _NOT_REACHED) for type_ in custom)
    synced = Condition("Synced", "False", "ReconcileError", message)
    return with_conditions(before, (_RESPONSIVE, synced, *unknown), generation)


def with_conditions(before: list[Any], said: tuple[Condition, ...], generation: int | None) -> list[dict[str, Any]]:
    """Conditions after some were said: each keeps its place, new ones come last.

    One that says the same again stays as it was, unless both know a generation and it is another one (crossplane v2.4,
    apis/core/v2/condition.go).
    """
    by_type = {c["type"]: dict(c) for c in before}
    for condition in said:
        new = _condition(condition, generation)
        if not _says_the_same(by_type.get(condition.type), new):
            by_type[condition.type] = new
    return list(by_type.values())


def _says_the_same(old: Manifest | None, new: Manifest) -> bool:
    if old is None:
        return False
    generations = old.get("observedGeneration"), new.get("observedGeneration")
    fields = ("status", "reason", "message")
    same = all((old.get(f) or "") == (new.get(f) or "") for f in fields)
    return same and (None in generations or generations[0] == generations[1])


def _condition(condition: Condition, generation: int | None) -> dict[str, Any]:
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        **({"message": condition.message} if condition.message else {}),
        "lastTransitionTime": NOW,
        **({"observedGeneration": generation} if generation else {}),
    }
