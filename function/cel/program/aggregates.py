"""Lists and maps that are written out with entries that are worked out."""

from __future__ import annotations

from typing import Any

from function.cel.problem import Abort, Failure
from function.cel.program.code import Frame, Run
from function.cel.values.containers import NO_KEYS
from function.cel.values.kinds import Keyed, Optional, stored
from function.cel.values.naming import word


def given(value: Any, optional: bool) -> tuple[Any, ...]:  # noqa: FBT001  (of an entry)
    if not optional:
        return (value,)
    if type(value) is not Optional:
        raise Failure("an entry with ? wants an optional value")
    return value.content


def filled(parts: list[tuple[Run, Run, bool]], frame: Frame) -> Keyed:
    map_ = Keyed()
    for key, value, optional in parts:
        k = key(frame)
        content = given(value(frame), optional)
        if type(k) in NO_KEYS:
            raise Abort(f"{word(k)} as a key ends the evaluation in Kubernetes")
        if content:
            map_[stored(k)] = content[0]
        else:
            map_.pop(stored(k), None)
    return map_
