"""Loops: what a macro does with each entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from function.cel.functions.lists import insert
from function.cel.problem import Failure
from function.cel.program.code import Frame, Run
from function.cel.values.containers import iterated
from function.cel.values.kinds import Keyed, read
from function.cel.values.naming import no_overload

Entries: TypeAlias = Callable[[Frame], Iterator[None]]
"""Goes through a range, and puts each entry where the body finds it."""
UNSET: Any = object()


class _Failed:
    """What has failed once fails each time that it is read, without another try."""

    __slots__ = ("failure",)

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def entries(range_: Run, first: int, second: int | None) -> Entries:
    def of_one(frame: Frame) -> Iterator[None]:
        for item in iterated(range_(frame)):
            frame[first] = item
            yield

    def of_two(frame: Frame) -> Iterator[None]:
        for key, value in _pairs(range_(frame)):
            frame[first], frame[second] = key, value  # type: ignore[index]  # a place, where there are two variables
            yield

    return of_one if second is None else of_two


def _pairs(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list):
        return enumerate(value)
    if isinstance(value, dict):
        return ((read(key), item) for key, item in list(value.items()))
    raise Failure("this cannot be looped over")


def of(macro: str, through: Entries, filter_: Run | None, parts: tuple[Run, ...]) -> Run:
    """The loop that a macro is."""
    match macro:
        case "all":
            return all_(through, *parts)
        case "exists":
            return exists(through, *parts)
        case "exists_one":
            return exists_one(through, *parts)
        case "transformMap" | "transformMapEntry":
            return mapped(through, filter_, parts)
    return collected(through, filter_, *parts)


def all_(through: Entries, body: Run) -> Run:
    return _quantified(through, body, decisive=False)


def exists(through: Entries, body: Run) -> Run:
    return _quantified(through, body, decisive=True)


def _quantified(through: Entries, body: Run, *, decisive: bool) -> Run:
    """The deciding value ends it; a failure counts only when nothing decides."""

    def decide(frame: Frame) -> Any:
        first: Failure | None = None
        for _ in through(frame):
            try:
                value = body(frame)
                if value is decisive:
                    return decisive
                if value is not (not decisive):
                    raise no_overload("||" if decisive else "&&", value)
            except Failure as failure:
                first = first or failure
        if first is not None:
            raise first
        return not decisive

    return decide


def exists_one(through: Entries, body: Run) -> Run:
    def count(frame: Frame) -> bool:
        return sum([_holds(body(frame)) for _ in through(frame)]) == 1

    return count


def _holds(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise no_overload("? :", value)


def collected(through: Entries, filter_: Run | None, transform: Run) -> Run:
    def collect(frame: Frame) -> list[Any]:
        return [transform(frame) for _ in through(frame) if filter_ is None or _holds(filter_(frame))]

    return collect


def mapped(through: Entries, filter_: Run | None, parts: tuple[Run, ...]) -> Run:
    """A map: of a value by key, or of the entries of maps."""

    def collect(frame: Frame) -> Mapping[Any, Any]:
        grown = Keyed()
        for _ in through(frame):
            if filter_ is None or _holds(filter_(frame)):
                insert(grown, *(part(frame) for part in parts))
        return grown

    return collect


def bound(place: int, result: Run) -> Run:
    """With a variable, whose value is worked out when it is first read."""

    def run(frame: Frame) -> Any:
        frame[place] = UNSET
        return result(frame)

    return run


def once(place: int, init: Run) -> Run:
    """Read a variable that is bound."""

    def read(frame: Frame) -> Any:
        value = frame[place]
        if value is UNSET:
            try:
                value = frame[place] = init(frame)
            except Failure as failure:
                frame[place] = _Failed(failure)
                raise
        elif type(value) is _Failed:
            raise value.failure
        return value

    return read
