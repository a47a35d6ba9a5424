"""Every cache of the function, found by looking: what functools and our own classes keep between calls."""

from __future__ import annotations

import gc
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import _lru_cache_wrapper
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from function.cel.language.limits.bounded_cache import BoundedCache
from function.core.content_cache import ContentCache
from function.scheduling import PROGRESS, Progress
from tests.bench import shuffled
from tests.load import watched

_COLLECTIONS = (dict, list, set, deque, WeakValueDictionary, WeakKeyDictionary)
_BOUNDED = (ContentCache, BoundedCache, Progress)


class Cache(NamedTuple):
    """A cache, with its name as `module.attribute`."""

    name: str
    entries: Callable[[], int]
    most: int | None
    """Entries, or characters of a BoundedCache, at most. None if nothing bounds it."""
    clear: Callable[[], object]


def of_functools() -> list[Cache]:
    """Functions of ours that functools.cache and functools.lru_cache decorate, wherever they are kept.

    The collector knows them all, also methods and those in closures.
    """
    found = [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper)]
    ours = [one for one in found if (one.__module__ or "").startswith("function.")]
    return sorted(map(_of_functools, ours), key=lambda cache: cache.name)


def _of_functools(one: Any) -> Cache:
    name = f"{one.__module__}.{one.__qualname__}"
    return Cache(name, lambda: one.cache_info().currsize, one.cache_info().maxsize, one.cache_clear)


def of_ours() -> list[Cache]:
    """Instances of our own caches."""
    return sorted(_of_ours(), key=lambda cache: cache.name)


def _of_ours() -> Iterator[Cache]:
    for one in gc.get_objects():
        if isinstance(one, ContentCache):
            yield Cache(one.name, one.__len__, one._most, one.clear)
        elif isinstance(one, BoundedCache):
            yield Cache(one.name, one.__len__, one._capacity, one.clear)
    yield Cache("progress", PROGRESS.__len__, PROGRESS._most, PROGRESS.forget)


def every() -> list[Cache]:
    return [*of_functools(), *of_ours()]


def collections() -> dict[str, int]:
    """The sizes of what our modules hold once every cache is empty: collections, and those in objects and classes."""
    empty()
    found: dict[str, int] = {}
    for module in sorted(name for name in sys.modules if name.startswith("function.")):
        for attribute, value in list(vars(sys.modules[module]).items()):
            found |= {f"{module}.{name}": size for name, size in _sizes(attribute, value)}
    return found


def _sizes(name: str, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, _COLLECTIONS):
        yield name, len(value)
    elif _is_ours(value if isinstance(value, type) else type(value)) and not isinstance(value, _BOUNDED):
        for attribute, inner in _attributes(value):
            if isinstance(inner, _COLLECTIONS):
                yield f"{name}.{attribute}", len(inner)


def _is_ours(type_: type) -> bool:
    return str(type_.__module__).startswith("function.")


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object or a class."""
    slots = () if isinstance(value, type) else (s for t in type(value).__mro__ for s in getattr(t, "__slots__", ()))
    for name in {*slots, *getattr(value, "__dict__", ())}:
        yield name, inspect.getattr_static(value, name, None) if isinstance(value, type) else getattr(value, name, None)


def empty() -> None:
    """Empty every cache, also that of our encoder, and collect garbage."""
    for cache in every():
        cache.clear()
    shuffled.forget()
    gc.collect()


def heap_without() -> int:
    """Bytes of the live heap once every cache is empty."""
    empty()
    return watched.live()
