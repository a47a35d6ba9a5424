"""Text in a picture, where nothing wraps: how wide it is, about, and how it is cut to a width.

System fonts differ, so widths are those of a wide one. A text that is cut keeps its whole form in the details.
"""

from __future__ import annotations

from collections.abc import Sequence

from function.core import visible

_WIDTHS = {**dict.fromkeys("iljtfrI.,:;|!'()[]/- ", 0.36), **dict.fromkeys("mwMW@%<>=+~#&*^", 0.92)}
"""Widths of characters in terms of the font's size."""
_LOWER, _UPPER, _OTHER = 0.61, 0.74, 1.05
_ELLIPSIS = "…"


def width(text: str, size: float) -> float:
    """About how wide a text is, at most."""
    return size * sum(map(_width, text))


def _width(char: str) -> float:
    known = _WIDTHS.get(char)
    if known is not None:
        return known
    if not char.isascii():
        return _OTHER
    return _UPPER if char.isupper() else _LOWER


def name(text: str, room: float, size: float) -> str:
    """A name, cut in its middle: its end tells as much as its beginning."""
    shown = visible(text)
    if width(shown, size) <= room:
        return shown
    half = max(1, _most(shown, (room - size) / 2, size))
    return f"{shown[:half]}{_ELLIPSIS}{shown[-half:]}"


def lines(text: str, room: float, size: float, most: int) -> tuple[str, ...]:
    """A sentence on several lines, cut at its end."""
    found, words = [""], visible(text).split()
    for word in words:
        joined = f"{found[-1]} {word}".strip()
        if width(joined, size) <= room:
            found[-1] = joined
        else:
            found += [word]
    found = [line for line in found if line]
    shown = found[:most]
    if len(found) > most:
        shown[-1] = f"{shown[-1]} {_ELLIPSIS}"
    return tuple(cut(line, room, size) for line in shown)


def cut(text: str, room: float, size: float) -> str:
    """A text on one line, cut at its end."""
    line = visible(text)
    if width(line, size) <= room:
        return line
    return f"{line[: max(1, _most(line, room - size, size))].rstrip(f' {_ELLIPSIS}')}{_ELLIPSIS}"


def _most(text: Sequence[str], room: float, size: float) -> int:
    """How many of the first characters fit."""
    taken = 0.0
    for index, char in enumerate(text):
        taken += size * _width(char)
        if taken > room:
            return index
    return len(text)
