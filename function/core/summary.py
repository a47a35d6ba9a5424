"""Why an XR is not as its spec asks, in one word and one sentence: `status.reason` and `status.message`.

`kubectl get` prints one value for a column, and cannot choose among conditions: they have no fixed order, and some are
False when all is well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.core.condition import UNDECIDED, Concern, Condition, ConditionType
from function.core.manifest import Manifest
from function.core.result import Result

REASON, MESSAGE = "reason", "message"
"""Fields of the status, named as those of a Pod."""


def with_summary(result: Result, required: Sequence[ConditionType], optional: Sequence[ConditionType]) -> Manifest:
    """Return the status of a result with its reason and message, or without them if all is as the spec asks."""
    status = {key: value for key, value in result.status.items() if key not in (REASON, MESSAGE)}
    why = _why(result, required, optional)
    if why is None:
        return status
    return {**status, REASON: why.reason, **({MESSAGE: why.message} if why.message else {})}


def _why(result: Result, required: Sequence[ConditionType], optional: Sequence[ConditionType]) -> Condition | None:
    """Return the condition that tells why: the first fault in the order of declaration, else the first that waits.

    An optional condition decides nothing, so it counts only for a fault, and after those that decide. An XR that is
    not Ready without any concern has a condition that is False by the user's own edit.
    """
    of_required = list(_reported(result, required))
    for concern in (Concern.FAULT, Concern.WAIT):
        for type_, found in sorted(of_required, key=lambda pair: pair[1].reason == UNDECIDED):
            if type_.concern(found) is concern:
                return found
    for type_, found in _reported(result, optional):
        if type_.concern(found) is Concern.FAULT:
            return found
    return None if result.ready else next((found for _, found in of_required if found.status != "True"), None)


def _reported(result: Result, types: Sequence[ConditionType]) -> Iterator[tuple[ConditionType, Condition]]:
    """Yield the conditions of a result in the order in which their types are declared."""
    by_type = {condition.type: condition for condition in result.conditions}
    return ((type_, by_type[type_.type]) for type_ in types if type_.type in by_type)
