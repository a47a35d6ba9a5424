"""Loops: the macros over lists and maps, and the variables that macros bind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from function.cel.language.errors import Failure
from function.cel.language.program.code import Frame, Run
from function.cel.language.syntax.tree import Call, Fold, ListLiteral, Node
from function.cel.language.values.containers import insert, iterated
from function.cel.language.values.kinds import CelMap, from_key
from function.cel.language.values.type_names import no_overload

Entries: TypeAlias = Callable[[Frame], Iterator[None]]
"""Iterates over a range, and puts each entry into the frame for the body."""
UNSET: Any = object()


class _Failed:
    """A variable whose initializer failed: it is not evaluated again."""

    __slots__ = ("failure",)

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def entries(range_: Run, first: int, second: int | None) -> Entries:
    """The entries of a range, at the places of one variable or two."""

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
        return ((from_key(key), item) for key, item in list(value.items()))
    raise Failure("this cannot be looped over")


def shape(node: Fold) -> tuple[Node | None, list[Node]]:
    """Return the parts that the user wrote in a macro that loops: the filter, if there is one, and the others."""
    step, condition = node.step, None
    assert isinstance(step, Call)
    if node.macro in ("all", "exists"):
        return None, [step.args[1]]
    if node.macro == "exists_one":
        return None, [step.args[0]]
    if step.function == "_?_:_":
        condition, step = step.args[0], step.args[1]
    assert isinstance(step, Call)
    if step.function == "cel.@mapInsert":
        return condition, step.args[1:]
    [more] = step.args[1:]
    assert isinstance(more, ListLiteral)
    return condition, [more.items[0]]


def of(macro: str, through: Entries, filter_: Run | None, parts: tuple[Run, ...]) -> Run:
    """The loop of a macro."""
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
    """The deciding value ends the loop; a failure counts only where no entry decides."""

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
    """A map: of keys and values, or of the entries of maps."""

    def collect(frame: Frame) -> Mapping[Any, Any]:
        grown = CelMap()
        for _ in through(frame):
            if filter_ is None or _holds(filter_(frame)):
                insert(grown, *(part(frame) for part in parts))
        return grown

    return collect


def bound(place: int, result: Run) -> Run:
    """An expression with a variable that is not evaluated yet."""

    def run(frame: Frame) -> Any:
        frame[place] = UNSET
        return result(frame)

    return run


def once(place: int, init: Run) -> Run:
    """Reads a bound variable, and evaluates it the first time."""

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
