"""Metered loops: what the expansion of each macro costs beside what the user wrote in it.

Source: github.com/google/cel-go v0.26, parser/macro.go (the steps) and interpreter/interpretable.go (evalFold).
"""

from __future__ import annotations

from typing import Any

from function.cel.language.errors import Failure
from function.cel.language.program.code import Frame, Run
from function.cel.language.program.loops import Entries
from function.cel.language.program.meter import charge
from function.cel.language.values.containers import insert
from function.cel.language.values.kinds import CelMap
from function.cel.language.values.type_names import no_overload


def quantified(through: Entries, body: Run, meter: int, *, decisive: bool) -> Run:
    """all and exists. The condition costs two units, with a negation three; the accumulator costs one."""
    asks, operator = (3, "||") if decisive else (2, "&&")

    def decide(frame: Frame) -> Any:
        result: Any = not decisive
        for _ in through(frame):
            charge(frame, meter, asks)
            if result is decisive:
                break
            charge(frame, meter, 1)
            value = _tried(body, frame)
            if value is decisive:
                result = decisive
            elif value is not (not decisive) and not isinstance(result, Failure):
                result = _failure(value, operator)
        charge(frame, meter, 1)
        return _unless_failed(result)

    return decide


def exists_one(through: Entries, body: Run, meter: int) -> Run:
    def count(frame: Frame) -> bool:
        result: Any = 0
        for _ in through(frame):
            chosen = _tried(body, frame)
            if chosen is True:
                charge(frame, meter, 2)
            if chosen is not False:
                result = _after(result, chosen, lambda so_far: so_far + 1)
        charge(frame, meter, 2)
        return bool(_unless_failed(result) == 1)

    return count


def collected(through: Entries, filter_: Run | None, transform: Run, meter: int, appends: int) -> Run:
    def collect(frame: Frame) -> Any:
        result: Any = []
        for _ in through(frame):
            chosen = True if filter_ is None else _tried(filter_, frame)
            if chosen is True:
                value = _tried(transform, frame)
                charge(frame, meter, appends)
                result = _appended(result, value)
            elif chosen is not False:
                result = _after(result, chosen, lambda so_far: so_far)
        charge(frame, meter, 1)
        return _unless_failed(result)

    return collect


def mapped(through: Entries, filter_: Run | None, parts: tuple[Run, ...], meter: int) -> Run:
    def collect(frame: Frame) -> Any:
        result: Any = CelMap()
        for _ in through(frame):
            chosen = True if filter_ is None else _tried(filter_, frame)
            if chosen is True:
                charge(frame, meter, 1)
                result = _inserted(frame, result, parts, meter)
            elif chosen is not False:
                result = _after(result, chosen, lambda so_far: so_far)
        charge(frame, meter, 1)
        return _unless_failed(result)

    return collect


def _inserted(frame: Frame, result: Any, parts: tuple[Run, ...], meter: int) -> Any:
    """One entry more. With a key and a value the call has three arguments, and stops at the first that fails."""
    is_strict = len(parts) > 1
    if is_strict and isinstance(result, Failure):
        return result
    values: list[Any] = []
    for part in parts:
        values.append(_tried(part, frame))
        if isinstance(values[-1], Failure) and is_strict and len(values) < len(parts):
            return values[-1]
    charge(frame, meter, 1)
    failed = next((v for v in (result, *values) if isinstance(v, Failure)), None)
    if failed is not None:
        return failed
    try:
        insert(result, *values)
    except Failure as failure:
        return failure
    return result


def _appended(result: Any, value: Any) -> Any:
    if isinstance(result, Failure) or isinstance(value, Failure):
        return result if isinstance(result, Failure) else value
    result.append(value)
    return result


def _after(result: Any, chosen: Any, goes_on: Any) -> Any:
    """The result after a condition that is true, or no bool."""
    if isinstance(result, Failure):
        return result
    return goes_on(result) if chosen is True else _failure(chosen, "? :")


def _tried(run: Run, frame: Frame) -> Any:
    try:
        return run(frame)
    except Failure as failure:
        return failure


def _failure(value: Any, operator: str) -> Failure:
    return value if isinstance(value, Failure) else no_overload(operator, value)


def _unless_failed(result: Any) -> Any:
    if isinstance(result, Failure):
        raise result
    return result
