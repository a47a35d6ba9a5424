"""The names of values' types: as expressions write them, and as error messages do.

Source: github.com/google/cel-go v0.26, common/types, and k8s.io/apiserver v0.36, pkg/cel (the names).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.cel.language.errors import Failure
from function.cel.language.values.kinds import ConcatList, Duration, Optional, Timestamp, TypeValue, Uint
from function.cel.language.values.opaque import OPAQUE

_NAMES: Mapping[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    ConcatList: "list",
    Optional: "optional_type",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
}


def type_name(value: Any) -> str:
    """The type of a value as an expression names it."""
    kind = type(value)
    if kind in OPAQUE:
        return OPAQUE[kind].type_name
    return _NAMES.get(kind, "map" if isinstance(value, dict) else kind.__name__)


def no_overload(function: str, *values: Any) -> Failure:
    """The failure of a function that does not take such values."""
    return Failure(f"{function} does not take {' and '.join(map(with_article, values))}")


def with_article(value: Any) -> str:
    """The type of a value as the middle of a sentence names it: `an int`."""
    name = type_name(value).rpartition(".")[2].lower().removesuffix("_type")
    return "null" if name == "null" else f"{'an' if name[0] in 'aeio' else 'a'} {name}"
