"""Quoted texts, as strconv of Go 1.26 writes them (Quote), and errors that quote the text that they are about.

The escapes of a URL may stand for bytes that are no UTF-8. A text has them as Python escapes them (surrogateescape).
"""

from __future__ import annotations

from collections.abc import Callable

ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_SHOWN = 60
_ASCII, _BYTES, _SHORT = 0x80, range(0xDC80, 0xDD00), 0x10000


class Malformed(ValueError):
    """A text that does not parse. The message is made only on demand: it quotes the text, however long that is."""

    def __init__(self, sentence: str, *quotes: str) -> None:
        """Arguments: sentence: with {} for each of the quotes."""
        super().__init__(sentence, *quotes)
        self.sentence, self.quotes = sentence, quotes

    def __str__(self) -> str:
        return self.sentence.format(*map(quoted, self.quotes))

    @property
    def reason(self) -> str:
        """The end of the message, with short quotes."""
        message = self.sentence.format(*(quoted(shortened(quote)) for quote in self.quotes))
        return message.rpartition("): ")[2]

    def within(self, sentence: str, *quotes: str) -> Malformed:
        """The same error, with a sentence before its own."""
        return Malformed(sentence + self.sentence, *quotes, *self.quotes)


def explained(text: str, what: str, error: ValueError) -> str:
    """The message for a text that is no such thing, such as "IP address"."""
    reason = error.reason if isinstance(error, Malformed) else error
    return f"{quoted(shortened(text))} is no {what}: {reason}"


def is_parsed(parse: Callable[[str], object], text: str) -> bool:
    """Whether a text parses: whether the function does not raise ValueError."""
    try:
        parse(text)
    except ValueError:
        return False
    return True


def quoted(text: str) -> str:
    return '"' + "".join(ESCAPES.get(c) or (c if c.isprintable() else _escaped(ord(c))) for c in text) + '"'


def _escaped(code: int) -> str:
    if code < _ASCII:
        return f"\\x{code:02x}"
    if code in _BYTES:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < _SHORT else f"\\U{code:08x}"


def shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def to_bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def to_text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def is_text(text: str) -> bool:
    """Whether all of it is UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
