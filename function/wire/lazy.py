"""A protobuf Struct as a mapping that decodes a field only when it is read."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from math import isfinite
from typing import Any

from google.protobuf import struct_pb2
from google.protobuf.message import DecodeError

from function.wire.messages import Value

# The first byte of a Value gives its kind: field number and wire type (protobuf, google/protobuf/struct.proto).
_NULL, _NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 0x08, 0x11, 0x1A, 0x20, 0x2A, 0x32
_ONE_BYTE = 0x80
_DOUBLE, _DOUBLE_SIZE = struct.Struct("<xd").unpack, 9
_EXACT = 2**53
"""Above it, a double does not hold every integer."""
_GARBAGE = (DecodeError, UnicodeDecodeError, IndexError, struct.error)


class MalformedRequest(Exception):
    """The request is not one that Crossplane can send. This may surface only when a part of it is first read.

    It is not a ValueError: code that turns a wrong value into a decision must not do so with broken bytes.
    """


class LazyMapping(Mapping[str, Any]):
    """A read-only mapping that equals a dict with the same content. It caches no field, so keep what you read."""

    __slots__ = ("_derived", "_fields")

    _derived: dict[str, Any]

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

    __hash__ = None  # type: ignore[assignment]  # unhashable, like a dict

    def digest(self, *keys: str) -> bytes:
        """Return a hash of the content under these keys. It is equal only for equal content, whatever the order of
        maps.

        Decoding and encoding once more, in C, is many times cheaper than reading.
        """
        found = sha256()
        for key in keys:
            content = _canonical(self._fields.get(key) or b"")
            found.update(len(content).to_bytes(8, "big") + content)
        return found.digest()

    def derived(self, key: str, make: Callable[[Mapping[str, Any]], Any]) -> Any:
        """Return a value that is derived from the content, and keep it: one call may need it several times."""
        try:
            known = self._derived
        except AttributeError:  # most mappings are never asked
            known = self._derived = {}
        if key not in known:
            known[key] = make(self)
        return known[key]

    def mentions(self, key: str, text: str) -> bool:
        """Return whether a text may occur under a key, without decoding anything. False is certain."""
        raw = self._fields.get(key)
        return raw is not None and text.encode() in raw


class LazyObject(LazyMapping):
    """A Kubernetes object. Raises MalformedRequest if it has no metadata with a name."""

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
    """Decode a Value. Whole numbers become ints. Raises MalformedRequest."""
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
    """Return the same bytes for the same content, whatever the order of maps.

    A value that nests deeper than protobuf's limit stays as it was sent. Then another order gives other bytes, which is
    safe: no two contents get the same bytes.
    """
    try:
        return struct_pb2.Value.FromString(raw).SerializeToString(deterministic=True)
    except DecodeError:
        return b"raw" + raw


def _fields(raw: bytes) -> Any:
    """Return the fields of a Value that holds a Struct. Raises DecodeError."""
    return Value.FromString(raw).struct_value.fields


def _number(double: float) -> float | int:
    """Raises MalformedRequest for a number that JSON does not have: Crossplane refuses it in every response."""
    if double.is_integer() and abs(double) < _EXACT:
        return int(double)
    if not isfinite(double):
        raise MalformedRequest(f"{double} is no number of JSON")
    return double
