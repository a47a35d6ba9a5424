"""The values of CEL that Python has no like of. The others are bool, int, float, str, bytes, None, list and dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1


class Uint(int):
    """An unsigned integer of 64 bits: a type of its own, equal to what it is equal to as a number."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Optional:
    """A value, or none."""

    content: tuple[Any, ...] = ()

    @property
    def is_there(self) -> bool:
        return bool(self.content)


NONE = Optional()


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: what `type(x)` says."""

    name: str


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """Since 1970."""

    nanoseconds: int
    offset: int = field(default=0, compare=False)
    """Seconds east of UTC in which it was written."""


class _Unreadable:
    """What Kubernetes has left of a quantity or version in an optional that it has read from a variable: an error."""


UNREADABLE = _Unreadable()


class Keyed(dict[Any, Any]):
    """A map of an expression. Its keys are stored so that true is not 1; iterate with `keys_of`."""

    __slots__ = ()


class _Key:
    """A key that Python would take for another: true for 1, or a list, which it does not take at all."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass(frozen=True, slots=True)
class _DoubleKey:
    """A double as a key. An integer does not find it, and it finds an integer only where that is looked for."""

    value: float


_TRUE, _FALSE = _Key(True), _Key(False)  # noqa: FBT003  (they are these)


def stored(key: Any) -> Any:
    """How a key is stored in a map. A list or map is a key that nothing finds."""
    if key is True or key is False:
        return _TRUE if key else _FALSE
    if type(key) is float:
        return _DoubleKey(key)
    return _Key(key) if isinstance(key, list | dict) else key


def read(key: Any) -> Any:
    """A stored key as the value that it is."""
    return key.value if isinstance(key, _Key | _DoubleKey) else key


def keys_of(map_: dict[Any, Any]) -> Iterator[Any]:
    return map(read, map_)
