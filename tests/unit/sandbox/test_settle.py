"""Which answers each call of the function gets, and when the requirements have settled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from function.core import Request, Requirement, Result
from function.sandbox.errors import Unsettled
from function.sandbox.settle import MOST_CALLS, settle_with

A, B, C = (Requirement(name, "example.org/v1", "Thing") for name in "abc")
Asks = Callable[[Request, int], tuple[Requirement, ...]]


def calls(asks: Asks, seeds: tuple[Requirement, ...] | None = None) -> list[set[str]]:
    """The names of the answers in each call, if the function requires what `asks` returns for a call and its number."""
    seen: list[set[str]] = []

    def function(request: Request) -> Result:
        seen.append({*request.required})
        return Result(ready=True, conditions=(), requirements=asks(request, len(seen)))

    settle_with(function, Request(xr={"kind": "App", "metadata": {"name": "app"}}), answered, seeds)
    return seen


def answered(asked: tuple[Requirement, ...]) -> dict[str, tuple[dict[str, str], ...]]:
    return {r.name: ({"kind": r.kind, "found by": r.match_name or ""},) for r in asked}


def test_without_seeds_each_call_gets_what_the_one_before_required() -> None:
    assert calls(lambda _, call: (A,) if call == 1 else (B,)) == [set(), {"a"}, {"b"}]


def test_seeds_stay_in_every_call() -> None:
    assert calls(lambda _, call: (B,), seeds=(A,)) == [{"a"}, {"a", "b"}]


@pytest.mark.parametrize("seeds", [(A,), (A, B), (A, B, C)])
def test_seeds_that_answer_everything_spare_the_second_call(seeds: tuple[Requirement, ...]) -> None:
    assert calls(lambda *_: (A,), seeds) == [{r.name for r in seeds}]


def test_a_requirement_that_selects_something_else_by_the_same_name_is_looked_up_again() -> None:
    found: list[object] = []

    def asks(request: Request, _: int) -> tuple[Requirement, ...]:
        found.extend(one["found by"] for one in request.required["a"])
        return (Requirement("a", A.api_version, A.kind, match_name="new"),)

    calls(asks, seeds=(Requirement("a", A.api_version, A.kind, match_name="old"),))
    assert found == ["old", "new"]


def test_requirements_that_never_settle_are_an_error() -> None:
    numbers: list[int] = []

    def asks(_: Request, call: int) -> tuple[Requirement, ...]:
        numbers.append(call)
        return (Requirement(f"r{call}", A.api_version, A.kind),)

    with pytest.raises(Unsettled, match="did not settle"):
        calls(asks)
    assert numbers == [*range(1, MOST_CALLS + 1)]
