"""Lists and maps: what they hold, by index and key.

Source: github.com/google/cel-go v0.26, common/types, interpreter/attributes.go.
"""

from __future__ import annotations

from typing import Any

from function.cel.naming import no_overload, word
from function.cel.problem import Failure
from function.cel.values import INT_MAX, INT_MIN, Uint, keys_of, stored

MISSING: Any = object()
"""No value: the field or element is not there."""


def find(map_: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """The value of a key. A number finds an equal number."""
    kind = type(key)
    if kind not in (str, int, Uint, float, bool):
        return default
    try:
        return map_[stored(key)]
    except KeyError:
        return map_.get(int(key), default) if kind is float and key.is_integer() else default


def has_key(map_: dict[Any, Any], key: Any) -> bool:
    """Whether a key is there. A map that answers for what it lacks does not say here that it has it."""
    if type(key) not in (str, int, Uint, float, bool):
        return False
    return stored(key) in map_ or (type(key) is float and key.is_integer() and int(key) in map_)


def get(target: Any, key: Any) -> Any:
    found = lookup(target, key)
    if found is MISSING:
        if isinstance(target, dict):
            raise Failure(f"no such key: {_shown(key)}")
        if type(target) is list:
            raise Failure(f"index {key} is out of range")
        raise Failure(f"{word(target)} has no field or index {_shown(key)}")
    return found


def _shown(key: Any) -> str:
    return key if isinstance(key, str) else str(key)


def lookup(target: Any, key: Any) -> Any:
    """The field or element, or `MISSING`."""
    if isinstance(target, dict):
        return find(target, key, MISSING)
    if type(target) is list:
        index = position(key)
        return target[index] if 0 <= index < len(target) else MISSING
    return MISSING


def position(key: Any) -> int:
    """An index of a list."""
    if type(key) in (int, Uint):
        return int(key)
    if type(key) is float and key.is_integer() and INT_MIN <= key < INT_MAX:
        return int(key)
    raise Failure(f"a list is read by an int, not by {word(key)}")


def size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_overload("size", value)


def iterated(value: Any) -> Any:
    """What a loop over a value goes through."""
    if type(value) is list:
        return value
    if isinstance(value, dict):
        return list(keys_of(value))
    raise Failure(f"{word(value)} cannot be looped over")
