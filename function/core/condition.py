"""Conditions, declared once: a reason carries its own status and message template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from function.core.manifest import Manifest, condition

LONGEST_MESSAGE = 1024
"""Characters. Kubernetes takes 32,768, which nobody reads in `kubectl describe`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of an XR, as this pass says it."""

    type: str
    status: str
    reason: str
    message: str = ""
    facts: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    """What the message was made of: for whom a sentence is not enough."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that a condition can say. Call it with the facts to say it."""

    type: str
    status: str
    reason: str
    template: str = ""

    def __call__(self, **facts: object) -> Condition:
        return Condition(self.type, self.status, self.reason, shortened(self.template.format(**facts)), facts)


@dataclass(frozen=True, slots=True)
class ConditionType:
    """A condition that a composer declares, and the way to declare its reasons."""

    type: str

    def true(self, reason: str, template: str = "") -> Reason:
        return Reason(self.type, "True", reason, template)

    def false(self, reason: str, template: str = "") -> Reason:
        return Reason(self.type, "False", reason, template)

    def unknown(self, reason: str, template: str = "") -> Reason:
        return Reason(self.type, "Unknown", reason, template)


_STATUSES = ("True", "False", "Unknown")
_NOT_SAID = "FatalError"
"""The reason that Crossplane writes into the conditions of an XR that it failed to compose (crossplane v2.3,
controller/apiextensions/composite). The function did not say it."""


def last(xr: Manifest, type_: ConditionType) -> Condition | None:
    """What the function last said of a condition of an XR. None where it said nothing, or Crossplane wrote over it."""
    found = condition(xr, type_.type)
    if found is None or found.get("status") not in _STATUSES or found.get("reason") == _NOT_SAID:
        return None
    return Condition(type_.type, found["status"], found.get("reason") or "", found.get("message") or "")


def restated(xr: Manifest, type_: ConditionType, why: Condition) -> Condition:
    """A condition as it was last said; Unknown where it never was, with what it waits for."""
    return last(xr, type_) or undecided(type_)(type=why.type, reason=why.reason)


def undecided(type_: ConditionType) -> Reason:
    """What a condition says that was never said, while another one says why nothing can be decided."""
    return type_.unknown("Undecided", "Waiting for {type}, which says {reason}")


def shortened(text: str, longest: int = LONGEST_MESSAGE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
