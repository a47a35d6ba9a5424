"""List and map literals."""

from __future__ import annotations

from typing import Any

from function.cel.language.errors import Abort, Failure, Fault
from function.cel.language.program.code import Code, Frame, Run, constant, located
from function.cel.language.values.kinds import CelMap, Optional, to_key
from function.cel.language.values.opaque import PANICKING
from function.cel.language.values.type_names import with_article


def list_code(codes: list[Code], optional: frozenset[int], at: int) -> Code:
    """A list of the entries, some of which may be optional, by their positions."""
    if not optional and all(c.is_constant for c in codes):
        return constant([c.value for c in codes], is_literal=all(c.is_literal for c in codes))
    if not optional:
        runs = [c.run for c in codes]
        return Code(lambda frame: [run(frame) for run in runs])
    parts = [(c.run, i in optional) for i, c in enumerate(codes)]
    return Code(located(lambda frame: [v for run, asks in parts for v in _content(run(frame), asks)], at))


def map_code(entries: list[tuple[Code, Code, bool]], at: int) -> Code:
    """A map of the entries: key, value, and whether it is optional. Fault where Kubernetes panics on a literal key."""
    parts = [(k.run, v.run, optional) for k, v, optional in entries]
    run = located(lambda frame: _filled(parts, frame), at)
    flat = [c for k, v, _ in entries for c in (k, v)]
    if any(optional for *_, optional in parts) or not all(c.is_constant for c in flat):
        return Code(run)
    is_literal = all(c.is_literal for c in flat)
    try:
        return constant(run([]), is_literal=is_literal)
    except Abort as abort:
        if is_literal:
            raise Fault(str(abort), at) from None
        return Code(run)


def _content(value: Any, optional: bool) -> tuple[Any, ...]:  # noqa: FBT001  (of an entry)
    if not optional:
        return (value,)
    if type(value) is not Optional:
        raise Failure("an entry with ? wants an optional value")
    return value.content


def _filled(parts: list[tuple[Run, Run, bool]], frame: Frame) -> CelMap:
    map_ = CelMap()
    for key, value, optional in parts:
        k = key(frame)
        content = _content(value(frame), optional)
        if type(k) in PANICKING:
            raise Abort(f"{with_article(k)} as a key ends the evaluation in Kubernetes")
        if content:
            map_[to_key(k)] = content[0]
        else:
            map_.pop(to_key(k), None)
    return map_
