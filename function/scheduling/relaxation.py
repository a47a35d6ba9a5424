"""Solves the linear relaxation of a cover in whole numbers, so that no rounding makes an answer too hopeful.

The relaxation allows patterns to be taken in parts. It asks for the most nodes that patterns can block:

- Each pattern blocks one node.
- The patterns together have no more pods of a kind, and no more nodes of a lot, than there are. These are the *rows*.

The *price* of a row is its dual value: what one pod or one node more would add. Each pattern is worth at least one node
at these prices, and the pods and nodes that there are are worth exactly the optimum. So the prices bound any cover.

The method is the primal simplex method with Edmonds' pivots: all numbers share one denominator, the determinant of the
basis, and each division is exact. It starts from the empty cover. There are few rows, since like kinds and lots are
merged before.

Deliberately coarse: steps are limited. Ties may make the method run in circles, in theory; the limit ends that as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from function.scheduling.budget import StepLimit

_CELLS = 32
"""Cells of the table that are changed in one step."""


class Relaxed(NamedTuple):
    """The solution of a relaxation. All numbers are multiples of 1 / `scale`."""

    scale: int
    value: int
    """The nodes that are blocked."""
    taken: tuple[tuple[int, int], ...]
    """Pairs of a pattern and how often it is taken."""
    prices: tuple[int, ...]
    """The price of each row."""


def relaxed(patterns: Sequence[Sequence[tuple[int, int]]], most: Sequence[int], limit: StepLimit) -> Relaxed | None:
    """Return the solution, or None at the limit.

    A pattern has pairs of a row and how much it takes of it. `most` is what there is of each row. Raises
    deadline.Exceeded.
    """
    width, rows = len(patterns), len(most)
    table = [[0] * width + [int(i == j) for j in range(rows)] + [has] for i, has in enumerate(most)]
    for j, pattern in enumerate(patterns):
        for row, n in pattern:
            table[row][j] = n
    gains = [-1] * width + [0] * (rows + 1)
    basis, scale = list(range(width, width + rows)), 1
    while (least := min(gains[:-1])) < 0:
        limit.took(rows * (width + rows) // _CELLS)
        if not limit.step():
            return None
        column = gains.index(least)
        row = _leaving(table, column, basis)
        pivot = table[row]
        at = pivot[column]
        for i, cells in enumerate(table):
            if i != row:
                table[i] = _eliminated(cells, pivot, at, cells[column], scale)
        gains = _eliminated(gains, pivot, at, least, scale)
        basis[row], scale = column, at
    taken = tuple((j, cells[-1]) for j, cells in zip(basis, table, strict=True) if j < width)
    return Relaxed(scale, gains[-1], taken, tuple(gains[width : width + rows]))


def _leaving(table: Sequence[Sequence[int]], column: int, basis: Sequence[int]) -> int:
    """Return the row that is used up first as the column is taken. Each pattern takes something of some row."""
    used = [(Fraction(cells[-1], cells[column]), basis[i], i) for i, cells in enumerate(table) if cells[column] > 0]
    return min(used)[-1]


def _eliminated(cells: list[int], pivot: Sequence[int], at: int, factor: int, scale: int) -> list[int]:
    if not factor:
        return cells if at == scale else [a * at // scale for a in cells]
    return [(a * at - factor * b) // scale for a, b in zip(cells, pivot, strict=True)]
