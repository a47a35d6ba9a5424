"""The fields in which two objects differ, as paths with the value before and after.

Items of a list are matched by their names, if each item is an object with a name of its own; otherwise by position.
Paths name the position in the later list. A value that is added or removed as a whole is one change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.core.manifest import is_list

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that differs. `what` is added, removed, changed or reordered."""

    what: str
    path: str
    before: Any = None
    after: Any = None


def changes(before: Any, after: Any, path: str = "") -> Iterator[FieldChange]:
    """Yield the fields in which two values differ, in the order of the later one."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _of_mappings(before, after, path)
    elif is_list(before) and is_list(after):
        yield from _of_lists(before, after, path)
    else:
        yield FieldChange("changed", path, before, after)


def _of_mappings(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[FieldChange]:
    for key in [*after, *(key for key in before if key not in after)]:
        at = f"{path}{_step(str(key), is_first=not path)}"
        if key not in before:
            yield FieldChange("added", at, after=after[key])
        elif key not in after:
            yield FieldChange("removed", at, before=before[key])
        else:
            yield from changes(before[key], after[key], at)


def _of_lists(before: Any, after: Any, path: str) -> Iterator[FieldChange]:
    olds, news = _names(before), _names(after)
    if not (olds and news):
        olds, news = list(range(len(before))), list(range(len(after)))
    for index, name in enumerate(news):
        at = f"{path}[{index}]"
        if name not in olds:
            yield FieldChange("added", at, after=after[index])
        else:
            yield from changes(before[olds.index(name)], after[index], at)
    for index, name in enumerate(olds):
        if name not in news:
            yield FieldChange("removed", f"{path}[{index}]", before=before[index])
    if [name for name in olds if name in news] != [name for name in news if name in olds]:
        yield FieldChange("reordered", path, before=olds, after=news)


def _names(items: Any) -> list[Any]:
    """The names of the items; none if an item has no name, or two have the same."""
    names = [item.get("name") if isinstance(item, Mapping) else None for item in items]
    return names if all(isinstance(name, str) for name in names) and len(set(names)) == len(names) else []


def _step(key: str, *, is_first: bool) -> str:
    if not _PLAIN.fullmatch(key):
        return f'["{key}"]'
    return key if is_first else f".{key}"
