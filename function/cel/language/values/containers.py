"""Lists and maps: reading by index and key, and adding entries.

Source: github.com/google/cel-go v0.26, common/types, interpreter/attributes.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.cel.language.errors import Abort, Failure
from function.cel.language.values.kinds import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    CelMap,
    DefaultMap,
    NumberKey,
    Uint,
    from_key,
    keys_of,
    to_key,
)
from function.cel.language.values.opaque import PANICKING
from function.cel.language.values.type_names import no_overload, with_article

MISSING: Any = object()
"""In place of a field or element that does not exist."""


def find(map_: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """The value of a key, if the key is of a type that an expression may read by. A map may have a default."""
    if type(key) not in (str, int, Uint, float, bool):
        return default
    found = entry(map_, key)
    if found is not MISSING:
        return found
    return map_.missing(key) if isinstance(map_, DefaultMap) else default


def entry(map_: dict[Any, Any], key: Any) -> Any:
    """The value of a key, or `MISSING`. A number finds an equal number of another type."""
    if type(key) is str:
        return map_.get(key, MISSING)
    if not map_:
        return MISSING
    if type(map_) is CelMap and type(key) in PANICKING:
        raise Abort(f"to look for {with_article(key)} in a map ends the evaluation in Kubernetes")
    for form in (to_key(key), *_equal_numbers(key)):
        if form in map_:
            return map_[form]
    return MISSING


def _equal_numbers(key: Any) -> Iterator[Any]:
    """The equal numbers of other types, as keys."""
    kind = type(key)
    if kind not in (int, Uint, float) or (kind is float and not key.is_integer()):
        return
    whole = int(key)
    if kind is not int and INT_MIN <= whole <= INT_MAX:
        yield whole
    if kind is not Uint and 0 <= whole <= UINT_MAX:
        yield NumberKey(Uint(whole))


def get(target: Any, key: Any) -> Any:
    """The field or element. Failure where it does not exist."""
    found = lookup(target, key)
    if found is MISSING:
        if isinstance(target, dict):
            raise Failure(f"no such key: {_shown(key)}")
        if isinstance(target, list):
            raise Failure(f"index {key} is out of range")
        raise Failure(f"{with_article(target)} has no field or index {_shown(key)}")
    return found


def _shown(key: Any) -> str:
    return key if isinstance(key, str) else str(key)


_KEYS = (str, int, Uint, float, bool)


def lookup(target: Any, key: Any) -> Any:
    """The field or element, or `MISSING`. Failure where the key is of no type that an expression may read by.

    Source: github.com/google/cel-go v0.26, interpreter/attributes.go (newQualifier).
    """
    if type(key) not in _KEYS:
        raise Failure(f"nothing is looked up by {with_article(key)}")
    if isinstance(target, dict):
        return find(target, key, MISSING)
    if isinstance(target, list):
        index = position(key)
        return target[index] if 0 <= index < len(target) else MISSING
    return MISSING


def position(key: Any) -> int:
    """A key as an index of a list. Failure where it is none."""
    if type(key) in (int, Uint):
        return int(key)
    if type(key) is float and key.is_integer() and INT_MIN <= key < INT_MAX:
        return int(key)
    raise Failure(f"a list is read by an int, not by {with_article(key)}")


def size(value: Any) -> int:
    """The number of characters, bytes, elements or entries. Failure for anything else."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise no_overload("size", value)


def iterated(value: Any) -> Any:
    """Return the entries that a loop over a value visits. Raises Failure if it is neither a list nor a map."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return list(keys_of(value))
    raise Failure(f"{with_article(value)} cannot be looped over")


def inserted(map_: dict[Any, Any], *entry: Any) -> CelMap:
    """A map with one entry more, or with all those of another map. Failure where a key is there already."""
    grown = CelMap(map_)
    insert(grown, *entry)
    return grown


def insert(grown: CelMap, *more: Any) -> None:
    """Add an entry, as key and value, or all those of a map. Failure where a key is there already."""
    entries = [(from_key(k), v) for k, v in more[0].items()] if len(more) == 1 else [more]
    for key, value in entries:
        if entry(grown, key) is not MISSING:
            raise Failure(f"insert failed: key {key} already exists")
        grown[to_key(key)] = value
