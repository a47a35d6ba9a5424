"""Decides whether a number of pods can block all of a number of nodes at once: bin covering, with limits.

Terms:

- A *lot* is a number of nodes that are blocked alike (see `blocking.py`).
- A *pattern* is a smallest set of pods that blocks a node of a lot: without any of its pods the node is not blocked.
- A *cover* is a pattern for each node, with all pods distinct.

Phases of `can_block_all`, each of which may decide:

1. Group the kinds of pods that are alike for all lots. Drop those that help to block none.
2. Bound the nodes of each lot that all pods together can block, by sums. Most pools are found safe here.
3. List the patterns of each lot.
4. Solve the linear relaxation: how many nodes are blocked if patterns may be taken in parts. If these are too few,
   there is no cover.
5. Round the solution down, and search for patterns for the nodes that are left. If there are some, there is a cover.
6. Search for a cover depth first, pattern by pattern. A branch is cut by the prices of the relaxation: they say what
   each pattern and each pod that is left over costs, and what may be lost in all.

The relaxation is solved in whole numbers, so that no rounding makes it too hopeful.

Deliberately coarse: steps are limited. At the limit there may be a cover.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from function.scheduling.blocking import Blocking, Row
from function.scheduling.budget import StepLimit

Lot: TypeAlias = tuple[Blocking, int]
"""What blocks a node, and how many nodes there are of that."""

_MOST_PATTERNS = 500
"""Patterns of all lots. A node with 16 devices has some dozens."""
_FEW_STEPS = 500
"""Steps of the search after rounding."""
_SMALL = 64
"""Bounds up to which sums are listed one by one."""


class _Pattern(NamedTuple):
    lot: int
    pods: tuple[tuple[int, int], ...]
    """Pairs of a kind and the number of its pods."""


def can_block_all(lots: Sequence[Lot], counts: Sequence[int], limit: StepLimit) -> bool:
    """Whether pods, of which there are `counts` of each kind, may block all nodes.

    True as well if there is no node, or if the limit is reached. Raises deadline.Exceeded.
    """
    if not sum(nodes for _, nodes in lots):
        return True
    lots, counts = _grouped(lots, counts)
    if any(_most_blocked(blocking, counts) < nodes for blocking, nodes in lots):
        return False
    patterns = _all_patterns(lots, counts, limit)
    return patterns is None or _can_cover([nodes for _, nodes in lots], counts, patterns, limit)


# Kinds that are alike


def _grouped(lots: Sequence[Lot], counts: Sequence[int]) -> tuple[list[Lot], list[int]]:
    """Return the lots and counts with one kind for all that are alike, the largest first."""
    reached = [row for blocking, _ in lots for way in blocking.ways for row in way]
    limits = [row for blocking, _ in lots for row in blocking.limits]
    alike: dict[tuple[int, ...], list[int]] = {}
    for kind, count in enumerate(counts):
        if count > 0 and any(row.sizes[kind] for row in reached):
            alike.setdefault(tuple(row.sizes[kind] for row in (*reached, *limits)), []).append(kind)
    groups = sorted(alike.values(), key=lambda kinds: (-max(row.sizes[kinds[0]] / row.bound for row in reached), kinds))
    firsts = [kinds[0] for kinds in groups]
    merged: dict[Blocking, int] = {}
    for blocking, nodes in lots:
        fewer = Blocking(
            tuple(_of(row, firsts) for row in blocking.limits),
            tuple(tuple(_of(row, firsts) for row in way) for way in blocking.ways),
        )
        merged[fewer] = merged.get(fewer, 0) + nodes
    return list(merged.items()), [sum(counts[kind] for kind in kinds) for kinds in groups]


def _of(row: Row, kinds: Sequence[int]) -> Row:
    return Row(tuple(row.sizes[kind] for kind in kinds), row.bound)


# Bounds by sums


def _most_blocked(blocking: Blocking, counts: Sequence[int]) -> float:
    """Return a bound on the nodes that can be blocked: those that each way can block, together."""
    fitting = [
        count if all(row.sizes[kind] <= row.bound for row in blocking.limits) else 0
        for kind, count in enumerate(counts)
    ]
    return sum(min(_most_reached(row, fitting, blocking.limits) for row in way) for way in blocking.ways)


def _most_reached(row: Row, counts: Sequence[int], limits: Sequence[Row]) -> float:
    """Return a bound on the nodes on which a row can be reached.

    A pod as large as the bound reaches it alone. Of the smaller ones a node needs the least sum that they can make.
    """
    alone = sum(count for size, count in zip(row.sizes, counts, strict=True) if size >= row.bound)
    small = [kind for kind, size in enumerate(row.sizes) if 0 < size < row.bound and counts[kind]]
    if not small:
        return alone
    sizes = [row.sizes[kind] for kind in small]
    most = [limit.bound for limit in limits if [limit.sizes[kind] for kind in small] == sizes]
    needed = _least_sum(set(sizes), row.bound, min(most, default=None))
    return alone if needed is None else alone + sum(row.sizes[kind] * counts[kind] for kind in small) // needed


def _least_sum(sizes: set[int], least: int, most: int | None) -> int | None:
    """Return the least sum of sizes, each as often as one likes, from `least` to `most`; None if there is none."""
    step = math.gcd(*sizes)
    found = -(-least // step) * step
    if found // step <= _SMALL:
        reached = {0}
        for total in range(step, found + max(sizes) + 1, step):
            if any(total - size in reached for size in sizes):
                reached.add(total)
                if total >= least:
                    found = total
                    break
    return found if most is None or found <= most else None


# Patterns


def _all_patterns(lots: Sequence[Lot], counts: Sequence[int], limit: StepLimit) -> list[_Pattern] | None:
    """Return the patterns of all lots, those with the largest kinds first; None if there are too many."""
    found: list[_Pattern] = []
    for lot, (blocking, _) in enumerate(lots):
        for pods in _patterns(blocking, counts, limit):
            found.append(_Pattern(lot, pods))
            if len(found) > _MOST_PATTERNS:
                return None
    return None if limit.exhausted else sorted(found, key=lambda p: (p.pods[0][0], [-n for _, n in p.pods[:1]], p))


def _patterns(blocking: Blocking, counts: Sequence[int], limit: StepLimit) -> Iterator[tuple[tuple[int, int], ...]]:
    chosen = [0] * len(counts)

    def extended(first: int) -> Iterator[tuple[tuple[int, int], ...]]:
        for kind in range(first, len(counts)):
            if chosen[kind] == counts[kind]:
                continue
            if not limit.step():
                return
            chosen[kind] += 1
            if _is_within_limits(blocking, chosen):
                if not _blocks(blocking, chosen):
                    yield from extended(kind)
                elif _is_smallest(blocking, chosen):
                    yield tuple((k, n) for k, n in enumerate(chosen) if n)
            chosen[kind] -= 1

    return extended(0)


def _sum(row: Row, chosen: Sequence[int]) -> int:
    return sum(size * n for size, n in zip(row.sizes, chosen, strict=True) if n)


def _is_within_limits(blocking: Blocking, chosen: Sequence[int]) -> bool:
    return all(_sum(row, chosen) <= row.bound for row in blocking.limits)


def _blocks(blocking: Blocking, chosen: Sequence[int]) -> bool:
    return any(all(_sum(row, chosen) >= row.bound for row in way) for way in blocking.ways)


def _is_smallest(blocking: Blocking, chosen: list[int]) -> bool:
    for kind, n in enumerate(chosen):
        if n:
            chosen[kind] -= 1
            blocks = _blocks(blocking, chosen)
            chosen[kind] += 1
            if blocks:
                return False
    return True


# Covers


def _can_cover(nodes: Sequence[int], counts: Sequence[int], patterns: Sequence[_Pattern], limit: StepLimit) -> bool:
    relaxed = _relaxed(nodes, counts, patterns, limit)
    if relaxed is None:
        return True
    if relaxed.value < sum(nodes) * relaxed.scale:
        return False
    few = StepLimit(_FEW_STEPS)
    rounded = _Search(patterns, relaxed, few, len(counts)).covers(*_rest(relaxed, patterns, counts, nodes))
    limit.took(few.steps)
    return (rounded and not few.exhausted) or _Search(patterns, relaxed, limit, len(counts)).covers(counts, nodes)


def _rest(
    relaxed: _Relaxed, patterns: Sequence[_Pattern], counts: Sequence[int], nodes: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the pods and nodes that are left by the relaxation, rounded down."""
    left, open_ = list(counts), list(nodes)
    for position, times in relaxed.taken:
        whole = times // relaxed.scale
        open_[patterns[position].lot] -= whole
        for kind, n in patterns[position].pods:
            left[kind] -= n * whole
    return left, open_


