"""Read a request's XR from its bytes, without parsing the rest.

A request over a large fleet takes 200 ms to parse, and a call is queued before that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from function.core import dig
from function.wire import messages
from function.wire.lazy import LazyMapping, MalformedRequest

# Field numbers: crossplane v2.3, proto/fn/v1/run_function.proto.
_OBSERVED, _COMPOSITE = 2, 1
# Wire types: protobuf, "Encoding".
_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
"""Length of a field in bytes, by its wire type."""
_MORE = 0x80
_LONGEST_VARINT = 10
_MOST = 4096
"""Fields examined. Crossplane writes the composite before any large part."""


class Origin(NamedTuple):
    """The XR that a call is for. Fields are empty if they cannot be read."""

    namespace: str = ""
    kind: str = ""
    name: str = ""
    generation: int = 0


def peek(data: bytes) -> Origin:
    """Return the origin of a request. Never raises: decoding it later finds what is malformed."""
    try:
        observed = _field(data, _OBSERVED, (0, len(data)))
        start, end = _field(data, _COMPOSITE, observed)
        xr = LazyMapping(messages.Resource.FromString(data[start:end]).resource.fields)
        return _origin(xr.get("kind"), xr.get("metadata"))
    except (DecodeError, MalformedRequest, LookupError):
        return Origin()


def _origin(kind: Any, metadata: Any) -> Origin:
    generation = dig(metadata, "generation")
    return Origin(
        _text(dig(metadata, "namespace")),
        _text(kind),
        _text(dig(metadata, "name")),
        generation if isinstance(generation, int) else 0,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _field(data: bytes, wanted: int, within: tuple[int, int]) -> tuple[int, int]:
    """Return the start and end of the first message with a field number. Raises LookupError."""
    for number, start, end in _fields(data, *within):
        if number == wanted:
            return start, end
    raise LookupError(wanted)


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield numbers and bounds of fields. Raises IndexError if the bytes end early."""
    for _ in range(_MOST):
        if at >= end:
            return
        tag, start = _varint(data, at)
        at = _after(data, tag & 7, start)
        if tag & 7 == _BYTES:
            yield tag >> 3, at - _length(data, start), at


def _after(data: bytes, type_: int, start: int) -> int:
    """Return the end of a field's content."""
    if type_ == _BYTES:
        length, start = _varint(data, start)
        return start + length
    if type_ == _VARINT:
        return _varint(data, start)[1]
    return start + _FIXED[type_]


def _length(data: bytes, start: int) -> int:
    return _varint(data, start)[0]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and its end."""
    number = 0
    for shift in range(_LONGEST_VARINT):
        byte = data[at + shift]
        number |= (byte & ~_MORE) << 7 * shift
        if byte < _MORE:
            return number, at + shift + 1
    raise LookupError(at)
