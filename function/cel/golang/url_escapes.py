"""Escapes in the parts of a URL: which characters each part may hold, and how the others are written.

Source: net/url of Go 1.26.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_from_bytes, unquote_to_bytes

from function.cel.golang.strconv import Malformed, to_bytes, to_text
from function.cel.language.limits.step_budget import spend

_LENGTH = 3
_CHARACTERS = 4
"""Characters that one step escapes."""
_UNRESERVED = r"A-Za-z0-9_.~\-"
_IN_PATHS = "$&+,/:;=@"
_IN_HOSTS = "!$&'()*+,;=:[]<>\""
_IN_ZONES = "|".join(f"{ord(letter):02x}" for letter in f"{_IN_HOSTS} %_.~-")
"""Characters beside letters and digits that may be escaped in a zone, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a URL. Letters, digits and -_.~ are never escaped."""

    plain: str
    """Other characters that are not escaped when the part is written."""
    preserved: re.Pattern[str] | None = None
    """The texts that are left as they were written."""
    wrong: re.Pattern[str] = re.compile(r"%(?![0-9A-Fa-f]{2})")
    """A malformed escape, one that is not allowed, or a character that must be escaped."""
    plus: bytes = b"+"
    """The bytes that a plus stands for."""


def _preserved(plain: str) -> re.Pattern[str]:
    return re.compile(rf"[{_UNRESERVED}{re.escape(plain)}!'()*\[\]%]*")


def _wrong(may_be_escaped: str) -> re.Pattern[str]:
    """For a host or its zone."""
    plain = rf"[^%{_UNRESERVED}{re.escape(_IN_HOSTS)}\x80-\U0010ffff]"
    return re.compile(rf"%(?![0-9A-Fa-f]{{2}})|%(?!{may_be_escaped})|{plain}")


PATH = Part(_IN_PATHS, _preserved(_IN_PATHS))
FRAGMENT = Part(f"{_IN_PATHS}?!()*", _preserved(f"{_IN_PATHS}?"))
USER = Part("$&+,;=")
QUERY = Part("", plus=b" ")
HOST = Part(_IN_HOSTS, wrong=_wrong("25|[89A-Fa-f]"))
ZONE = Part(_IN_HOSTS, wrong=_wrong(f"(?i:{_IN_ZONES})|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]"))


def check(text: str, part: Part) -> None:
    """Malformed where an escape is wrong, or a character must be escaped and is not."""
    found = part.wrong.search(text)
    if found is None:
        return
    if found[0] == "%":
        at = found.start()
        raise Malformed("invalid URL escape {}", to_text(to_bytes(text[at : at + _LENGTH])[:_LENGTH]))
    raise Malformed("invalid character {} in host name", found[0])


def unescaped(text: str, part: Part) -> str:
    """The text that a part stands for. Malformed where it is wrong."""
    check(text, part)
    if "%" not in text and (part.plus == b"+" or "+" not in text):
        return text
    return to_text(unquote_to_bytes(to_bytes(text).replace(b"+", part.plus)))


def escaped(text: str, part: Part) -> str:
    return quote_from_bytes(to_bytes(text), safe=part.plain)


def preserved(text: str, part: Part) -> str:
    """A part as it was written, if it may be written so; otherwise escaped anew."""
    if part.preserved is not None and part.preserved.fullmatch(text):
        return text
    spend(len(text) // _CHARACTERS)
    return escaped(unescaped(text, part), part)
