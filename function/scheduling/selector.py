"""A device selector, as the scheduler uses it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol


class Selector(Protocol):
    """A compiled device selector. Selectors of equal text must be equal."""

    @property
    def text(self) -> str:
        """The selector as the user wrote it."""
        ...

    @property
    def price(self) -> int:
        """The most that one evaluation costs, in units of a budget."""
        ...

    def judge(self, published: Hashable, /) -> bool | str:
        """Return whether a device (`Device.published`) satisfies it, or the error of the evaluation."""