class _Relaxed(NamedTuple):
    """The solution of the linear relaxation. All numbers are multiples of 1 / `scale`."""

    scale: int
    value: int
    """The nodes that are blocked."""
    taken: list[tuple[int, int]]
    """Pairs of a pattern and how often it is taken."""
    prices: list[int]
    """What a pod of each kind, and then a node of each lot, is worth: its dual price."""


def _relaxed(
    nodes: Sequence[int], counts: Sequence[int], patterns: Sequence[_Pattern], limit: StepLimit
) -> _Relaxed | None:
    """Maximise the nodes that are blocked, by the simplex method in whole numbers (Edmonds); None at the limit.

    A row for each kind and each lot has a column for each pattern and each row, and what there is at most.
    """
    rows, width = len(counts) + len(nodes), len(patterns)
    table = [[0] * width + [int(i == j) for j in range(rows)] + [most] for i, most in enumerate([*counts, *nodes])]
    for j, pattern in enumerate(patterns):
        table[len(counts) + pattern.lot][j] = 1
        for kind, n in pattern.pods:
            table[kind][j] = n
    gains = [-1] * width + [0] * (rows + 1)
    basis, scale = list(range(width, width + rows)), 1
    while (least := min(gains[:-1])) < 0:
        limit.took(rows * (width + rows) // 16)
        if not limit.step():
            return None
        column = gains.index(least)
        row = min(
            (Fraction(cells[-1], cells[column]), basis[i], i) for i, cells in enumerate(table) if cells[column] > 0
        )[-1]
        pivot, at = table[row], table[row][column]
        for i in range(rows):
            if i != row:
                table[i] = _eliminated(table[i], pivot, at, table[i][column], scale)
        gains = _eliminated(gains, pivot, at, gains[column], scale)
        basis[row], scale = column, at
    taken = [(j, table[i][-1]) for i, j in enumerate(basis) if j < width]
    return _Relaxed(scale, gains[-1], taken, gains[width : width + rows])


def _eliminated(row: list[int], pivot: list[int], at: int, factor: int, scale: int) -> list[int]:
    if not factor:
        return row if at == scale else [a * at // scale for a in row]
    return [(a * at - factor * b) // scale for a, b in zip(row, pivot, strict=True)]


@dataclass(slots=True)
class _Search:
    """Searches for a cover, pattern by pattern, each as often as it goes or less."""

    patterns: Sequence[_Pattern]
    relaxed: _Relaxed
    limit: StepLimit
    kinds: int
    costs: list[int] = field(init=False)
    """What each pattern loses: its pods and its node are worth more than a blocked node."""
    last: list[list[int]] = field(init=False)
    """For each pattern, the kinds of pods that no later pattern has."""
    failed: set[tuple[int, tuple[int, ...], tuple[int, ...]]] = field(default_factory=set)
    """Patterns from which on no cover was found, with what was left of pods and nodes."""

    def __post_init__(self) -> None:
        scale, prices = self.relaxed.scale, self.relaxed.prices
        self.costs = [
            prices[self.kinds + p.lot] + sum(prices[kind] * n for kind, n in p.pods) - scale for p in self.patterns
        ]
        lasts = {kind: i for i, p in enumerate(self.patterns) for kind, _ in p.pods}
        self.last = [[kind for kind, at in lasts.items() if at == i] for i in range(len(self.patterns))]

    def covers(self, counts: Sequence[int], nodes: Sequence[int]) -> bool:
        """Whether there is a cover. True at the limit."""
        used = {kind for p in self.patterns for kind, _ in p.pods}
        left = [n if kind in used else 0 for kind, n in enumerate(counts)]
        worth = sum(price * n for price, n in zip(self.relaxed.prices, (*left, *nodes), strict=True))
        return self._from(0, left, list(nodes), worth - self.relaxed.scale * sum(nodes))

    def _from(self, i: int, counts: list[int], nodes: list[int], slack: int) -> bool:
        """Whether there is a cover by the patterns from one on, with losses of `slack` at most."""
        if not any(nodes):
            return True
        if slack < 0 or i == len(self.patterns):
            return False
        key = i, tuple(counts), tuple(nodes)
        if key in self.failed:
            return False
        for times in range(self._most(i, counts, nodes, slack), -1, -1):
            if not self.limit.step() or self._from(i + 1, *self._after(i, times, counts, nodes, slack)):
                return True
        self.failed.add(key)
        return False

    def _most(self, i: int, counts: list[int], nodes: list[int], slack: int) -> int:
        pattern, cost = self.patterns[i], self.costs[i]
        most = min(nodes[pattern.lot], *(counts[kind] // n for kind, n in pattern.pods))
        return min(most, slack // cost) if cost > 0 else most

    def _after(
        self, i: int, times: int, counts: list[int], nodes: list[int], slack: int
    ) -> tuple[list[int], list[int], int]:
        """Return what is left once a pattern is taken a number of times and looked at no more."""
        pattern, prices = self.patterns[i], self.relaxed.prices
        counts, nodes = list(counts), list(nodes)
        nodes[pattern.lot] -= times
        for kind, n in pattern.pods:
            counts[kind] -= n * times
        return counts, nodes, slack - self.costs[i] * times - sum(prices[kind] * counts[kind] for kind in self.last[i])
