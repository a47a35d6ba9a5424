"""Requests whose bytes are wrong: at the level of bits, of protobuf's encoding, and of the values of a Struct."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.fuzz import encoding
from tests.fuzz.encoding import BYTES, FIXED, VARINT, Field, answered
from tests.support.cases import CASES

Mutator = Callable[[Random, bytes], bytes]
_MOST = 4
"""Mutations of one request."""
_DOWN = 0.85
"""The chance that a mutation happens further inside."""
_TEXTS = (
    *(b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf8\x88\x80\x80\x80", b"\x00", b"a" * 5000, b"\xe2\x80\xae", b""),
)
_VALUES = {
    "NaN": b"\x11" + struct.pack("<d", float("nan")),
    "Infinity": b"\x11" + struct.pack("<d", float("inf")),
    "-Infinity": b"\x11" + struct.pack("<d", float("-inf")),
    "-0": b"\x11" + struct.pack("<d", -0.0),
    "1e308": b"\x11" + struct.pack("<d", 1e308),
    "null": b"\x08\x00",
    "no null": b"\x08\x07",
    "nothing": b"",
    "a list of nulls": encoding.field(6, encoding.field(1, b"\x08\x00") * 3),
    "an empty list": encoding.field(6, b""),
    "an empty object": encoding.field(5, b""),
    "two kinds": encoding.field(3, b"a") + b"\x20\x01",
    "two objects": encoding.field(5, encoding.entry(b"a", encoding.field(3, b"b"))) * 2,
    "a truth of 10 bytes": b"\x20" + b"\xff" * 9 + b"\x01",
    "another kind": encoding.field(9, b"a"),
}


def invented(random: Random, cases: list[Path] = CASES) -> bytes:
    """Return a new request."""
    if random.random() < 1 / 50:
        return random.randbytes(random.randrange(200))
    data = answered(random.choice(cases))
    for _ in range(random.choice((1, 1, 1, 2, _MOST))):
        data = mutated(random, data)
    if random.random() < 1 / 20:
        return spliced(random, data, answered(random.choice(cases)))
    return data


def mutated(random: Random, data: bytes) -> bytes:
    """Return a message with a mutation somewhere in it. The lengths around it are right."""
    fields = encoding.parsed(data)
    inside = [i for i, found in enumerate(fields or ()) if found.type == BYTES and found.content]
    if fields and inside and random.random() < _DOWN:
        i = random.choice(inside)
        fields[i] = fields[i]._replace(content=mutated(random, fields[i].content))
        return encoding.message(fields)
    if fields and random.random() < 1 / 2:
        random.choice(_OF_MESSAGES)(random, fields)
        return encoding.message(fields)
    return random.choice(_OF_BYTES)(random, data)


# Mutations of bytes


def _flipped(random: Random, data: bytes) -> bytes:
    changed = bytearray(data or b"\x00")
    for _ in range(random.choice((1, 1, 3))):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _truncated(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _without_a_part(random: Random, data: bytes) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:]


def _with_a_part_twice(random: Random, data: bytes) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[start:]


def spliced(random: Random, data: bytes, other: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _random(random: Random, data: bytes) -> bytes:
    return random.randbytes(random.randrange(2 + min(64, len(data))))


def _text(random: Random, data: bytes) -> bytes:
    return random.choice(_TEXTS)


def _value(random: Random, data: bytes) -> bytes:
    return random.choice(list(_VALUES.values()))


def _lying(random: Random, data: bytes) -> bytes:
    """A length that is longer than what there is."""
    return encoding.tag(random.randrange(1, 9), BYTES) + encoding.varint(random.choice((len(data) + 1, 2**31, 2**63)))


def _nested(random: Random, data: bytes) -> bytes:
    """A value in objects or in lists, up to beyond what the protobuf of Python reads at once."""
    value = random.choice((b"\x1a\x01a", data))
    for _ in range(random.choice((10, 49, 50, 51, 100, 120))):
        value = encoding.field(5, encoding.entry(b"a", value)) if random.random() < 3 / 4 else _in_a_list(value)
    return value


def _in_a_list(value: bytes) -> bytes:
    return encoding.field(6, encoding.field(1, value))


_OF_BYTES: tuple[Mutator, ...] = (
    *(_flipped, _truncated, _without_a_part, _with_a_part_twice, _random, _text, _value, _value, _lying, _nested),
)

# Mutations of the fields of a message


def _twice(random: Random, fields: list[Field]) -> None:
    """Also a key of a map that is there twice."""
    fields.insert(random.randrange(len(fields) + 1), random.choice(fields))


def _shuffled(random: Random, fields: list[Field]) -> None:
    random.shuffle(fields)


def _dropped(random: Random, fields: list[Field]) -> None:
    del fields[random.randrange(len(fields))]


def _emptied(random: Random, fields: list[Field]) -> None:
    i = random.randrange(len(fields))
    fields[i] = Field(fields[i].number, BYTES, b"")


def _renumbered(random: Random, fields: list[Field]) -> None:
    i = random.randrange(len(fields))
    fields[i] = fields[i]._replace(number=random.choice((0, 1, 2, 3, 5, 8, 15, 19000, 2**29 - 1, 2**29, 2**31)))


def _unknown(random: Random, fields: list[Field]) -> None:
    number = random.choice((7, 9, 99, 2**29 - 1))
    type_, content = random.choice(((VARINT, b"\x01"), (BYTES, b"abc"), (FIXED, b"\x00" * 4), (1, b"\x00" * 8)))
    fields.insert(random.randrange(len(fields) + 1), Field(number, type_, content))


def _overflown(random: Random, fields: list[Field]) -> None:
    """A number of more than 64 bits, and one of more than 10 bytes."""
    content = random.choice((b"\xff" * 9 + b"\x7f", b"\x80" * 10 + b"\x01", b"\xff" * 20))
    fields.insert(random.randrange(len(fields) + 1), Field(random.choice((1, 4, 9)), VARINT, content))


def _grouped(random: Random, fields: list[Field]) -> None:
    """A group, which the encoding knows and proto3 does not: open, closed, or both."""
    for type_ in random.choice(((3,), (4,), (3, 4), (6,), (7,))):
        fields.insert(random.randrange(len(fields) + 1), Field(random.choice((1, 2, 9)), type_, b""))


_OF_MESSAGES: tuple[Callable[[Random, list[Field]], None], ...] = (
    *(_twice, _shuffled, _dropped, _emptied, _renumbered, _unknown, _overflown, _grouped),
)


def values() -> Iterator[tuple[str, bytes]]:
    """Yield the hostile Values, each with its name."""
    yield from _VALUES.items()
