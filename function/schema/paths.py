"""Find the part of a model that a path leads to."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from function.schema.fields import Text
from function.schema.model import Api


def known_fields(model: type[Api], path: Sequence[str | int]) -> list[str]:
    """Return the fields of the object at a path."""
    return [name for reached in _reached(model, path) if _is_api(reached) for name in reached.model_fields]


def elsewhere(model: type[Api], path: Sequence[str | int]) -> str:
    """Return what to write instead of an unknown field. Empty if that is not known."""
    *way, name = path
    return next((reached.ELSEWHERE[name] for reached in _reached(model, way) if _is_moved(reached, name)), "")


def _is_moved(type_: Any, name: str | int) -> bool:
    return _is_api(type_) and name in type_.ELSEWHERE


def is_secret(model: type[Api], path: Sequence[str | int]) -> bool:
    """Return whether the value at a path may be secret, so that no message repeats it."""
    return any(isinstance(reached, Text) and reached.secret for reached in _reached(model, path))


def _reached(model: type[Api], path: Sequence[str | int]) -> Iterator[Any]:
    """Yield the types at the end of a path, and their annotations."""
    here: list[Any] = [model]
    for step in path:
        here = [further for type_ in here for further in _inside(type_, step)]
    yield from here


def _inside(type_: Any, step: str | int) -> Iterator[Any]:
    if _is_api(type_) and step in type_.model_fields:
        field = type_.model_fields[step]
        yield from _opened(field.annotation)
        yield from field.metadata
    elif get_origin(type_) is tuple and isinstance(step, int):
        yield from _opened(get_args(type_)[0])
    elif get_origin(type_) is dict:
        yield from _opened(get_args(type_)[1])


def _opened(type_: Any) -> Iterator[Any]:
    """Yield a type without its Annotated and Optional, and its annotations."""
    if get_origin(type_) is Annotated:
        inner, *metadata = get_args(type_)
        yield from _opened(inner)
        yield from metadata
    elif get_origin(type_) in (Union, types.UnionType):
        for option in get_args(type_):
            yield from _opened(option)
    else:
        yield type_


def _is_api(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Api)
