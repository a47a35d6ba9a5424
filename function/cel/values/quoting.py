"""Texts between quotes, as Go writes them, and what is read from the escapes of a URL, which may be no text.

Bytes that are no UTF-8 stand in it as Python escapes them (surrogateescape). Source: strconv of Go 1.26 (Quote).
"""

from __future__ import annotations

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
    """What is wrong with a text. Its sentence is made only for who asks: it quotes the text, however long that is."""

    def __init__(self, sentence: str, *quotes: str) -> None:
        """Each {} in the sentence stands for a quote."""
        super().__init__(sentence, *quotes)
        self.sentence, self.quotes = sentence, quotes

    def __str__(self) -> str:
        return self.sentence.format(*map(quoted, self.quotes))

    @property
    def reason(self) -> str:
        """The end of the sentence, with short quotes."""
        said = self.sentence.format(*(quoted(shortened(quote)) for quote in self.quotes))
        return said.rpartition("): ")[2]

    def within(self, sentence: str, *quotes: str) -> Malformed:
        """The same, told by a sentence that ends with it."""
        return Malformed(sentence + self.sentence, *quotes, *self.quotes)


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
    """Whether it holds no bytes that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
