"""Conditions, as Crossplane writes them into a status (crossplane v2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.core import Condition, Manifest, Result

NOW = "2024-01-01T00:00:00Z"
"""The only timestamp: time does not pass in the sandbox."""

PAUSED = Condition(
    "Synced", "False", "ReconcilePaused", "Reconciliation (including deletion) is paused via the pause annotation"
)
"""Of an XR or a managed resource with the annotation (crossplane-runtime v2, apis/common)."""

_SYSTEM_CONDITIONS = ("Ready", "Synced", "Healthy", "UpToDate", "Responsive")

_RESPONSIVE = Condition("Responsive", "True", "WatchCircuitClosed")

_NOT_REACHED = "A fatal error occurred before the status of this condition could be determined."


def conditions_after(
    before: list[Any], result: Result, unsynced: Sequence[str], generation: int | None, *, later: int | None
) -> list[dict[str, Any]]:
    """An XR's conditions after a reconcile that succeeded.

    Args:
        before: The conditions before.
        result: The function's result. Its conditions of Crossplane's own types are ignored, as Crossplane does.
        unsynced: Keys of composed resources that the API server refused.
        generation: The XR's generation at the start; Crossplane writes it into Responsive.
        later: The generation at the end, for Synced and Ready: writing references increments it.
    """
    synced = Condition("Synced", "True", "ReconcileSuccess")
    if unsynced:
        synced = Condition("Synced", "False", "ReconcileError", f"Unsynced resources: {', '.join(unsynced)}")
    ready = Condition("Ready", *(("True", "Available") if result.ready else ("False", "Creating")))
    responsive = with_conditions(before, (_RESPONSIVE,), generation)
    own = tuple(c for c in result.conditions if c.type not in _SYSTEM_CONDITIONS)
    return with_conditions(with_conditions(responsive, own, None), (synced, ready), later)


def conditions_after_failure(before: list[Any], message: str, generation: int | None) -> list[dict[str, Any]]:
    """An XR's conditions after a reconcile that failed: the function's become Unknown, and Ready stays."""
    custom = [c["type"] for c in before if c["type"] not in _SYSTEM_CONDITIONS]
    unknown = (Condition(type_, "Unknown", "FatalError", _NOT_REACHED) for type_ in custom)
    synced = Condition("Synced", "False", "ReconcileError", message)
    return with_conditions(before, (_RESPONSIVE, synced, *unknown), generation)


def with_conditions(before: list[Any], new: tuple[Condition, ...], generation: int | None) -> list[dict[str, Any]]:
    """Merge conditions into a list. Existing ones keep their place, and new ones are appended.

    An equal condition stays as it is, unless both have a generation and the generations differ (crossplane v2.4,
    apis/core/v2/condition.go).
    """
    by_type = {c["type"]: dict(c) for c in before}
    for condition in new:
        written = _condition(condition, generation)
        if not _is_equal(by_type.get(condition.type), written):
            by_type[condition.type] = written
    return list(by_type.values())


def _is_equal(old: Manifest | None, new: Manifest) -> bool:
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
