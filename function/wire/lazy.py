"""A protobuf Struct as a mapping that decodes a field when it is first read, and never one that is not."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from google.protobuf import struct_pb2
from google.protobuf.message import DecodeError

from function.wire.messages import Value

# The first byte of a Value tells its kind: field number and wire type (protobuf, google/protobuf/struct.proto).
_NULL, _NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 0x08, 0x11, 0x1A, 0x20, 0x2A, 0x32
_ONE_BYTE = 0x80
_DOUBLE, _DOUBLE_SIZE = struct.Struct("<xd").unpack, 9
_EXACT = 2**53
"""Beyond it a double does not hold every integer."""
_GARBAGE = (DecodeError, UnicodeDecodeError, IndexError, struct.error)


class MalformedRequest(Exception):
    """The request is none that Crossplane can send. It may be noticed only when a part of it is first read.

    It is no ValueError: what turns a wrong value into a decision must not turn broken bytes into one.
    """


class LazyMapping(Mapping[str, Any]):
    """Reads like a dict, and equals one of the same content. It remembers nothing: keep what you read."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, bytes]) -> None:
        self._fields = fields

    def __getitem__(self, key: str) -> Any:
        raw = self._fields.get(key)
        if raw is None:
            raise KeyError(key)
        return value(raw)

    def get(self, key: str, default: Any = None) -> Any:
        raw = self._fields.get(key)
        return default if raw is None else value(raw)

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._fields))  # Go writes maps in random order

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"LazyMapping({dict(self)!r})"

    __hash__ = None  # type: ignore[assignment]  # like a dict's

    def digest(self, *keys: str) -> bytes:
        """Of the content under these keys, whatever the order of the maps in it: equal only where the content is.

        Decoding and encoding once more, in C, is many times cheaper than reading.
        """
        found = sha256()
        for key in keys:
            content = _canonical(self._fields.get(key) or b"")
            found.update(len(content).to_bytes(8, "big") + content)
        return found.digest()

    def mentions(self, key: str, text: str) -> bool:
        """Whether a text may stand somewhere under a key. A no is certain, and nothing is decoded for it."""
        raw = self._fields.get(key)
        return raw is not None and text.encode() in raw


class LazyObject(LazyMapping):
    """A Kubernetes object. Its metadata is an object that holds a name, or the request is malformed."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        return self._metadata() if key == "metadata" else super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self._metadata() if key == "metadata" else super().get(key, default)

    def _metadata(self) -> LazyMapping:
        raw = self._fields.get("metadata")
        if not raw or raw[0] != _STRUCT:
            raise MalformedRequest("an object has no metadata")
        metadata: LazyMapping = value(raw)
        if (metadata._fields.get("name") or b"?")[0] != _STRING:
            raise MalformedRequest("an object has no name")
        return metadata


def value(raw: bytes) -> Any:
    """What an encoded Value holds. Whole numbers are ints. Raises MalformedRequest."""
    kind = raw[0] if raw else _NULL
    try:
        if kind == _STRING:
            is_short = raw[1] < _ONE_BYTE and len(raw) == raw[1] + 2
            return raw[2:].decode() if is_short else Value.FromString(raw).string_value
        if kind == _STRUCT:
            return LazyMapping(_fields(raw))
        if kind == _LIST:
            return [value(item) for item in Value.FromString(raw).list_value.values]
        if kind == _NUMBER:
            return _number(_DOUBLE(raw)[0] if len(raw) == _DOUBLE_SIZE else Value.FromString(raw).number_value)
        if kind == _BOOL:
            return Value.FromString(raw).bool_value
    except _GARBAGE as error:
        raise MalformedRequest(_UNREADABLE) from error
    if kind != _NULL:
        raise MalformedRequest(_UNREADABLE)
    return None


_UNREADABLE = "it is no google.protobuf.Value"


def _canonical(raw: bytes) -> bytes:
    """Of the same content the same bytes, whatever the order of maps in it.

    What nests deeper than protobuf reads at once stays as it was sent: then another order is other bytes, and nothing
    is confused.
    """
    try:
        return struct_pb2.Value.FromString(raw).SerializeToString(deterministic=True)
    except DecodeError:
        return b"raw" + raw


def _fields(raw: bytes) -> Any:
    """Of a Value that holds a Struct. Raises DecodeError."""
    return Value.FromString(raw).struct_value.fields


def _number(double: float) -> float | int:
    return int(double) if double.is_integer() and abs(double) < _EXACT else double
