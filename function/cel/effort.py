"""How much an evaluation may do beside what Kubernetes' cost counts: it prices a comparison of lists by their length,
and a text by what it is made from, however much is in the one and comes out of the other.
"""

from __future__ import annotations

from threading import local
from typing import Any

from function.cel.code import Frame, Run
from function.cel.problem import Abort
from function.cel.tree import Call, Fold, ListLiteral, MapLiteral, Node, below

MOST = 500_000
"""Steps of an evaluation: an element that is looked at, or so many characters that are written."""
CHARACTERS = 20
_GROWING = frozenset({"_+_", "replace", "join", "format", "split", "findAll", "lists.range", "strings.quote"})


class _Left(local):
    steps = MOST


_left = _Left()


def spend(steps: int) -> None:
    """Abort when there are none left."""
    _left.steps -= steps
    if _left.steps < 0:
        raise Abort("the evaluation builds or compares more than a selector may here")


def write(characters: int) -> None:
    """To be called before a text of that length is made."""
    spend(characters // CHARACTERS)


def begin() -> None:
    _left.steps = MOST


def bounded(run: Run, root: Node) -> Run:
    """A program whose steps are counted from its start, where it has any that count."""
    if not any(map(_grows, below(root))):
        return run

    def call(frame: Frame) -> Any:
        begin()
        return run(frame)

    return call


def _grows(node: Node) -> bool:
    return isinstance(node, ListLiteral | MapLiteral | Fold) or (isinstance(node, Call) and node.function in _GROWING)
