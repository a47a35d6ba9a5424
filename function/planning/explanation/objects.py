"""Why an object of any kind is not ready: what it names and does not exist, its conditions, what it waits for, and who
uses it.

Nothing here knows a kind. An object waits for what it composed, for what its composer asked for by name, and for what
its conditions mention; it is used by those whose composers asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from function.core import Manifest, condition, controller, dig, dig_objects, dig_text, is_ready
from function.planning.control_plane import ControlPlane
from function.planning.explanation.naming import told
from function.planning.explanation.references import dangling, leaves, text
from function.sandbox import settle
from function.sandbox.composed import referenced
from function.sandbox.store import Ref, named, ref_of

_FIRST, _LAST = ("Synced",), ("Ready", "Responsive")
"""Conditions of Crossplane: that an object could not be composed explains the others; that it is not ready follows."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """A condition that is not True."""

    type: str
    status: str
    reason: str
    message: str

    def __str__(self) -> str:
        words = f"{self.type} is {self.status}: {self.reason}"
        return f"{words}: {self.message}" if self.message else words


@dataclass(frozen=True, slots=True)
class Waiting:
    """An object that another one waits for, because it is not ready."""

    name: str
    """In full, as `explain` takes it."""
    conditions: tuple[Unmet, ...]
    waits_for: tuple[Waiting, ...]


@dataclass(frozen=True, slots=True)
class ObjectExplanation:
    """An object of any kind."""

    ready: bool
    simulated: bool
    """Whether this is what a simulation came to. Otherwise the input had the conditions."""
    causes: tuple[str, ...]
    """What it names and does not exist, and what those name that it waits for."""
    conditions: tuple[Unmet, ...]
    """In the order of cause and consequence."""
    waits_for: tuple[Waiting, ...]
    used_by: tuple[str, ...]
    """In full, each with the field that names the object, if a field does."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return self.ready


def explain(control: ControlPlane, ref: Ref, given: Mapping[Ref, Manifest]) -> ObjectExplanation:
    """Explain an object of a fleet that has converged. `given` are the objects as the input had them."""
    view = _View(control, {name: found for name, found in given.items() if dig(found, "status", "conditions")})
    manifest = view.get(ref)
    waits_for = () if _is_settled(manifest) else tuple(view.waiting(ref, {ref}))
    return ObjectExplanation(
        ready=is_ready(manifest),
        simulated=ref not in view.given,
        causes=() if _is_settled(manifest) else tuple(view.causes(ref)),
        conditions=_unmet(manifest),
        waits_for=waits_for,
        used_by=tuple(_users(control, ref)),
    )


def _is_settled(manifest: Manifest) -> bool:
    return is_ready(manifest) and not _unmet(manifest)


def _waits(manifest: Manifest) -> bool:
    """Whether an object can be ready, and is not."""
    return condition(manifest, "Ready") is not None and not is_ready(manifest)


def _unmet(manifest: Manifest) -> tuple[Unmet, ...]:
    found = [one for one in dig_objects(manifest, "status", "conditions") if one.get("status") != "True"]
    ordered = sorted(found, key=lambda one: (one["type"] in _LAST) - (one["type"] in _FIRST))
    if any(one["type"] not in _LAST for one in ordered):
        ordered = [one for one in ordered if one["type"] not in _LAST]
    return tuple(
        Unmet(*(dig_text(one, field) or "" for field in ("type", "status", "reason", "message"))) for one in ordered
    )


@dataclass(frozen=True, slots=True)
class _View:
    """The objects as the input had them, and else as the simulation left them."""

    control: ControlPlane
    given: Mapping[Ref, Manifest]

    def get(self, ref: Ref) -> Manifest:
        return self.given.get(ref) or self.control.store.get(ref) or {}

    def waiting(self, ref: Ref, seen: set[Ref]) -> Iterator[Waiting]:
        """Yield what an object waits for, each with what that waits for. `seen` is not told again."""
        for other in self._below(ref):
            manifest = self.get(other)
            if other in seen or not _waits(manifest):
                continue
            seen.add(other)
            yield Waiting(told(other), _unmet(manifest), tuple(self.waiting(other, seen)))

    def causes(self, ref: Ref) -> Iterator[str]:
        """Yield what an object and those that it waits for name and does not exist."""
        seen, waiting = {ref}, [ref]
        while waiting:
            one = waiting.pop(0)
            yield from map(str, dangling(self.control, one))
            new = [other for other in self._below(one) if other not in seen and _waits(self.get(other))]
            seen.update(new)
            waiting += new

    def _below(self, ref: Ref) -> Iterator[Ref]:
        """The objects that may keep one from being ready."""
        manifest = self.get(ref)
        messages = " ".join(str(one) for one in _unmet(manifest))
        for asked in self.control.loop.reconciler.asked.get(ref, ()):
            if asked.match_name is not None:
                yield named(asked)
            elif messages:
                yield from (r for m in self.control.store.find(asked) if (r := ref_of(m)).name in messages.split())
        stored = self.control.store.get(ref) or {}
        for reference in dig_objects(stored, "spec", "crossplane", "resourceRefs"):
            yield referenced(stored, reference)


def _users(control: ControlPlane, ref: Ref) -> Iterator[str]:
    """Those that asked for an object, and the one that composed it."""
    manifest = control.store.get(ref) or {}
    owner = controller(manifest["metadata"]) if manifest else None
    if owner is not None:
        yield f"{told(_owner(ref, owner))}, which composed it"
    for user in sorted(control.loop.reconciler.asked):
        if user == ref or not _asks(control, user, ref, manifest):
            continue
        spec = (control.store.get(user) or {}).get("spec")
        fields = [text(path) for path, value in leaves(spec) if value == ref.name]
        yield f"{told(user)} ({', '.join(fields)})" if fields else told(user)


def _owner(ref: Ref, owner: Manifest) -> Ref:
    """The object of an owner reference. It is in the same namespace."""
    return Ref(owner["apiVersion"], owner["kind"], ref.namespace, owner["name"])


def _asks(control: ControlPlane, user: Ref, ref: Ref, manifest: Manifest) -> bool:
    """Whether an object asked for another by its name, or by labels in its own namespace."""
    return any(
        settle.matches(asked, manifest)
        for asked in control.loop.reconciler.asked[user]
        if asked.match_name is not None or (asked.match_labels and user.namespace == ref.namespace)
    )
