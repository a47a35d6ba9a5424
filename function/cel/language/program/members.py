"""Members: fields and elements that are read, tested, and read as an optional.

A path that meets an optional goes on inside of it, and is an `OptionalSelect` until its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from function.cel.language.checking.checked import Checked
from function.cel.language.errors import Failure
from function.cel.language.program.code import Frame, Run
from function.cel.language.syntax.tree import Call, Ident, Literal, Node, Select
from function.cel.language.values import containers
from function.cel.language.values.containers import MISSING
from function.cel.language.values.kinds import (
    NONE,
    NOTHING_PUBLISHED,
    UNREADABLE,
    CelMap,
    FreshMap,
    Optional,
    TypeValue,
)
from function.cel.language.values.opaque import is_readable


def reread(run: Run, *, anew: bool = False) -> Run:
    """A variable or a branch: cel-go unpacks an optional there, and packs it again.

    Arguments: anew: a list or map inside becomes another object, as in cel-go. Only keys of maps can tell.
    """

    def read(frame: Frame) -> Any:
        value = run(frame)
        if type(value) is not Optional or not value.has_value:
            return value
        found = _repacked(value)
        return Optional((_copy(*found.content),)) if anew else found

    return read


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return value[:]
    return CelMap(value) if type(value) is CelMap else value


def fresh_map(run: Run) -> Run:
    """A map of a device, as another object each time that it is read: as a key of a map, only itself finds it."""

    def read(frame: Frame) -> Any:
        value = run(frame)
        return FreshMap(value) if type(value) is dict and value is not NOTHING_PUBLISHED else value

    return read


def _repacked(optional: Optional) -> Optional:
    content = optional.content[0]
    while type(content) is Optional:
        content = content.content[0] if content.has_value else None
    if not is_readable(content):
        content = UNREADABLE
    if isinstance(content, TypeValue):
        content = content.name
    return Optional((content,))


class OptionalSelect(NamedTuple):
    """The value that a path has found so far, once a step may find nothing. Its end makes it an Optional."""

    content: tuple[Any, ...] = ()


_NOTHING = OptionalSelect()


def rooted(run: Run) -> Run:
    """The root of a path, which goes on inside of an optional. Later in a path an optional is no map."""

    def read(frame: Frame) -> Any:
        value = run(frame)
        if type(value) is not Optional:
            return value
        return OptionalSelect((_repacked(value).value,)) if value.has_value else _NOTHING

    return read


def closed(run: Run) -> Run:
    """The end of a path, which makes an Optional of an OptionalSelect."""

    def read(frame: Frame) -> Any:
        value = run(frame)
        if type(value) is not OptionalSelect:
            return value
        return Optional(value.content) if value.content else NONE

    return read


def field_of(target: Run, key: Run) -> Run:
    """A step of a path."""

    def read(frame: Frame) -> Any:
        value = target(frame)
        return _inside(value, key, frame) if type(value) is OptionalSelect else containers.get(value, key(frame))

    return read


def _inside(found: OptionalSelect, key: Run, frame: Frame) -> OptionalSelect:
    return _found(found.content[0], key(frame)) if found.content else _NOTHING


def _found(target: Any, key: Any) -> OptionalSelect:
    found = containers.lookup(target, key)
    return _NOTHING if found is MISSING else OptionalSelect((found,))


def optional_field(target: Run, key: Run, *, ends: bool) -> Run:
    """A step that may find nothing (`.?`, `[?]`). `ends`: it is the last of its path."""

    def read(frame: Frame) -> OptionalSelect:
        value = target(frame)
        return _inside(value, key, frame) if type(value) is OptionalSelect else _found(value, key(frame))

    def end(frame: Frame) -> Optional:
        value = target(frame)
        if type(value) is OptionalSelect:
            if not value.content:
                return NONE
            [value] = value.content
        found = containers.lookup(value, key(frame))
        return NONE if found is MISSING else Optional((found,))

    return end if ends else read


def presence(target: Run, field: str, *, keeps_optional: bool = False) -> Run:
    """has(): whether a field exists. `keeps_optional`: of an optional's field, an optional."""

    def test(frame: Frame) -> Any:
        value = target(frame)
        if type(value) is not OptionalSelect:
            return containers.lookup(value, field) is not MISSING
        found = _found(value.content[0], field) if value.content else _NOTHING
        return found if keeps_optional else bool(found.content)

    return test


MAYBE_OPTIONAL = frozenset({"opaque", "dyn", "any", "null"})
"""Kinds of type whose values may be optionals."""


def may_find_nothing(node: Node, checked: Checked) -> bool:
    """Whether a path meets an optional, or has a step that may find nothing."""
    match node:
        case Select(operand=inner, is_test=False) | Call(function="_[_]", args=[inner, _]):
            return may_find_nothing(inner, checked)
        case Call(function="_?._" | "_[?_]"):
            return True
        case Call(function="_?_:_", args=[_, *branches]):
            return any(may_find_nothing(branch, checked) for branch in branches)
    return checked.type(node).kind in MAYBE_OPTIONAL


def path_of(node: Node, checked: Checked, place_of: Callable[[str], int | None]) -> Run | None:
    """A field of an object, or a value in its maps by literal keys, read at once: this is the hot path.

    None where the path is another.
    """
    keys: list[str] = []
    at = node.at
    while not isinstance(node, Ident):
        inner, key = _step(node)
        if inner is None or key is None:
            return None
        keys.insert(0, key)
        node = inner
    place = place_of(node.name)
    if place is None or checked.type(node).kind != "struct":
        return None
    return _path(place, keys, at)


def _step(node: Node) -> tuple[Node | None, str | None]:
    if isinstance(node, Select) and not node.is_test:
        return node.operand, node.field
    if isinstance(node, Call) and node.function == "_[_]" and isinstance(node.args[1], Literal):
        key = node.args[1].value
        return node.args[0], key if isinstance(key, str) else None
    return None, None


def _path(place: int, keys: list[str], at: int) -> Run | None:
    if len(keys) == 1:
        [field] = keys
        return lambda frame: frame[place][field]
    if len(keys) == 2:  # noqa: PLR2004  (field and domain)
        field, domain = keys
        return lambda frame: frame[place][field][domain]
    if len(keys) != 3:  # noqa: PLR2004  (field, domain and id)
        return None
    field, domain, name = keys

    def read(frame: Frame) -> Any:
        try:
            return frame[place][field][domain][name]
        except KeyError:
            raise Failure(f"no such key: {name}", at) from None

    return read
