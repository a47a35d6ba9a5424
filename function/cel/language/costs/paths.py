"""Paths: how a value is reached from a variable, for the estimate to look up its declared size.

Source: github.com/google/cel-go v0.26, checker/cost.go.
"""

from __future__ import annotations


class Path:
    """How a value is reached from a variable.

    Paths share memory with those that they extend, as slices of Go do: a path that is extended a second time can change
    the end of its first extension. The estimate of Kubernetes depends on that.
    """

    __slots__ = ("_length", "_shared")

    def __init__(self, shared: list[str], length: int) -> None:
        self._shared, self._length = shared, length

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._shared[: self._length])

    def plus(self, name: str) -> Path:
        if self._length < len(self._shared):
            self._shared[self._length] = name
            return Path(self._shared, self._length + 1)
        room = max(1, 2 * self._length) - self._length - 1
        return Path([*self._shared, name, *[""] * room], self._length + 1)


def path_to(variable: str) -> Path:
    return Path([variable], 1)


NO_PATH = Path([], 0)
