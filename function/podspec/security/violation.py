"""What a check finds wrong with a pod."""

from __future__ import annotations

from dataclasses import dataclass

from function.core import redaction
from function.vocabulary.pod_security import Level

_LONGEST = 63
"""Characters of a user's value that a message repeats."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A field of a pod template that a level forbids."""

    level: Level
    """The least strict level that has the check: baseline or restricted."""
    check: str
    """The check, by its ID in Kubernetes' policy library."""
    container: str
    """The name of the container; empty if the field belongs to the pod."""
    field: str
    """The path of the field from the template, such as `spec.containers[0].securityContext.privileged`."""
    what: str
    """What the field must be, as the predicate of a sentence: `must not be true`."""

    def __str__(self) -> str:
        return f"{self.field} {self.what}"


@dataclass(frozen=True, slots=True)
class Found:
    """A violation before its check is known. The fields are those of `Violation`."""

    container: str
    field: str
    what: str


def shown(value: str) -> str:
    """Return a user's value for a message. A long one is cut."""
    if redaction.is_credential(value):
        return redaction.ALIKE
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
