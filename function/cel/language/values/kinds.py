"""The values of CEL that have no type in Python. The others are bool, int, float, str, bytes, None, list and dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, overload

from function.cel.language.errors import Failure
from function.cel.language.limits.step_budget import spend
from function.cel.language.values.opaque import OPAQUE

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1


class Uint(int):
    """An unsigned integer of 64 bits: a type of its own, equal to any number of the same value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Optional:
    """An optional: a value, or none."""

    content: tuple[Any, ...] = ()

    @property
    def has_value(self) -> bool:
        return bool(self.content)

    @property
    def value(self) -> Any:
        """The value, where it has one. Failure where Kubernetes cannot read it."""
        [content] = self.content
        if content is UNREADABLE:
            raise Failure("Kubernetes cannot read a quantity or version from an optional in a variable")
        return content


NONE = Optional()


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: the result of `type(x)`."""

    name: str


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A length of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment, from the first of 1970."""

    nanoseconds: int
    offset: int = field(default=0, compare=False)
    """Seconds east of UTC in which it was written: a `Zone`, unless it is UTC."""


class Zone(int):
    """An offset that was written out. Two times of one moment are one key of a map only if they share this object."""

    __slots__ = ()


class _Unreadable:
    """The content of an optional in a variable, where Kubernetes cannot unpack it: an error takes its place."""


UNREADABLE = _Unreadable()


class DefaultMap(dict[Any, Any]):
    """A map with a value for each key that it lacks."""

    __slots__ = ()

    def missing(self, key: Any) -> Any:
        raise NotImplementedError


class CelMap(dict[Any, Any]):
    """A map that an expression makes. Its keys are those of `to_key`, so that true is not 1; iterate with `keys_of`."""

    __slots__ = ()


class ConcatList(list[Any]):
    """A concatenation of two lists, which is never written out: a few sums of sums would fill the memory.

    The list that it inherits from stays empty.
    """

    __slots__ = ("_left", "_right", "_size")

    def __init__(self, left: list[Any], right: list[Any]) -> None:
        super().__init__()
        self._left, self._right = left, right
        self._size = len(left) + len(right)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        spend(self._size)
        waiting: list[list[Any]] = [self]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ConcatList):
                waiting += (part._right, part._left)
            else:
                yield from part

    @overload
    def __getitem__(self, at: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self._size))]
        index = int(at) + (self._size if int(at) < 0 else 0)
        part: list[Any] = self
        while isinstance(part, ConcatList):
            behind = index - len(part._left)
            part, index = (part._left, index) if behind < 0 else (part._right, behind)
        return part[index]


NOTHING_PUBLISHED: dict[Any, Any] = {}
"""The value of a domain that a device does not publish."""


class FreshMap(dict[Any, Any]):
    """A map that a device publishes, as one read of it."""

    __slots__ = ()


class _Key:
    """A key that only itself finds: a list, a map, an amount. Also a bool, which Python takes for a number."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class _Nowhere(_Key):
    """NaN as a key, which nothing finds, not even itself."""

    __slots__ = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class NumberKey:
    """A double or unsigned integer as a key. An equal number of another type finds it, but is another key."""

    value: float | Uint
    kind: type = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", type(self.value))


@dataclass(frozen=True, slots=True)
class _Moment:
    """A time as a key, with its zone."""

    value: Timestamp
    zone: int = field(init=False)

    def __post_init__(self) -> None:
        zone = self.value.offset
        object.__setattr__(self, "zone", id(zone) if type(zone) is Zone else 0)


_TRUE, _FALSE = _Key(True), _Key(False)  # noqa: FBT003  (the values)


_STORED = (_Key, NumberKey, _Moment)


def to_key(key: Any) -> Any:
    """A value as a key of a `CelMap`."""
    if key is True or key is False:
        return _TRUE if key else _FALSE
    kind = type(key)
    if kind in (str, int, type(None), Duration, TypeValue) or (kind in OPAQUE and OPAQUE[kind].is_key):
        return key
    if kind is Timestamp:
        return _Moment(key)
    if kind is float and key != key:  # noqa: PLR0124  (not a number)
        return _Nowhere(key)
    return NumberKey(key) if kind in (float, Uint) else _Key(key)


def from_key(key: Any) -> Any:
    """The value that is a key of a `CelMap`."""
    return key.value if type(key) is not str and isinstance(key, _STORED) else key


def keys_of(map_: dict[Any, Any]) -> Iterator[Any]:
    """The keys of a map, as values."""
    return map(from_key, map_)
