"""Looks for fields that swing while the world is left alone: A, B, A, B.

Only changes of one `settle` count: nobody does anything in it, and faults stay as they are. A few returns are right: a
rollout takes a replica after the other out of service and back. So the most returns of one field grow with the fleet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest
from function.planning.simulation.invariants import Checked, Invariant, Violation
from function.sandbox.store import Change, Ref

MOST_RETURNS = 6
"""Of one field, beside those for each replica."""
_SHOWN = 8
_LONGEST = 40
_METADATA = ("labels", "annotations", "deletionTimestamp")
_GONE = "(gone)"

Field = tuple[Ref, tuple[str, ...]]


@dataclass(slots=True)
class Swings:
    """Remembers the values of each field that changed since the world is left alone."""

    checked: Checked
    most: int = 0
    """The most returns of one field so far."""
    _values: dict[Field, list[str]] = field(default_factory=dict)
    """By field, its values in order."""
    _returns: dict[Field, int] = field(default_factory=dict)
    """By field, how often it had a value that it had left before."""

    def begin(self) -> None:
        """The world is left alone from now on."""
        self._values.clear()
        self._returns.clear()

    def __call__(self, change: Change) -> None:
        """Note one change."""
        for path, before, after in _changed(change):
            key = change.ref, path
            values = self._values.setdefault(key, [before])
            if after in values:
                self._returns[key] = self._returns.get(key, 0) + 1
            values.append(after)

    def end(self, replicas: int) -> Iterator[Violation]:
        """What swung, in a fleet that has some replicas."""
        self.checked[Invariant.STEADY] += len(self._values)
        for (ref, path), returns in sorted(self._returns.items()):
            self.most = max(self.most, returns)
            if returns > MOST_RETURNS + replicas:
                values = self._values[ref, path]
                shown = ", ".join(value[:_LONGEST] for value in values[:_SHOWN]) + (
                    ", …" if len(values) > _SHOWN else ""
                )
                problem = f"{'.'.join(path) or 'it'} returns {returns} times to a value that it had: {shown}"
                yield Violation(Invariant.STEADY, str(ref), problem)


def _changed(change: Change) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """The fields that change, with their values before and after. An object that comes or goes is one field."""
    if change.before is None or change.after is None:
        yield (), _GONE if change.before is None else "(there)", _GONE if change.after is None else "(there)"
        return
    before, after = _body(change.before), _body(change.after)
    yield from _different((), before, after)


def _body(manifest: Manifest) -> dict[str, Any]:
    metadata = manifest["metadata"]
    kept = {name: metadata.get(name) for name in _METADATA}
    return {"metadata": kept} | {k: v for k, v in manifest.items() if k not in ("metadata", "apiVersion", "kind")}


def _different(path: tuple[str, ...], before: Any, after: Any) -> Iterator[tuple[tuple[str, ...], str, str]]:
    if before is after or before == after:
        return
    one, other = _named(before), _named(after)
    if one is None or other is None:
        yield path, repr(before), repr(after)
        return
    for name in sorted(one.keys() | other.keys()):
        yield from _different((*path, name), one.get(name), other.get(name))


def _named(value: Any) -> dict[str, Any] | None:
    """The parts of a value by their names; those of a list of conditions by their types. None if it has no names."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(item, dict) and "type" in item for item in value):
        return {str(item["type"]): item for item in value}
    return None
