"""Requests on the wire as Go writes them: the entries of every map in an order that is another each time.

So no object's bytes are twice the same, as it is in Crossplane: whoever remembers objects by their bytes gains nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

_pick = random.Random(1)


def seed(value: int) -> None:
    """Begin the sequence of orders anew, so that the same requests become the same bytes again."""
    _pick.seed(value)


def forget() -> None:
    """Forget what was encoded, so that it does not count as memory of what is measured."""
    _text.cache_clear()
    _key.cache_clear()


# Tags are a field's number and wire type: crossplane v2.3, proto/fn/v1/run_function.proto; protobuf, struct.proto.
_MESSAGE = 2


def request(
    xr: Mapping[str, Any],
    observed: Mapping[str, Mapping[str, Any]],
    required: Mapping[str, Iterable[Mapping[str, Any]]],
    tag: str,
    encode: Callable[[Mapping[str, Any]], bytes] | None = None,
) -> bytes:
    """A RunFunctionRequest. `encode` replaces `resource`, for callers who have objects encoded already."""
    encode = encode or resource
    composed = (_entry(2, key, encode(manifest)) for key, manifest in _shuffled(observed))
    found = (
        _entry(8, name, b"".join(_field(1, encode(item)) for item in items)) for name, items in _shuffled(required)
    )
    state = _field(1, encode(xr)) + b"".join(composed)
    return b"".join((_field(1, _field(1, tag.encode())), _field(2, state), *found))


def resource(manifest: Mapping[str, Any]) -> bytes:
    """An object as a Resource."""
    return _field(1, _struct(manifest))


def _struct(value: Mapping[str, Any]) -> bytes:
    return b"".join([_entry(1, key, _value(child)) for key, child in _shuffled(value)])


def _shuffled(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    entries = list(value.items())
    for i in range(len(entries) - 1, 0, -1):  # random.shuffle, without the care it takes for large lists
        j = int(_pick.random() * (i + 1))
        entries[i], entries[j] = entries[j], entries[i]
    return entries


def _value(value: Any) -> bytes:
    if isinstance(value, dict):
        return _field(5, _struct(value))
    if isinstance(value, list):
        return _field(6, b"".join([_field(1, _value(item)) for item in value]))
    return _text(value) if isinstance(value, str) else _scalar(value)


@lru_cache(100_000)
def _text(value: str) -> bytes:
    return _field(3, value.encode())


def _scalar(value: float | None) -> bytes:
    if value is None:
        return bytes((1 << 3, 0))
    if isinstance(value, bool):
        return bytes((4 << 3, value))
    return bytes((2 << 3 | 1,)) + struct.pack("<d", value)


def _entry(number: int, key: str, value: bytes) -> bytes:
    """Of a map from strings to messages."""
    return _field(number, _key(key) + _field(2, value))


@lru_cache(100_000)
def _key(key: str) -> bytes:
    return _field(1, key.encode())


def _field(number: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((number << 3 | _MESSAGE, size)) + content
    return bytes((number << 3 | _MESSAGE, *_varint(size))) + content


def _varint(size: int) -> list[int]:
    digits = []
    while size >= 0x80:
        digits.append(size & 0x7F | 0x80)
        size >>= 7
    return [*digits, size]
