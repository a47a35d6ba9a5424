"""Literals: numbers in 64 bits, strings and bytes with their escapes.

Source: github.com/google/cel-go v0.26, parser (unescape.go, parser.go).
"""

from __future__ import annotations

import re
from typing import Any

from function.cel.language.errors import Fault
from function.cel.language.limits import LITERAL_DIGITS
from function.cel.language.values.kinds import Uint

_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7][0-7])|(.))", re.DOTALL)
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LARGEST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_FIXED = {"true": True, "false": False, "null": None}


def value(kind: str, text: str, at: int, *, sign: str = "") -> Any:
    """The value of a token. Fault where it has none."""
    match kind:
        case "int":
            return _integer(sign + text.removeprefix("0x"), 16 if text.startswith("0x") else 10, at)
        case "uint":
            return _unsigned(text[:-1], at)
        case "double":
            return _double(sign + text, at)
        case "string":
            return _string(text, at)
        case "bytes":
            return _bytes(text[1:], at)
    return _FIXED[text]


def _integer(text: str, base: int, at: int) -> int:
    number = int(text, base) if len(text) < LITERAL_DIGITS else int(text.lstrip("-0")[:LITERAL_DIGITS] or "0", base)
    if not -(2**63) <= number < 2**63:
        raise Fault("this integer does not fit in 64 bits", at)
    return number


def _unsigned(text: str, at: int) -> Uint:
    base = 16 if text.startswith("0x") else 10
    digits = text.removeprefix("0x").lstrip("0") or "0"
    number = int(digits[:LITERAL_DIGITS], base)
    if number >= 2**64:
        raise Fault("this unsigned integer does not fit in 64 bits", at)
    return Uint(number)


def _double(text: str, at: int) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise Fault("this number is beyond the range of a double", at)
    return number


def _string(text: str, at: int) -> str:
    raw, body = _body(text)
    return body if raw else _ESCAPE.sub(lambda found: chr(_code_point(found, at)), body)


def _bytes(text: str, at: int) -> bytes:
    raw, body = _body(text)
    if raw:
        return body.encode()
    whole, end = bytearray(), 0
    for found in _ESCAPE.finditer(body):
        whole += body[end : found.start()].encode()
        if found[2] or found[3]:
            raise Fault("bytes cannot be written with \\u; use \\x or an octal escape", at)
        whole.append(_number(found))
        end = found.end()
    return bytes(whole + body[end:].encode())


def _body(text: str) -> tuple[bool, str]:
    """Whether a string is raw, and the text between its quotes, with all line ends as \\n."""
    raw = text[0] in "rR"
    text = text[raw:].replace("\r\n", "\n").replace("\r", "\n")
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1  # noqa: PLR2004  (two times three quotes)
    return raw, text[quotes:-quotes]


def _code_point(found: re.Match[str], at: int) -> int:
    number = _number(found)
    if number > _LARGEST_CODE_POINT or number in _SURROGATES:
        raise Fault(f"{found[0]} is no character", at)
    return number


def _number(found: re.Match[str]) -> int:
    octal, plain = found[4], found[5]
    if octal:
        return int(octal, 8)
    if plain:
        return ord(_PLAIN.get(plain, plain))
    return int(found[1] or found[2] or found[3], 16)
