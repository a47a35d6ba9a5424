"""Go's sort. It is not stable, so the order of elements that compare as equal depends on the algorithm.

A pattern-defeating quicksort: insertion sort for short ranges, pivots by medians, heap sort after bad pivots. Source:
Go 1.26, sort.Slice (sort/zsortfunc.go).
"""

from __future__ import annotations

from collections.abc import Callable

SHORT = 12
"""Up to so many elements, it is an insertion sort, which is stable."""
_LONG = 50
_PATTERN = 8
_SHIFTS, _SWAPS = 5, 12
_WORD = 2**64 - 1


def positions(count: int, less: Callable[[int, int], bool]) -> list[int]:
    """The original positions of the elements, in order.

    Arguments: less: whether an element is less than another, both by their original positions.
    """
    sorting = _Sorting(count, less)
    sorting.sort(0, count, count.bit_length())
    return sorting.at


class _Sorting:
    def __init__(self, count: int, less: Callable[[int, int], bool]) -> None:
        self.at = list(range(count))
        self._less = less

    def _is_less(self, i: int, j: int) -> bool:
        return self._less(self.at[i], self.at[j])

    def _swap(self, i: int, j: int) -> None:
        self.at[i], self.at[j] = self.at[j], self.at[i]

    def sort(self, low: int, high: int, bad: int) -> None:
        """Sort from `low` to before `high`. After `bad` more unbalanced partitions it is a heap sort."""
        balanced = partitioned = True
        while high - low > SHORT:
            length = high - low
            if not bad:
                self._heap(low, high)
                return
            if not balanced:
                self._scatter(low, length)
                bad -= 1
            pivot, rising = self._pivot(low, high)
            if balanced and partitioned and rising and self._nearly(low, high):
                return
            if low > 0 and not self._is_less(low - 1, pivot):
                low = self._skip_equal(low, high, pivot)
                continue
            middle, partitioned = self._partition(low, high, pivot)
            left, right = middle - low, high - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(low, middle, bad)
                low = middle + 1
            else:
                self.sort(middle + 1, high, bad)
                high = middle
        self._insert(low, high)

    def _insert(self, low: int, high: int) -> None:
        for i in range(low + 1, high):
            self._sink(i, low)

    def _sink(self, i: int, low: int) -> None:
        """Move an element to the left, while it is less than the one before it."""
        while i > low and self._is_less(i, i - 1):
            self._swap(i, i - 1)
            i -= 1

    # Pivots

    def _pivot(self, low: int, high: int) -> tuple[int, bool]:
        """The place of a pivot, and whether the elements seem sorted. Where they seem to fall, they are reversed."""
        self._swaps = 0
        quarter = (high - low) // 4
        probes = [low + quarter * n for n in (1, 2, 3)]
        if high - low >= _LONG:
            probes = [self._median(p - 1, p, p + 1) for p in probes]
        pivot = self._median(*probes)
        if self._swaps < _SWAPS:
            return pivot, not self._swaps
        self.at[low:high] = self.at[low:high][::-1]
        return high - 1 - (pivot - low), True

    def _median(self, a: int, b: int, c: int) -> int:
        a, b = self._ordered(a, b)
        b, c = self._ordered(b, c)
        return self._ordered(a, b)[1]

    def _ordered(self, a: int, b: int) -> tuple[int, int]:
        if self._is_less(b, a):
            self._swaps += 1
            return b, a
        return a, b

    def _scatter(self, low: int, length: int) -> None:
        """Swap elements by pseudo-random numbers, which depend on the length only."""
        number, mask = length, (1 << length.bit_length()) - 1
        middle = low + length // 4 * 2
        for i in (middle - 1, middle, middle + 1):
            number ^= number << 13 & _WORD
            number ^= number >> 7
            number ^= number << 17 & _WORD
            other = number & mask
            self._swap(i, low + (other - length if other >= length else other))

    # Parts

    def _partition(self, low: int, high: int, pivot: int) -> tuple[int, bool]:
        """The place of the pivot afterwards, and whether the range was partitioned already."""
        self._swap(low, pivot)
        i, j, moved = low + 1, high - 1, False
        while True:
            while i <= j and self._is_less(i, low):
                i += 1
            while i <= j and not self._is_less(j, low):
                j -= 1
            if i > j:
                self._swap(j, low)
                return j, not moved
            self._swap(i, j)
            i, j, moved = i + 1, j - 1, True

    def _skip_equal(self, low: int, high: int, pivot: int) -> int:
        """Move the elements equal to the pivot to the front. The place behind them."""
        self._swap(low, pivot)
        i, j = low + 1, high - 1
        while True:
            while i <= j and not self._is_less(low, i):
                i += 1
            while i <= j and self._is_less(low, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1

    def _nearly(self, low: int, high: int) -> bool:
        """Whether the range is sorted after a few shifts."""
        i = low + 1
        for _ in range(_SHIFTS):
            while i < high and not self._is_less(i, i - 1):
                i += 1
            if i == high:
                return True
            if high - low < _LONG:
                return False
            self._swap(i, i - 1)
            if i - low > 1:
                self._sink(i - 1, 0)
            if high - i > 1:
                self._rise(i + 1, high)
        return False

    def _rise(self, i: int, high: int) -> None:
        while i < high and self._is_less(i, i - 1):
            self._swap(i, i - 1)
            i += 1

    def _heap(self, low: int, high: int) -> None:
        count = high - low
        for root in range((count - 1) // 2, -1, -1):
            self._sift(low, root, count)
        for end in range(count - 1, -1, -1):
            self._swap(low, low + end)
            self._sift(low, 0, end)

    def _sift(self, low: int, root: int, count: int) -> None:
        while (child := 2 * root + 1) < count:
            if child + 1 < count and self._is_less(low + child, low + child + 1):
                child += 1
            if not self._is_less(low + root, low + child):
                return
            self._swap(low + root, low + child)
            root = child
