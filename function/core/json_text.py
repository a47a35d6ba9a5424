"""JSON in texts that others may have written: annotations, ConfigMaps, command lines."""

from __future__ import annotations

import json
import math
from typing import NoReturn

_MOST_LEVELS = 32
"""Levels of objects and lists. Protobuf, in which values are sent on, takes few more (protobuf, "Encoding")."""


def parse(text: object) -> object:
    """Return the value of a JSON text, or None if there is none.

    A value that no manifest can hold counts as none: one with a number that is not finite, or that nests deep.
    """
    if not isinstance(text, str):
        return None
    try:
        value: object = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value if _is_shallow(value) else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse(text)
    return number


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [child for one in level for child in _children(one)]
        if not level:
            return True
    return False


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
