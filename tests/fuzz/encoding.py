"""Protobuf's encoding, as far as it takes to write it wrongly (protobuf, "Encoding")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from function.sandbox import remote as protocol
from function.sandbox.settle import resolve
from tests.support.cases import answer, load

VARINT, DOUBLE, BYTES, FIXED = 0, 1, 2, 5
_SIZES = {DOUBLE: 8, FIXED: 4}
_SEVEN, _MORE = 0x7F, 0x80


class Field(NamedTuple):
    number: int
    type: int
    content: bytes


@cache
def answered(case: Path) -> bytes:
    """Return the request of a golden case with all that it looks up, as Crossplane sends it."""
    request, objects = load(case)
    required = resolve(answer(case).requirements, objects)
    return protocol.encode(replace(request, required=required)).SerializeToString(deterministic=True)


def varint(number: int) -> bytes:
    written = bytearray()
    while number > _SEVEN:
        written.append(number & _SEVEN | _MORE)
        number >>= 7
    return bytes([*written, number])


def tag(number: int, type_: int) -> bytes:
    return varint(number << 3 | type_)


def field(number: int, content: bytes) -> bytes:
    """Return a field with a length."""
    return tag(number, BYTES) + varint(len(content)) + content


def entry(key: bytes, value: bytes) -> bytes:
    """Return an entry of a Struct's map."""
    return field(1, field(1, key) + field(2, value))


def message(fields: Iterable[Field]) -> bytes:
    return b"".join(
        field(number, content) if type_ == BYTES else tag(number, type_) + content for number, type_, content in fields
    )


def parsed(data: bytes) -> list[Field] | None:
    """Return the fields of a message, or None for bytes that are none."""
    found, at = [], 0
    try:
        while at < len(data):
            key, at = _varint(data, at)
            number, type_ = key >> 3, key & 7
            start, at = (at, _end(data, type_, at)) if type_ != BYTES else _bounds(data, at)
            if not 0 < number < 2**29 or at > len(data):
                return None
            found.append(Field(number, type_, data[start:at]))
    except LookupError:
        return None
    return found


def _end(data: bytes, type_: int, at: int) -> int:
    return _varint(data, at)[1] if type_ == VARINT else at + _SIZES[type_]


def _bounds(data: bytes, at: int) -> tuple[int, int]:
    length, start = _varint(data, at)
    return start, start + length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while data[at] & _MORE:
        number |= (data[at] & _SEVEN) << shift
        at, shift = at + 1, shift + 7
    return number | data[at] << shift, at + 1
