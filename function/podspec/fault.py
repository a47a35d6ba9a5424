"""A fault: something in a pod template that Kubernetes, or Modelplane, does not accept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from function.core import redaction
from function.core.manifest import is_list
from function.core.wording import plural

Path = tuple[str | int, ...]
"""Keys and indices from the root of the template."""
_SHOWN = 80
"""Characters of a value that a message repeats."""
_MAY_BE_SECRET = frozenset({"value", "args", "command", "annotations", "options", "volumeAttributes", "content"})
"""Fields below which a value may be a secret, so that no message repeats it."""
_BEFORE_VALUES: Mapping[str, str] = {"env": "=", "envFrom": "=", "httpHeaders": ":"}
"""Fields of pairs, with the mark after which a value stands if somebody wrote it into the name."""


@dataclass(frozen=True, slots=True)
class Fault:
    path: Path
    message: str
    """The fault, as the rest of a sentence that begins with the field."""
    code: str = "value"
    """The kind of fault: value, required, key, rule, unknown-field, reserved."""


def must_be(path: Path, accepted: str, value: Any) -> Fault:
    """Return the fault of a value that is not what is accepted. It repeats only values that cannot be secret."""
    return Fault(path, f"must be {accepted}, not {shown(path, value)}")


def must_be_a(path: Path, container: str, value: Any) -> Fault:
    """Return the fault of a value that is not the required list or map. It may be secret, as its items may be."""
    is_told = isinstance(value, Mapping) or is_list(value)
    return Fault(path, f"must be {container}, not {shown(path, value) if is_told else _kind(value)}")


def shown(path: Path, value: Any) -> str:
    """Return a value as a message repeats it. Contents of maps and lists are left out, since any may be secret."""
    if isinstance(value, Mapping):
        return "a map"
    if is_list(value):
        return f"a list of {plural(len(value), 'item')}"
    if not _MAY_BE_SECRET.isdisjoint(path):
        return _kind(value)
    for field, mark in _BEFORE_VALUES.items():
        if field in path and isinstance(value, str) and mark in value:
            value = f"{value.partition(mark)[0]}{mark}…"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON in protobuf has only doubles
    if isinstance(value, str) and redaction.is_credential(value):
        return redaction.ALIKE
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _kind(value: Any) -> str:
    return {str: "a string", bool: "true or false", type(None): "null"}.get(type(value), "a number")
