"""The function's answer, as plain data."""

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
    """A desired resource. Crossplane deletes an observed one that the result leaves out."""

    manifest: Manifest
    ready: bool = False


Decided = Mapping[str, ComposedResource | None]
"""Composed resources that are decided although the rest is not, by key. None deletes a resource."""


@dataclass(frozen=True, slots=True)
class Event:
    """A Kubernetes event. Its `reason` is in PascalCase."""

    reason: str
    message: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class EventReason:
    """A reason that an event can have. Call it with the template's facts to get the Event."""

    reason: str
    template: str
    warning: bool = False

    def __call__(self, **facts: object) -> Event:
        return Event(self.reason, self.template.format(**facts), self.warning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The whole answer of one pass for one XR.

    `ready` has no default. If it were unset, Crossplane would derive it, and an XR without resources would be Ready.
    """

    ready: bool
    conditions: tuple[Condition, ...]
    resources: Mapping[str, ComposedResource] = field(default_factory=dict)
    status: Manifest = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    """What happened in this pass, besides the transitions of conditions. The Composer adds those."""
    waiting: bool = False
    """Whether something that Crossplane does not watch for us may change the answer. Then it asks again soon."""
    held: Condition | None = None
    """Why nothing was decided, and everything observed is desired again. None if something was decided."""
    is_refused: bool = False
    """Whether it holds because the spec is refused."""
    requirements: tuple[Requirement, ...] = ()
    """What this decision reads besides `Composer.requirements`. The Composer adds the latter."""
    quiet: bool = False
    """Whether Crossplane is told that every composed resource is ready. Set by the Composer.

    Crossplane records an event for each one that is not, on each pass, and Kubernetes drops the events of an object
    after the first 25, with one more in five minutes (client-go v0.36, tools/record): among them those that tell what
    happened. It uses the flag for nothing else, because `ready` is explicit (crossplane v2.4, composite/reconciler.go).
    """
    ttl: int = 0
    """Seconds until Crossplane asks again. Set by the Composer."""


def legible(result: Result) -> Result:
    """Return the same result with harmless messages. Those of events are made harmless where they are gathered.

    Messages repeat text from users and remote systems, which may hold characters that reverse a line, start a new one,
    or control a terminal.
    """
    return replace(
        result,
        conditions=tuple(replace(c, message=shortened(visible(c.message))) for c in result.conditions),
        status=_legible(result.status),
    )


def _legible(value: Any, key: str = "") -> Any:
    """Escape every field named `message` in a status."""
    if isinstance(value, str):
        return visible(value) if key == "message" else value
    if isinstance(value, Mapping):
        return {name: _legible(child, name) for name, child in value.items()}
    return [_legible(child) for child in value] if is_list(value) else value
