"""Escapes of the parts of a URL: what each part may hold as it is, and %20 for the rest.

Source: net/url of Go 1.26.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes

from function.cel.quoting import Malformed, to_bytes, to_text

_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_WRONG = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LENGTH = 3
_UNRESERVED = r"A-Za-z0-9_.~\-"
_OF_HOST = "!$&'()*+,;=:[]<>\""
_HOST_ESCAPE = re.compile(rf"%([0-9A-Fa-f]{{2}})?|[^{_UNRESERVED}{re.escape(_OF_HOST)}\x80-\U0010ffff]")
_PERCENT, _SPACE, _ASCII = 0x25, 0x20, 0x80


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a URL. Letters, digits and -_.~ are never escaped."""

    plain: str
    """What else is not escaped when it is written."""
    kept: re.Pattern[str] | None = None
    """How it may be written to be left as it is."""
    escapes: str = ""
    """Of a host: what may be escaped in it beside percent signs, ascii or others."""
    plus: bytes = b"+"
    """What a plus stands for."""


def _kept(plain: str) -> re.Pattern[str]:
    return re.compile(rf"[{_UNRESERVED}{re.escape(plain)}!'()*\[\]%]*")


_IN_PATHS = "$&+,/:;=@"
PATH = Part(_IN_PATHS, _kept(_IN_PATHS))
FRAGMENT = Part(f"{_IN_PATHS}?!()*", _kept(f"{_IN_PATHS}?"))
USER = Part("$&+,;=")
QUERY = Part("", plus=b" ")
HOST = Part(_OF_HOST, escapes="others")
ZONE = Part(_OF_HOST, escapes="ascii")


def check(text: str, part: Part) -> None:
    """Malformed where an escape is wrong, or something of a host is not escaped, or is that must not be."""
    if part.escapes:
        _check_host(text, part)
    elif found := _WRONG.search(text):
        raise _wrong_escape(text, found.start())


def unescaped(text: str, part: Part) -> str:
    """Malformed where it is wrong."""
    check(text, part)
    if "%" not in text and (part.plus == b"+" or "+" not in text):
        return text
    data = to_bytes(text).replace(b"+", part.plus)
    return to_text(_ESCAPE.sub(lambda found: bytes((int(found[1], 16),)), data))


def escaped(text: str, part: Part) -> str:
    return quote_from_bytes(to_bytes(text), safe=part.plain)


def kept(text: str, part: Part) -> str:
    """As it was written, if that is an escape of what it says; else anew."""
    if part.kept is not None and part.kept.fullmatch(text):
        return text
    return escaped(unescaped(text, part), part)


def _check_host(text: str, part: Part) -> None:
    for found in _HOST_ESCAPE.finditer(text):
        if found[0][0] != "%":
            raise Malformed("invalid character {} in host name", found[0])
        if found[1] is None or not _may_be_escaped(int(found[1], 16), part):
            raise _wrong_escape(text, found.start())


def _may_be_escaped(code: int, part: Part) -> bool:
    if code == _PERCENT:
        return True
    if part.escapes == "others":
        return code >= _ASCII
    return code == _SPACE or (code < _ASCII and _HOST_ESCAPE.fullmatch(chr(code)) is None)


def _wrong_escape(text: str, at: int) -> Malformed:
    """Quotes three bytes, which may end within a character."""
    return Malformed("invalid URL escape {}", to_text(to_bytes(text[at : at + _LENGTH])[:_LENGTH]))
