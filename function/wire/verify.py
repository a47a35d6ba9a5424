"""Find what Crossplane can never send: objects without identity, and bytes that are not Values.

The identities of the XR and its composed resources are checked before anything is decided. The rest of a large request
is checked as it is read. Only after such a check fails is the whole request searched, to name the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import struct_pb2
from google.protobuf.message import DecodeError

from function.core import Manifest, deadline, visible
from function.core.condition import LONGEST_MESSAGE
from function.wire.decode import Call
from function.wire.lazy import LazyMapping, MalformedRequest

_XR = "observed.composite.resource"
_TYPE = ("apiVersion", "kind")
_METADATA: Mapping[str, tuple[type, str]] = {
    "namespace": (str, "a string"),
    "uid": (str, "a string"),
    "deletionTimestamp": (str, "a string"),
    "generation": (int, "a whole number"),
    "labels": (Mapping, "an object"),
    "annotations": (Mapping, "an object"),
}
"""Types of optional metadata fields (Kubernetes, ObjectMeta)."""


def type_of(xr: Manifest) -> tuple[str, str]:
    """Return the apiVersion and kind of an XR, or empty strings. Raises MalformedRequest."""
    for field in _TYPE:
        if not isinstance(xr.get(field), str | None):
            raise MalformedRequest(f"{_XR}.{field}: it must be a string")
    return xr.get("apiVersion") or "", xr.get("kind") or ""


def verify(call: Call) -> None:
    """Check the identity of the XR and of its composed resources. Raises MalformedRequest."""
    if wrong := _unidentified(_own(call)):
        raise MalformedRequest(_bounded(wrong))


def diagnose(call: Call, data: bytes, *, is_malformed: bool = False) -> str | None:
    """Return what is wrong with a request that could not be answered. None if it is valid, so that the bug is ours.

    If something was read that is malformed, it is searched for among all values.
    """
    objects = [*_own(call), *_required(call)]
    if wrong := _unidentified(objects):
        return _bounded(wrong)
    if is_malformed or not _is_parsed(data):  # broken bytes, or only deeper nesting than protobuf parses
        wrong = _unreadable(objects) or _unreadable_beside(call)
    return wrong and _bounded(wrong)


def _is_parsed(data: bytes) -> bool:
    try:
        fnv1.RunFunctionRequest.FromString(data)
    except DecodeError:
        return False
    return True


def _bounded(wrong: str) -> str:
    """The keys in a path may hold anything, and a gRPC status has a few kilobytes."""
    text, half = visible(wrong), LONGEST_MESSAGE // 2
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:half]}…{text[1 - half :]}"


def _own(call: Call) -> Iterator[tuple[str, Manifest]]:
    """Yield paths and objects."""
    yield _XR, call.request.xr
    for key, manifest in call.request.observed.items():
        yield f"observed.resources[{key}].resource", manifest


def _required(call: Call) -> Iterator[tuple[str, Manifest]]:
    for name, found in call.request.required.items():
        yield from ((f"required_resources[{name}].items[{i}].resource", item) for i, item in enumerate(found))


# Identity


def _unidentified(objects: Iterable[tuple[str, Manifest]]) -> str | None:
    """Return the first object without a valid identity."""
    for path, manifest in objects:
        deadline.check()
        try:
            wrong = next(_wrong(manifest), None)
        except MalformedRequest as problem:
            return _unreadable([(path, manifest)]) or f"{path}: {problem}"
        if wrong:
            return f"{path}.{wrong}"
    return None


def _wrong(manifest: Manifest) -> Iterator[str]:
    for field in _TYPE:
        if not _is_name(manifest.get(field)):
            yield f"{field}: it must be a string that is not empty"
    metadata = LazyMapping.get(manifest, "metadata") if isinstance(manifest, LazyMapping) else None
    if not isinstance(metadata, Mapping):
        yield "metadata: it must be an object"
        return
    if not _is_name(metadata.get("name")):
        yield "metadata.name: it must be a string that is not empty"
    for field, (type_, noun) in _METADATA.items():
        if not isinstance(metadata.get(field), type_ | None):
            yield f"metadata.{field}: it must be {noun}"


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


# Bytes


def _unreadable(objects: Iterable[tuple[str, Manifest]]) -> str | None:
    """Return the first value of an object that cannot be decoded. Objects may nest deep, so it does not recurse."""
    left: list[tuple[str, Any]] = list(objects)[::-1]
    while left:
        deadline.check()
        path, value = left.pop()
        try:
            left += _children(path, value)
        except MalformedRequest as problem:
            return str(problem)
    return None


def _children(path: str, value: Any) -> list[tuple[str, Any]]:
    """Return the values inside a value, with their paths.

    Raises MalformedRequest with the path of one that is broken.
    """
    if isinstance(value, LazyMapping):
        return [_child(path, value, key) for key in value]
    if isinstance(value, list):
        return [(f"{path}[{i}]", child) for i, child in enumerate(value)]
    return []


def _child(path: str, value: LazyMapping, key: str) -> tuple[str, Any]:
    try:
        return f"{path}.{key}", LazyMapping.get(value, key)
    except MalformedRequest as problem:
        raise MalformedRequest(f"{path}.{key}: {problem}") from None


def _unreadable_beside(call: Call) -> str | None:
    """Return the part that passes through to the response and cannot be decoded."""
    for name, message, held in (("desired", fnv1.State, call.desired), ("context", struct_pb2.Struct, call.context)):
        try:
            message.FromString(held)
        except DecodeError as problem:
            return f"{name}: it cannot be read: {problem}"
    return None
