"""What was compiled is remembered while there is room for it, and no longer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from function import cel
from function.cel import selector
from function.cel.language.errors import Fault
from function.cel.language.limits.bounded_cache import BoundedCache


def test_the_least_recently_used_go_when_there_is_no_room() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    for name in "abc":
        cache.put(name, ord(name), 3)
    assert cache.get("a") == 97
    cache.put("d", 100, 4)
    assert [cache.get(name) for name in "abcd"] == [97, None, 99, 100]


def test_what_is_put_anew_counts_once() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    for i in range(9):
        cache.put("a", i, 9)
    cache.put("b", 1, 1)
    assert (cache.get("a"), cache.get("b")) == (8, 1)


def test_what_is_too_heavy_is_kept_alone() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10)
    cache.put("a", 1, 1)
    cache.put("b", 2, 11)
    assert (cache.get("a"), cache.get("b")) == (None, 2)
    cache.put("c", 3, 1)
    assert (cache.get("b"), cache.get("c")) == (None, 3)


@pytest.mark.slow
def test_several_threads_may_use_it() -> None:
    cache: BoundedCache[int, int] = BoundedCache(50)

    def use(i: int) -> bool:
        cache.put(i % 97, i % 97, 1)
        return cache.get(i % 89) in (None, i % 89)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(20_000)))
    assert len(cache) == 50


def test_the_longest_selectors_do_not_fill_the_memory() -> None:
    """By their number they could take gigabytes."""
    cel.clear_caches()
    for i in range(80):
        cel.facts(f"'{'a' * 10_000}' == '{i}'")
    assert len(selector._PROGRAMS) < 60
    assert len(selector._FACTS) == 80


def test_what_is_known_of_a_selector_needs_no_program() -> None:
    cel.clear_caches()
    first = cel.facts("device.driver == 'known'")
    selector._PROGRAMS.clear()
    before = selector._PROGRAMS.insertions
    assert cel.facts("device.driver == 'known'") == first
    assert selector._PROGRAMS.insertions == before


def test_compiling_is_paid_by_length_once() -> None:
    cel.clear_caches()
    spent: list[int] = []
    cel.admitted("device.driver == 'paid'", spent.append)
    assert sum(spent) == 80 * len("device.driver == 'paid'") + 200
    cel.admitted("device.driver == 'paid'", spent.append)
    cel.facts("device.driver == 'paid'", spent.append)
    assert len(spent) == 2


@pytest.mark.parametrize("text", ['"a".matches("(")', "timestamp('x') > timestamp('x')", "1 + 'a'", "1 +", "(" * 300])
def test_a_fault_that_is_kept_holds_no_frames(text: str) -> None:
    fault = selector.verdict_on(text, selector.SERVER)
    assert isinstance(fault, Fault)
    assert (fault.__traceback__, fault.__context__, fault.__cause__) == (None, None, None)
