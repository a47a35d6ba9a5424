"""A protobuf Struct as a mapping that decodes a field when it is first read, and never one that is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.wire.messages import Value

# The first byte of a Value tells its kind: field number and wire type (protobuf, google/protobuf/struct.proto).
_NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 0x11, 0x1A, 0x20, 0x2A, 0x32
_ONE_BYTE = 0x80
_EXACT = 2**53
"""Beyond it a double does not hold every integer."""


class LazyMapping(Mapping[str, Any]):
    """Reads like a dict, and compares equal to one of the same content."""

    __slots__ = ("_fields", "_read")

    def __init__(self, fields: Mapping[str, bytes]) -> None:
        self._fields = fields
        self._read: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._read:
            if key not in self._fields:
                raise KeyError(key)
            self._read[key] = value(self._fields[key])
        return self._read[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self._fields else default

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._fields))  # Go writes maps in random order

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"LazyMapping({dict(self)!r})"

    __hash__ = None  # type: ignore[assignment]  # like a dict's


def value(raw: bytes) -> Any:
    """What an encoded Value holds. Whole numbers are ints."""
    kind = raw[0] if raw else None
    if kind == _STRING and raw[1] < _ONE_BYTE and len(raw) == raw[1] + 2:
        return raw[2:].decode()
    if kind == _STRUCT:
        return LazyMapping(Value.FromString(raw).struct_value.fields)
    if kind == _LIST:
        return [value(item) for item in Value.FromString(raw).list_value.values]
    if kind == _STRING:
        return Value.FromString(raw).string_value
    if kind == _NUMBER:
        return _number(Value.FromString(raw).number_value)
    if kind == _BOOL:
        return Value.FromString(raw).bool_value
    return None


def _number(double: float) -> float | int:
    return int(double) if double.is_integer() and abs(double) < _EXACT else double
