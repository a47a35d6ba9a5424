"""A mapping that computes each value on first access: most of a large fleet is never read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from function.core import deadline

K = TypeVar("K")
V = TypeVar("V")


class LazyDict(Mapping[K, V]):
    """A mapping of known keys, in order. It calls `make` once for each key that is read.

    `make` must return the same value for the same key, and never None.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, keys: Iterable[K], make: Callable[[K], V]) -> None:
        self._made: dict[K, V | None] = dict.fromkeys(keys)
        self._make = make

    def __getitem__(self, key: K) -> V:
        value = self._made[key]
        if value is None:
            deadline.check()
            value = self._made[key] = self._make(key)
        return value

    @property
    def made(self) -> int:
        """How many values were computed so far."""
        return sum(value is not None for value in self._made.values())

    def __contains__(self, key: object) -> bool:
        return key in self._made

    def __iter__(self) -> Iterator[K]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)
