"""A pod template as the checks read it.

A value of a wrong type counts as missing, and an item of a list that is no object counts as an empty object. The API
server refuses such a pod anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.core import Manifest, dig, dig_list

CONTAINERS = "initContainers", "containers", "ephemeralContainers"
"""The lists of containers of a pod, in the order in which Kubernetes' checks visit them."""
Step = str | int


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a template, and where it is."""

    path: str
    """The path from the template."""
    container: str
    """The name of the container that the part belongs to; empty for the pod."""
    content: Manifest
    """The part itself. Empty if it is missing or no object."""

    def at(self, *steps: Step) -> Place | None:
        """Return an object inside; None if it is missing or no object. An empty object is there."""
        found = dig(self.content, *steps)
        return Place(self.field(*steps), self.container, found) if isinstance(found, Mapping) else None

    def items(self, *steps: Step) -> Iterator[Place]:
        """Yield the items of a list inside, as objects."""
        for index, item in enumerate(self.values(*steps)):
            yield Place(self.field(*steps, index), self.container, item if isinstance(item, Mapping) else {})

    def values(self, *steps: Step) -> Sequence[Any]:
        """Return the items of a list inside."""
        return dig_list(self.content, *steps)

    def text(self, *steps: Step) -> str | None:
        """Return a string inside; None if it is missing or no string."""
        found = dig(self.content, *steps)
        return found if isinstance(found, str) else None

    def flag(self, *steps: Step) -> bool | None:
        """Return a boolean inside; None if it is missing or no boolean."""
        found = dig(self.content, *steps)
        return found if isinstance(found, bool) else None

    def number(self, *steps: Step) -> float | None:
        """Return a number inside; None if it is missing or no number."""
        found = dig(self.content, *steps)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    def field(self, *steps: Step) -> str:
        """Return the path of a field inside."""
        path = self.path
        for step in steps:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        return path


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod template with its containers."""

    template: Place
    spec: Place
    containers: tuple[Place, ...]
    """All containers: init containers, containers and ephemeral containers, in this order."""
    securities: tuple[Place, ...]
    """The security contexts of the pod and of its containers, in this order. Empty where there is none."""

    @property
    def security(self) -> Place:
        """The security context of the pod. Empty if there is none."""
        return self.securities[0]

    @property
    def is_windows(self) -> bool:
        """Whether the pod says that it runs on Windows."""
        return self.spec.text("os", "name") == "windows"

    @property
    def has_user_namespace(self) -> bool:
        """Whether the users of the pod are none of the node's."""
        return self.spec.flag("hostUsers") is False


def read(template: Manifest) -> Pod:
    """Return a pod template as the checks read it."""
    whole = Place("", "", template)
    spec = whole.at("spec") or Place("spec", "", {})
    containers = tuple(_containers(spec))
    return Pod(whole, spec, containers, tuple(map(_security, (spec, *containers))))


def _containers(spec: Place) -> Iterator[Place]:
    for field in CONTAINERS:
        for container in spec.items(field):
            yield Place(container.path, container.text("name") or "", container.content)


def _security(owner: Place) -> Place:
    found = owner.at("securityContext")
    return found or Place(owner.field("securityContext"), owner.container, {})
