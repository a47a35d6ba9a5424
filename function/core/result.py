"""What we answer, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from function.core.condition import Condition
from function.core.manifest import Manifest
from function.core.request import Requirement


@dataclass(frozen=True, slots=True)
class ComposedResource:
    """A resource that we want to exist. One left out of a result is deleted."""

    manifest: Manifest
    ready: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, told once. `reason` is in PascalCase."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything that one pass says about one XR.

    `ready` has no default: left unsaid, Crossplane derives it, and an empty composition is Ready.
    """

    ready: bool
    conditions: tuple[Condition, ...]
    resources: Mapping[str, ComposedResource] = field(default_factory=dict)
    status: Manifest = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    waiting: bool = False
    """Whether something that nobody watches for us may change the answer: then we ask again soon."""
    requirements: tuple[Requirement, ...] = ()
    """Set by the Composer."""
    ttl: int = 0
    """Seconds until Crossplane asks again. Set by the Composer."""
