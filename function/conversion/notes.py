"""What became of the fields of a converted object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

Path = tuple[str | int, ...]


class Verdict(Enum):
    """What became of a field."""

    CARRIED = "carried"
    """It means the same in the target."""
    CHANGED = "changed"
    """It is said in another way, or Modelplane does it in another way."""
    LOST = "not carried"
    """Nothing in the target means the same."""
    LEFT = "left to do"
    """The user must do something before the target works."""


@dataclass(frozen=True, slots=True)
class Note:
    """What became of one field. No note repeats a value of env, args, annotations or data, since it may be secret."""

    verdict: Verdict
    source: Path
    """Path in the source object. Empty for the object as a whole."""
    target: Path
    """Path in the first target object. Empty if there is none."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Beside:
    """Objects of the source's namespace that stand beside it."""

    carried: frozenset[tuple[str, str]] = frozenset()
    """Kinds and names of the Secrets and ConfigMaps that go with the target."""
    claim_templates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """ResourceClaimTemplates by name."""


NOTHING = Beside()


@dataclass(frozen=True, slots=True)
class Notes:
    """Collects notes about the fields below one path of the source, and below one path of the target."""

    source: Path = ()
    target: Path = ()
    written: list[Note] = field(default_factory=list)
    beside: Beside = NOTHING
    """What stands beside the source."""

    def at(self, source: Path = (), target: Path = ()) -> Notes:
        """Return notes about what is further down. They are collected together with these."""
        return replace(self, source=(*self.source, *source), target=(*self.target, *target))

    def into(self, target: Path) -> Notes:
        """Return notes about the same part of the source and another part of the target."""
        return replace(self, target=target)

    def of(self, source: Path) -> Notes:
        """Return notes about another part of the source and the same part of the target."""
        return replace(self, source=source)

    def carried(self, source: Path, target: Path | None = None, message: str = "") -> None:
        self._write(Verdict.CARRIED, source, source if target is None else target, message)

    def changed(self, source: Path, target: Path | None, message: str) -> None:
        self._write(Verdict.CHANGED, source, target, message)

    def lost(self, source: Path, message: str) -> None:
        self._write(Verdict.LOST, source, None, message)

    def left(self, source: Path, target: Path | None, message: str) -> None:
        self._write(Verdict.LEFT, source, target, message)

    def _write(self, verdict: Verdict, source: Path, target: Path | None, message: str) -> None:
        found = Note(verdict, (*self.source, *source), () if target is None else (*self.target, *target), message)
        if found not in self.written:
            self.written.append(found)


class NotConvertible(Exception):
    """A source object that cannot be read as what it says it is."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(problem)
        self.path, self.problem = path, problem


def mapping(value: Any, *path: str | int, at: Path = ()) -> dict[str, Any]:
    """Return the map at a path below a value, empty if it is not there. Raises NotConvertible if it is no map."""
    found = _dug(value, path, at)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise NotConvertible((*at, *path), "must be a map of fields")
    return found


def items(value: Any, *path: str | int, at: Path = ()) -> list[Any]:
    """Return the list at a path below a value, empty if it is not there. Raises NotConvertible if it is no list."""
    found = _dug(value, path, at)
    if found is None:
        return []
    if not isinstance(found, list):
        raise NotConvertible((*at, *path), "must be a list")
    return found


def whole(value: Any, *path: str | int, at: Path = ()) -> int | None:
    """Return the whole number at a path, None if it is not there. Raises NotConvertible if it is none."""
    found = _dug(value, path, at)
    if isinstance(found, float) and found.is_integer():
        return int(found)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
        raise NotConvertible((*at, *path), "must be a whole number")
    return found


def text(value: Any, *path: str | int, at: Path = ()) -> str | None:
    """Return the text at a path, None if it is not there. Raises NotConvertible if it is no text."""
    found = _dug(value, path, at)
    if found is not None and not isinstance(found, str):
        raise NotConvertible((*at, *path), "must be a string")
    return found


def texts(value: Any, *path: str | int, at: Path = ()) -> dict[str, str]:
    """Return the map of texts at a path, such as labels. Raises NotConvertible if it is none."""
    found = mapping(value, *path, at=at)
    for key, one in found.items():
        if not isinstance(one, str):
            raise NotConvertible(
                (*at, *path, key), "must be a string; numbers and true and false are written in quotes"
            )
    return found


def _dug(value: Any, path: Path, at: Path) -> Any:
    for depth, step in enumerate(path):
        if value is None:
            return None
        if not isinstance(value, dict):
            raise NotConvertible((*at, *path[:depth]), "must be a map of fields")
        value = value.get(step)
    return value


def others(value: dict[str, Any], known: set[str]) -> Iterator[str]:
    """Yield the fields of a map that are not among the known ones."""
    yield from (name for name in value if name not in known)
