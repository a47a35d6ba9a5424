"""Cut a shell script into words and operators.

`tokens` knows quotes, escapes, continued lines, comments, here-documents, `$(…)`, `${…}` and backquotes. What is not
closed ends with the text, so that every text has tokens and each character is read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word, under one kind of quotes."""

    text: str
    quoted: bool = False
    """Whether blanks in it do not separate words."""
    expands: bool = False
    """Whether variables in it are expanded."""


Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """What ends a command (`;`, `&&`, a new line …), or redirects (`>`, `2>&` …)."""

    text: str
    redirects: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """An assignment of an array: `NAME=(…)`."""

    name: str
    appends: bool
    text: str
    """What stands between the parentheses."""


_PIECE = re.compile(
    r"""
      (?P<join>\\\n)
    | (?P<escape>\\.)
    | (?P<single>'[^']*(?:'|\Z))
    | (?P<ansi>\$'(?:[^'\\]|\\.)*+(?:'|\Z))
    | (?P<comment>(?<![^\s;&|()])\#[^\n]*)
    | (?P<blank>[ \t\r]+)
    | (?P<document>(?<!<)\d*<<-?[ \t]*(?:'[^'\n]*'|"[^"\n]*"|\\?[\w.-]+))
    | (?P<redirection>(?:(?<![^\s;&|()])\d+)?(?:<<<|<<-?|>>|>&|<&|<>|>\||<|>)|&>>?)
    | (?P<operator>;;&|;;|;&|&&|\|\||\|&|[;&|()\n])
    | (?P<array>(?<![^\s;&|()])[A-Za-z_]\w*\+?=\()
    | (?P<plain>[^\\'"$`\s;&|()<>]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_NAME = re.compile(r"\w+", re.ASCII)
_IN_DOUBLE = re.compile(r'\\[\\"$`]|\\\n|[^\\]+|\\', re.DOTALL)
_CLOSING = {"(": ")", "{": "}"}


def tokens(script: str) -> Iterator[Word | Operator | Array]:
    """Yield words, operators and arrays in the order of the text."""
    word: list[Part] = []
    for kind, text in _pieces(script):
        if kind in _PARTS:
            word += _PARTS[kind](text)
            continue
        if kind == "join":
            continue
        if word:
            yield tuple(word)
            word = []
        if kind in ("operator", "redirection"):
            yield Operator(text, redirects=kind == "redirection")
        elif kind == "array":
            yield _array(text)
    if word:
        yield tuple(word)


def dollar_end(text: str, at: int) -> int:
    """Return where the expansion ends that starts with the `$` at `at`."""
    following = text[at + 1 : at + 2]
    if following in _CLOSING:
        return _closed(text, at + 2, following)
    if following.isascii() and following.isdigit():
        return at + 2
    found = _NAME.match(text, at + 1)
    return found.end() if found else at + (2 if following and following in "@*#?$!-" else 1)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and text of each piece. Here-documents are skipped, from the end of their line."""
    at = 0
    documents: list[str] = []
    while at < len(text):
        kind, end = _piece(text, at)
        piece = text[at:end]
        if kind == "document":
            documents.append(piece.lstrip("0123456789<-").strip(" \t'\"\\"))
        else:
            yield kind, piece
        if piece == "\n" and documents:
            end = _after_documents(text, end, documents)
            documents = []
        at = end


def _piece(text: str, at: int) -> tuple[str, int]:
    if text[at] == '"':
        return "double", _quoted(text, at)
    if text[at] == "`":
        closing = text.find("`", at + 1)
        return "backquote", len(text) if closing < 0 else closing + 1
    if text[at] == "$" and text[at + 1 : at + 2] != "'":
        return "dollar", dollar_end(text, at)
    found = _PIECE.match(text, at)
    assert found
    assert found.lastgroup
    end = _closed(text, found.end(), "(") if found.lastgroup == "array" else found.end()
    return found.lastgroup, end


def _after_documents(text: str, at: int, delimiters: list[str]) -> int:
    """Return where the text goes on after here-documents. One without an end takes all of it."""
    for delimiter in delimiters:
        found = re.compile(rf"^\t*{re.escape(delimiter)}$\n?", re.MULTILINE).search(text, at)
        if not found:
            return len(text)
        at = found.end()
    return at


def _quoted(text: str, at: int) -> int:
    """Return the end of the double-quoted text that starts at `at`. An expansion in it may have quotes of its own."""
    at += 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\":
            at += 2
        elif text[at] == "$":
            at = dollar_end(text, at)
        else:
            at += 1
    return min(at + 1, len(text))


def _closed(text: str, at: int, opening: str) -> int:
    """Return the end of what a parenthesis or a brace before `at` opens. Quotes in it are skipped."""
    closing, depth = _CLOSING[opening], 1
    marks = re.compile(rf"""\\.|'[^']*(?:'|\Z)|"(?:[^"\\]|\\.)*+(?:"|\Z)|[{opening}{closing}]""", re.DOTALL)
    for mark in marks.finditer(text, at):
        depth += {opening: 1, closing: -1}.get(mark[0], 0)
        if not depth:
            return mark.end()
    return len(text)


def _array(text: str) -> Array:
    name, _, inner = text.partition("=(")
    return Array(name.rstrip("+"), name.endswith("+"), inner.removesuffix(")"))


def _double(text: str) -> list[Part]:
    """Return the parts of a double-quoted text: escaped characters stand for themselves, the rest expands."""
    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    parts = [_in_double(found[0]) for found in _IN_DOUBLE.finditer(inner)]
    return parts or [Part("", quoted=True)]


def _in_double(piece: str) -> Part:
    if piece == "\\\n":
        return Part("", quoted=True)
    is_escape = len(piece) > 1 and piece.startswith("\\")
    return Part(piece[1:] if is_escape else piece, quoted=True, expands=not is_escape)


_PARTS: Mapping[str, Callable[[str], list[Part]]] = {
    "escape": lambda text: [Part(text[1:], quoted=True)],
    "single": lambda text: [Part(text[1:].removesuffix("'"), quoted=True)],
    "ansi": lambda text: [Part(text[2:].removesuffix("'"), quoted=True)],
    "double": _double,
    "dollar": lambda text: [Part(text, expands=True)],
    "backquote": lambda text: [Part(text)],
    "plain": lambda text: [Part(text)],
    "other": lambda text: [Part(text)],
}
"""How a piece becomes parts of a word, for the kinds of which words are made."""
