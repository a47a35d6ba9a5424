"""The step budget: bounds the work of an evaluation that Kubernetes' cost model undercounts.

Code that looks at many elements or writes a long text calls `spend` or `write` before it does so. The budget belongs to
the thread, so that a value's own methods (an iterator, say) can spend without being handed anything. Outside of an
evaluation nothing is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from function.cel.language.errors import Abort
from function.cel.language.limits import STEPS

_WRITTEN = 20
"""Characters that one step writes."""


class _Budget(local):
    steps: float = math.inf


_left = _Budget()


def spend(steps: int) -> None:
    """Take steps from the budget, before they are done. Abort when there are none left."""
    _left.steps -= steps
    if _left.steps < 0:
        raise Abort("the evaluation builds or compares more than a selector may here")


def write(characters: int) -> None:
    """Take what writing a text of that length needs. Abort when there is not that much left."""
    spend(characters // _WRITTEN)


@contextmanager
def limited(steps: int = STEPS) -> Iterator[None]:
    """Limit what is done inside to so many steps."""
    _left.steps = steps
    try:
        yield
    finally:
        _left.steps = math.inf


def with_budget(run: Callable[[Any], Any], steps: int) -> Callable[[Any], Any]:
    """A program whose evaluations have so many steps each. Written out, not as `limited`: this is the hot path."""

    def call(frame: Any) -> Any:
        _left.steps = steps
        try:
            return run(frame)
        finally:
            _left.steps = math.inf

    return call
