"""Condition types and reasons, declared once. A reason carries its own status, message template and concern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from function.core import denial, known_secrets, redaction
from function.core.manifest import Manifest, condition, dig, dig_text

LONGEST_MESSAGE = 1024
"""Characters. Kubernetes accepts 32,768, more than anyone reads in `kubectl describe`."""


LONGEST_QUOTE = 240
"""Characters that are quoted of a text that others wrote."""
_READ = 4 * LONGEST_QUOTE
"""Characters that are looked at of such a text."""


class Concern(Enum):
    """Whether a condition tells that something is not as the spec asks. A status alone does not: a rollout that the
    user asked for is False for a while, and a replica that lost one of two copies still serves."""

    NONE = "none"
    """It is as the spec asks, or becomes so because the spec was edited."""
    WAIT = "wait"
    """It is on its way, and nobody has to do anything."""
    FAULT = "fault"
    """It stays so until somebody or something changes."""


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
    _concerns: dict[tuple[str, str], Concern] = field(default_factory=dict, compare=False, repr=False)
    """By status and reason. Conditions are read back from XRs, where nothing else tells."""

    def true(self, reason: str, template: str = "", concern: Concern = Concern.NONE) -> Reason:
        return self._reason("True", reason, template, concern)

    def false(self, reason: str, template: str = "", concern: Concern = Concern.FAULT) -> Reason:
        return self._reason("False", reason, template, concern)

    def waiting(self, reason: str, template: str = "") -> Reason:
        """Declare a reason with status False that passes without anybody's help."""
        return self._reason("False", reason, template, Concern.WAIT)

    def unknown(self, reason: str, template: str = "") -> Reason:
        return self._reason("Unknown", reason, template, Concern.WAIT)

    def concern(self, found: Condition) -> Concern:
        """Return the concern of a condition of this type. A reason of another version is judged by its status."""
        by_status = Concern.NONE if found.status == "True" else Concern.WAIT
        return self._concerns.get((found.status, found.reason), by_status)

    def _reason(self, status: str, reason: str, template: str, concern: Concern) -> Reason:
        if self._concerns.setdefault((status, reason), concern) is not concern:
            raise AssertionError(f"reason {reason} of condition {self.type} is declared with two concerns")
        return Reason(self.type, status, reason, template)


_STATUSES = ("True", "False", "Unknown")
_OVERWRITTEN = "FatalError"
"""The reason that Crossplane sets on the conditions of an XR that it failed to compose (crossplane v2.3,
controller/apiextensions/composite). The function did not report it."""


def last(xr: Manifest, type_: ConditionType) -> Condition | None:
    """Return the value that the function last reported for a condition.

    None if it never reported one, or if Crossplane has overwritten it.
    """
    found = condition(xr, type_.type)
    status, reason, message = (dig_text(found, field) or "" for field in ("status", "reason", "message"))
    if status not in _STATUSES or reason == _OVERWRITTEN:
        return None
    return Condition(type_.type, status, reason or UNDECIDED, message)


def restated(xr: Manifest, type_: ConditionType, why: Condition) -> Condition:
    """Return a condition with its last value, or Unknown and what it waits for if it never had one."""
    return last(xr, type_) or undecided(type_)(type=why.type, reason=why.reason)


UNDECIDED = "Undecided"
"""The reason of a condition that never had a value."""


def undecided(type_: ConditionType) -> Reason:
    """Return the reason of a condition that never had a value, while another condition explains the hold."""
    return type_.unknown(UNDECIDED, "Waiting for condition {type}, whose reason is {reason}")


def quote_condition(found: Manifest | None) -> str:
    """Return the message of a condition that others wrote, or else its reason, as `quote` does. Empty for neither.

    A denied right is explained instead: which right is missing, and what grants it.
    """
    message = dig(found, "message")
    return denial.explain(str(message or "")) or quote(message or dig(found, "reason"))


def quote(text: Any) -> str:
    """Return a text that others wrote on one line, without credentials, and at most LONGEST_QUOTE characters of it."""
    line = " ".join(redaction.beginning(str(text or ""), _READ).split())
    return shortened(known_secrets.quoted(line), LONGEST_QUOTE)


def shortened(text: str, longest: int = LONGEST_MESSAGE) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
