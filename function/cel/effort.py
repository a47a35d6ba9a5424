"""How much an evaluation may do beside what Kubernetes' cost counts: it prices a comparison of lists by their length,
and a text by what it is made from, however much is in the one and comes out of the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

from function.cel.problem import Abort

MOST = 250_000
"""Steps of an evaluation: an element that is looked at, or so many characters that are written."""
FEW = 25_000
"""Steps of an evaluation that others wait for."""
CHARACTERS = 20


class _Left(local):
    steps: float = math.inf
    """Outside of an evaluation nothing is counted."""


_left = _Left()


def spend(steps: int) -> None:
    """Abort when there are none left."""
    _left.steps -= steps
    if _left.steps < 0:
        raise Abort("the evaluation builds or compares more than a selector may here")


def write(characters: int) -> None:
    """To be called before a text of that length is made."""
    spend(characters // CHARACTERS)


def begin(steps: int) -> None:
    """From here on so many may be taken."""
    _left.steps = steps


def end() -> None:
    _left.steps = math.inf


@contextmanager
def counted(steps: int = MOST) -> Iterator[None]:
    """What is done in it may take so many steps."""
    begin(steps)
    try:
        yield
    finally:
        end()
