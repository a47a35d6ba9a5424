"""How large the function's answer for a deployment will be: Crossplane takes none above its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.core import Manifest
from function.core.manifest import is_list
from function.kinds.modeldeployment import model as modeldeployment
from function.validation.flaw import Flaw
from function.wire import LARGEST_RESPONSE

_FRAME = 6
"""Bytes that protobuf spends around a Value: two tags, two lengths. A map's entry has one frame more."""
_NUMBER = 9
_BESIDE = 4096
"""Bytes for what a replica carries beside its engines, and for its endpoint. Generous."""
_MIB = 2**20


def flaws(index: int, manifest: Manifest) -> Iterator[Flaw]:
    """Of a sound object: whether its replicas fit into one answer."""
    if manifest["kind"] != modeldeployment.KIND:
        return
    spec = manifest["spec"]
    replicas = spec.get("replicas", 1)
    size = replicas * (_encoded(spec["engines"]) + _BESIDE)
    if size > LARGEST_RESPONSE:
        said = f"make {replicas} replicas of {size / replicas / _MIB:.2f} MiB: {size / _MIB:.1f} MiB in one answer"
        accepted = f"Crossplane takes {LARGEST_RESPONSE / _MIB:.1f} MiB"
        yield Flaw(index, ("spec", "engines"), f"{said}, and {accepted}", "response-size")


def _encoded(value: Any) -> int:
    """Bytes of a value as a protobuf Struct, give or take a few in a hundred."""
    if isinstance(value, Mapping):
        return _FRAME + sum(_FRAME + len(key.encode()) + _encoded(child) for key, child in value.items())
    if is_list(value):
        return _FRAME + sum(map(_encoded, value))
    return _FRAME + (len(value.encode()) if isinstance(value, str) else _NUMBER)
