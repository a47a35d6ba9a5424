"""The size of the function's response for a deployment. Crossplane refuses a response above its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.api import modeldeployment
from function.core import Manifest
from function.core.manifest import is_list
from function.validation.finding import Finding
from function.wire import LARGEST_RESPONSE

_NUMBER, _FLAG = 9, 2
_BESIDE = 4096
"""Bytes for a replica's fields other than engines, and for its endpoint. Generous."""
_MIB = 2**20


def findings(index: int, manifest: Manifest) -> Iterator[Finding]:
    """Report a valid deployment whose replicas do not fit into one response."""
    if manifest["kind"] != modeldeployment.KIND:
        return
    spec = manifest["spec"]
    replicas = spec.get("replicas", 1)
    size = replicas * (encoded(spec["engines"]) + _BESIDE)
    if size > LARGEST_RESPONSE:
        problem = f"make {replicas} replicas of {size / replicas / _MIB:.2f} MiB: {size / _MIB:.1f} MiB in one answer"
        accepted = f"Crossplane takes {LARGEST_RESPONSE / _MIB:.1f} MiB"
        yield Finding(index, ("spec", "engines"), f"{problem}, and {accepted}", "response-size")


def encoded(value: Any) -> int:
    """Return the size of a value as protobuf's google.protobuf.Value (struct.proto), in bytes."""
    if isinstance(value, Mapping):
        return _framed(sum(_framed(_framed(len(key.encode())) + _framed(encoded(v))) for key, v in value.items()))
    if is_list(value):
        return _framed(sum(_framed(encoded(item)) for item in value))
    if isinstance(value, str):
        return _framed(len(value.encode()))
    return _FLAG if isinstance(value, bool) or value is None else _NUMBER


def _framed(size: int) -> int:
    """Return the size of a field of `size` bytes: its tag, its length in groups of seven bits, and its content."""
    return 1 + max(1, -(-size.bit_length() // 7)) + size
