"""What we answer, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from function.core.condition import Condition, shortened
from function.core.manifest import Manifest, is_list
from function.core.request import Requirement
from function.core.wording import visible


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


def legible(result: Result) -> Result:
    """The same result, in whose messages nothing hides: what users and remote systems wrote is repeated in them, and
    may hold characters that turn a line around, begin another one, or command a terminal."""
    return replace(
        result,
        conditions=tuple(replace(c, message=shortened(visible(c.message))) for c in result.conditions),
        events=tuple(replace(e, message=visible(e.message)) for e in result.events),
        status=_legible(result.status),
    )


def _legible(value: Any, key: str = "") -> Any:
    """A status, in which every field of the name `message` is a message."""
    if isinstance(value, str):
        return visible(value) if key == "message" else value
    if isinstance(value, Mapping):
        return {name: _legible(child, name) for name, child in value.items()}
    return [_legible(child) for child in value] if is_list(value) else value
