"""What was compiled is remembered while there is room for it, and no longer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from function import cel
from function.cel import selector
from function.cel.kept import Kept


def test_the_least_recently_used_go_when_there_is_no_room() -> None:
    kept: Kept[str, int] = Kept(10)
    for name in "abc":
        kept.put(name, ord(name), 3)
    assert kept.get("a") == 97
    kept.put("d", 100, 4)
    assert [kept.get(name) for name in "abcd"] == [97, None, 99, 100]


def test_what_is_put_anew_counts_once() -> None:
    kept: Kept[str, int] = Kept(10)
    for i in range(9):
        kept.put("a", i, 9)
    kept.put("b", 1, 1)
    assert (kept.get("a"), kept.get("b")) == (8, 1)


def test_what_is_too_heavy_is_kept_alone() -> None:
    kept: Kept[str, int] = Kept(10)
    kept.put("a", 1, 1)
    kept.put("b", 2, 11)
    assert (kept.get("a"), kept.get("b")) == (None, 2)
    kept.put("c", 3, 1)
    assert (kept.get("b"), kept.get("c")) == (None, 3)


def test_several_threads_may_use_it() -> None:
    kept: Kept[int, int] = Kept(50)

    def use(i: int) -> bool:
        kept.put(i % 97, i % 97, 1)
        return kept.get(i % 89) in (None, i % 89)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(20_000)))
    assert len(kept) == 50


def test_the_longest_selectors_do_not_fill_the_memory() -> None:
    """By their number they could take gigabytes."""
    cel.forget()
    for i in range(80):
        cel.facts(f"'{'a' * 10_000}' == '{i}'")
    assert len(selector._PROGRAMS) < 60
    assert len(selector._FACTS) == 80


def test_what_is_known_of_a_selector_needs_no_program() -> None:
    cel.forget()
    first = cel.facts("device.driver == 'known'")
    selector._PROGRAMS.clear()
    made = selector._PROGRAMS.made
    assert cel.facts("device.driver == 'known'") == first
    assert selector._PROGRAMS.made == made


def test_compiling_is_paid_by_length_once() -> None:
    cel.forget()
    spent: list[int] = []
    cel.admitted("device.driver == 'paid'", spent.append)
    assert sum(spent) == 80 * len("device.driver == 'paid'") + 200
    cel.admitted("device.driver == 'paid'", spent.append)
    cel.facts("device.driver == 'paid'", spent.append)
    assert len(spent) == 2
