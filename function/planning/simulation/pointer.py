"""JSON pointers (RFC 6901): a field of an object as one word."""

from __future__ import annotations

from typing import Any


def spelled(*path: str | int) -> str:
    """The pointer to a field."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def put(manifest: dict[str, Any], pointer: str, value: Any) -> None:
    """Set a field in place, or remove it if the value is None. Does nothing where the way to it ends early."""
    *way, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    parent: Any = manifest
    for step in way:
        if isinstance(parent, dict):
            parent = parent.setdefault(step, {})
        else:
            parent = parent[int(step)] if _has(parent, step) else None
    if isinstance(parent, dict):
        _put(parent, last, value)
    elif _has(parent, last):
        parent[int(last)] = value


def _put(parent: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        parent.pop(name, None)
    else:
        parent[name] = value


def _has(parent: Any, step: str) -> bool:
    return isinstance(parent, list) and step.isdecimal() and int(step) < len(parent)
