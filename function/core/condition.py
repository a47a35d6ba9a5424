"""Condition types and reasons, declared once. A reason carries its own status and message template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core.manifest import Manifest, condition, dig

LONGEST_MESSAGE = 1024
"""Characters. Kubernetes accepts 32,768, more than anyone reads in `kubectl describe`."""


LONGEST_QUOTE = 240
"""Characters that are quoted of a text that others wrote."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an XR, as reported on this pass."""

    type: str
    status: str
    reason: str
    message: str = ""
    facts: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)
    """The values that filled the message template, for callers that need more than a sentence."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason that a condition can have. Call it with the template's facts to get the Condition."""

    type: str
    status: str
    reason: str
    template: str = ""

    def __call__(self, **facts: object) -> Condition:
        return Condition(self.type, self.status, self.reason, shortened(self.template.format(**facts)), facts)


@dataclass(frozen=True, slots=True)
class ConditionType:
    """A condition type that a composer declares, and a factory for its reasons."""

    type: str

    def true(self, reason: str, template: str = "") -> Reason:
        return Reason(self.type, "True", reason, template)

    def false(self, reason: str, template: str = "") -> Reason:
        return Reason(self.type, "False", reason, template)

    def unknown(self, reason: str, template: str = "") -> Reason:
        return Reason(self.type, "Unknown", reason, template)


_STATUSES = ("True", "False", "Unknown")
_OVERWRITTEN = "FatalError"
"""The reason that Crossplane sets on the conditions of an XR that it failed to compose (crossplane v2.3,
controller/apiextensions/composite). The function did not report it."""


def last(xr: Manifest, type_: ConditionType) -> Condition | None:
    """Return the value that the function last reported for a condition.

    None if it never reported one, or if Crossplane has overwritten it.
    """
    found = condition(xr, type_.type)
    if found is None or found.get("status") not in _STATUSES or found.get("reason") == _OVERWRITTEN:
        return None
    return Condition(type_.type, found["status"], found.get("reason") or "", found.get("message") or "")


def restated(xr: Manifest, type_: ConditionType, why: Condition) -> Condition:
    """Return a condition with its last value, or Unknown and what it waits for if it never had one."""
    return last(xr, type_) or undecided(type_)(type=why.type, reason=why.reason)


def undecided(type_: ConditionType) -> Reason:
    """Return the reason of a condition that never had a value, while another condition explains the hold."""
    return type_.unknown("Undecided", "Waiting for condition {type}, whose reason is {reason}")


def quote_condition(found: Manifest | None) -> str:
    """Return the message of a condition that others wrote, or else its reason, as `quote` does. Empty for neither."""
    return quote(dig(found, "message") or dig(found, "reason"))


def quote(text: Any) -> str:
    """Return a text that others wrote on one line, and at most LONGEST_QUOTE characters of it."""
    return shortened(" ".join(str(text or "").split()), LONGEST_QUOTE)


def shortened(text: str, longest: int = LONGEST_MESSAGE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
