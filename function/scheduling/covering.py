"""Decides whether a number of pods can block all of a number of nodes at once: bin covering, with limits.

Terms:

- A *lot* is a number of nodes that are blocked alike. Pods come in *groups* of kinds that are counted as one (see
  `groups.py`).
- A *pattern* is a smallest set of pods that blocks a node of a lot: without any of its pods the node is not blocked.
- A *cover* is a pattern for each node, with all pods distinct.

Phases of `Covering.can_block_all`, each of which may decide:

1. Bound the nodes that all pods together can block, by sums. Most pools are found safe here.
2. List the patterns of each lot. If there are many groups, these are made fewer and coarser before.
3. Solve the linear relaxation: how many nodes are blocked if patterns may be taken in parts (see `relaxation.py`). If
   these are too few, there is no cover.
4. Round the solution down, and search for patterns for the nodes that are left. If there are some, there is a cover.
5. Search for a cover depth first, pattern by pattern. A branch is cut by the prices of the relaxation: they say what
   each pattern and each pod that is left over costs, and what may be lost in all.

Deliberately coarse: patterns and steps are limited. At a limit there may be a cover.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from function.scheduling.blocking import Blocking, Row
from function.scheduling.budget import StepLimit
from function.scheduling.groups import Groups, Lot, coarsened
from function.scheduling.relaxation import Relaxed, relaxed

_MOST_PATTERNS = 300
"""Patterns of all lots. A node with 16 devices has some dozens."""
_MOST_TOGETHER = 100
"""Pods of a pattern. More are possible only where pods without devices share cpu or memory."""
_FEW_STEPS = 500
"""Steps of the search after rounding."""
_SMALL = 64
"""Bounds up to which sums are listed one by one."""
_PRECISION = 1 << 20
"""Parts of a node in which shares of it are added up."""


class Pattern(NamedTuple):
    lot: int
    pods: tuple[tuple[int, int], ...]
    """Pairs of a group and the number of its pods."""


def can_block_all(groups: Groups, counts: Sequence[int], limit: StepLimit) -> bool:
    """Whether pods, of which there are `counts` of each kind, may block all nodes of all lots.

    True as well if there is no node, or if the limit is reached. Raises deadline.Exceeded.
    """
    if not groups.lots:
        return True
    own = groups.counts(counts)
    limit.took(len(own) * len(groups.lots) // 8)
    if _is_bounded(groups.lots, own):
        return False
    few = coarsened(groups)
    own = few.counts(counts)
    patterns = _all_patterns(few.lots, own, limit)
    return patterns is None or _can_cover([nodes for _, nodes in few.lots], own, patterns, limit)


# Bounds by sums


def _is_bounded(lots: Sequence[Lot], counts: Sequence[int]) -> bool:
    """Whether sums show that not all nodes can be blocked."""
    if any(_most_blocked(blocking, counts) < nodes for blocking, nodes in lots):
        return True
    worth = sorted((_shares(blocking, len(counts)), nodes) for blocking, nodes in lots)
    shares, total = [0] * len(counts), 0
    for more, nodes in worth:
        shares, total = list(map(max, shares, more)), total + nodes
        if sum(map(int.__mul__, shares, counts)) < total * _PRECISION:
            return True
    return False


def _shares(blocking: Blocking, kinds: int) -> list[int]:
    """Return the most that a pod of each kind does to block a node. A node is blocked by shares of 1 or more in all."""
    shares = [0] * kinds
    for way in blocking.ways:
        row = way[0]
        shares = [max(a, -(-size * _PRECISION // row.bound)) for a, size in zip(shares, row.sizes, strict=True)]
    return shares


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
    needed = _least_sum(sizes, row.bound, min(most, default=None))
    return alone if needed is None else alone + sum(row.sizes[kind] * counts[kind] for kind in small) // needed


def _least_sum(sizes: Sequence[int], least: int, most: int | None) -> int | None:
    """Return the least sum of sizes, each as often as one likes, from `least` to `most`; None if there is none."""
    step = math.gcd(*sizes)
    units = -(-least // step)
    if units <= _SMALL:
        sums = _sums(tuple(sorted({size // step for size in sizes})), 2 * units) >> units
        units += (sums & -sums).bit_length() - 1
    return units * step if most is None or units * step <= most else None


@lru_cache(maxsize=1024)
def _sums(sizes: tuple[int, ...], most: int) -> int:
    """Return the sums of sizes up to `most`, each size as often as one likes, as a bit mask."""
    found, mask = 1, (2 << most) - 1
    for size in sizes:
        while (more := (found | found << size) & mask) != found:
            found = more
    return found


# Patterns


def _all_patterns(lots: Sequence[Lot], counts: Sequence[int], limit: StepLimit) -> list[Pattern] | None:
    """Return the patterns of all lots, those with the first groups first; None if there are too many."""
    found: list[Pattern] = []
    for lot, (blocking, _) in enumerate(lots):
        patterns = _Patterns(blocking, counts, limit)
        for pods in patterns.listed():
            found.append(Pattern(lot, pods))
            if len(found) > _MOST_PATTERNS:
                return None
        if not patterns.complete:
            return None
    return sorted(found, key=lambda p: (p.pods[0][0], -p.pods[0][1], p))


class _Patterns:
    """Lists the patterns of a lot, by adding pod after pod."""

    def __init__(self, blocking: Blocking, counts: Sequence[int], limit: StepLimit) -> None:
        self.counts = counts
        self.limit = limit
        self.bounds = [row.bound for row in blocking.limits]
        self.limits = [[row.sizes[kind] for row in blocking.limits] for kind in range(len(counts))]
        self.ways = [[row.bound for row in way] for way in blocking.ways]
        self.sizes = [[[row.sizes[kind] for row in way] for way in blocking.ways] for kind in range(len(counts))]
        self.chosen = [0] * len(counts)
        self.complete = True
        """Whether no limit was reached."""

    def listed(self) -> Iterator[tuple[tuple[int, int], ...]]:
        return self._extended(0, self.bounds, self.ways)

    def _extended(
        self, first: int, room: Sequence[int], lacking: Sequence[Sequence[int]]
    ) -> Iterator[tuple[tuple[int, int], ...]]:
        """Yield the patterns that have more pods of the groups from `first` on than those that are chosen.

        `room` is what is left up to each limit, and `lacking` what each row of each way lacks.
        """
        if sum(self.chosen) == _MOST_TOGETHER:
            self.complete = False
        for kind in range(first, len(self.counts)):
            if self.chosen[kind] == self.counts[kind]:
                continue
            if not self.complete or not self.limit.step():
                self.complete = False
                return
            less = [a - b for a, b in zip(room, self.limits[kind], strict=True)]
            if min(less, default=0) < 0:
                continue
            still = [list(map(int.__sub__, way, more)) for way, more in zip(lacking, self.sizes[kind], strict=True)]
            self.chosen[kind] += 1
            if not any(max(way) <= 0 for way in still):
                yield from self._extended(kind, less, still)
            elif self._is_smallest(still):
                yield tuple((k, n) for k, n in enumerate(self.chosen) if n)
            self.chosen[kind] -= 1

    def _is_smallest(self, lacking: Sequence[Sequence[int]]) -> bool:
        return not any(
            n and any(max(map(int.__add__, way, less)) <= 0 for way, less in zip(lacking, sizes, strict=True))
            for n, sizes in zip(self.chosen, self.sizes, strict=True)
        )


# Covers


def _can_cover(nodes: Sequence[int], counts: Sequence[int], patterns: Sequence[Pattern], limit: StepLimit) -> bool:
    rows = [(*p.pods, (len(counts) + p.lot, 1)) for p in patterns]
    found = relaxed(rows, (*counts, *nodes), limit)
    if found is None:
        return True
    if found.value < sum(nodes) * found.scale:
        return False
    few = StepLimit(_FEW_STEPS)
    rounded = _Search(patterns, found, few, len(counts)).covers(*_rest(found, patterns, counts, nodes))
    limit.took(few.steps)
    return (rounded and not few.exhausted) or _Search(patterns, found, limit, len(counts)).covers(counts, nodes)


def _rest(
    found: Relaxed, patterns: Sequence[Pattern], counts: Sequence[int], nodes: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the pods and nodes that are left by the relaxation, rounded down."""
    left, open_ = list(counts), list(nodes)
    for position, times in found.taken:
        whole = times // found.scale
        open_[patterns[position].lot] -= whole
        for kind, n in patterns[position].pods:
            left[kind] -= n * whole
    return left, open_


@dataclass(slots=True)
class _Search:
    """Searches for a cover, pattern by pattern, each as often as it goes or less."""

    patterns: Sequence[Pattern]
    relaxed: Relaxed
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
