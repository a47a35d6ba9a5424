"""Numbers, names and text from others in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_BLANKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
"""Line breaks and tabs."""
_HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
"""Characters that act or hide: terminal controls (C0, C1), text direction (Unicode, UAX 9), zero-width characters,
surrogate halves, which UTF-8 cannot encode, and tags (U+E0000)."""
_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-Z\\^-~]")
"""Sequences that control a terminal: colors (CSI), titles (OSC) and others (ECMA-48)."""

_ALIKE = 0.6
"""The ratio from which two names count as similar: 0 has nothing in common, 1 is equal (difflib)."""
_LAST_BYTE, _LAST_OF_FOUR = 0xFF, 0xFFFF


def plural(number: int, noun: str) -> str:
    """Return a number and its noun: `1 node`, `2 nodes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


MOST_NAMED = 5
"""Names that a message lists before it counts the others."""
MOST_DESCRIBED = 3
"""Things that a message describes, each with its own problem."""


def enumerate_names(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """List the first names and count the rest: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar to a mistyped one, regardless of case; None if none is similar."""
    by_lower = {one.lower(): one for one in sorted(known)}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return by_lower[found[0]] if found else None


def visible(text: str) -> str:
    """Return a text on one line, with every character that acts or hides escaped: `\\u202e` for a right-to-left
    override.

    Applying it twice changes nothing.
    """
    if text.isascii() and text.isprintable():  # the common case
        return text
    return _HIDDEN.sub(lambda found: _escaped(ord(found[0])), _BLANKS.sub(" ", text))


def bare(text: str) -> str:
    """Return a text as a terminal shows it: without sequences that control it, and without characters that hide.

    Line breaks and other blanks stay.
    """
    if text.isascii() and text.isprintable():  # the common case
        return text
    return _HIDDEN.sub(lambda found: found[0] if found[0].isspace() else "", _SEQUENCE.sub("", text))


def _escaped(code: int) -> str:
    if code <= _LAST_BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _LAST_OF_FOUR else f"\\U{code:08x}"
