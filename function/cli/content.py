"""The content of files as text: UTF-8, with or without a byte order mark."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Final

from function.cli.documents import place_behind
from function.cli.values import BrokenFile, Position, readable

STDIN: Final = "-"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def shown(file: str) -> str:
    """A file's name as text, also if its bytes are not UTF-8."""
    return "<stdin>" if file == STDIN else readable(file)


def of(file: str) -> bytes:
    """The content of a file. Raises BrokenFile."""
    try:
        if file == STDIN:
            return sys.stdin.buffer.read()
        with open(file, "rb") as opened:  # noqa: PTH123  (a name that is not UTF-8 too)
            _check_device(opened.fileno(), file)
            return opened.read()
    except OSError as error:
        raise BrokenFile(shown(file), f"cannot be read: {error.strerror}") from error


def _check_device(descriptor: int, file: str) -> None:
    """Refuse a device, which may have no end. A terminal has one, and so has the null device."""
    mode = os.fstat(descriptor).st_mode
    is_device = stat.S_ISBLK(mode) or stat.S_ISCHR(mode)
    if is_device and not os.isatty(descriptor) and not Path(file).samefile(os.devnull):
        raise BrokenFile(shown(file), "a device, not a file")


def text(file: str) -> str:
    """The content of a file as text. Raises BrokenFile."""
    return decoded(of(file), shown(file))


def decoded(raw: bytes, file: str) -> str:
    """The text of a file that is called `file`. Raises BrokenFile."""
    if raw[:2] in _UTF_16:
        raise BrokenFile(file, "the text is UTF-16; save the file as UTF-8", Position(1, 1))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = place_behind(raw[: error.start].decode(errors="replace"))
        problem = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise BrokenFile(file, problem, place) from error


def guessed(raw: bytes) -> str:
    """A text that may be damaged, for a look at what it is about."""
    return raw.decode("utf-16" if raw[:2] in _UTF_16 else "utf-8", errors="replace")
