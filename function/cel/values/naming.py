"""What types are called: by expressions, and in sentences.

Source: github.com/google/cel-go v0.26, common/types, and k8s.io/apiserver v0.36, pkg/cel (the names).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.cel.problem import Failure
from function.cel.values.addresses import Cidr, Ip
from function.cel.values.formats import Format
from function.cel.values.kinds import Duration, Joined, Optional, Timestamp, TypeValue, Uint
from function.cel.values.quantity import Quantity
from function.cel.values.semver import Semver
from function.cel.values.urls import Url


def type_name(value: Any) -> str:
    """As an expression names the type of a value."""
    return _NAMES.get(type(value), "map" if isinstance(value, dict) else type(value).__name__)


_NAMES: Mapping[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    Joined: "list",
    Optional: "optional_type",
    Quantity: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    Url: "kubernetes.URL",
    Format: "kubernetes.NamedFormat",
    Ip: "net.IP",
    Cidr: "net.CIDR",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    TypeValue: "type",
}


def no_overload(function: str, *values: Any) -> Failure:
    said = " and ".join(word(v) for v in values)
    return Failure(f"{function} does not take {said}")


def word(value: Any) -> str:
    name = type_name(value).rpartition(".")[2].lower().removesuffix("_type")
    return "null" if name == "null" else f"{'an' if name[0] in 'aeio' else 'a'} {name}"
