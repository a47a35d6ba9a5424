"""The lexer: from a text to tokens.

Source: github.com/google/cel-go v0.26, parser/gen/CEL.g4 (the rules of the lexer).
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_QUOTED = "|".join(
    (
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^"\\\n\r])*"',
        rf"'(?:{_ESCAPE}|[^'\\\n\r])*'",
        r'[rR]"""[\s\S]*?"""',
        r"[rR]'''[\s\S]*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
    )
)
_PART = r"\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?"
_UNENDED = "|".join(rf"{quote}(?:{_ESCAPE}|[^{quote}\\\n\r])*(?:{_PART})?" for quote in "\"'")
"""A string that does not end. Of what is no token, the lexer of cel-go skips all that could have been one, and one
character more."""
_TOKEN = re.compile(
    "|".join(
        (
            r"(?P<space>[ \t\r\n\f]+|//[^\n]*)",
            rf"(?P<string>{_QUOTED})",
            rf"(?P<bytes>[bB](?:{_QUOTED}))",
            r"(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)",
            r"(?P<double>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)",
            r"(?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])",
            r"(?P<int>0x[0-9a-fA-F]+|[0-9]+)",
            r"(?P<escaped>`[a-zA-Z0-9_.\-/ ]+`)",
            r"(?P<sign>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])",
            rf"(?P<wrong>(?:{_UNENDED}|`[a-zA-Z0-9_.\-/ ]*|[&|=])?[\s\S]|{_UNENDED}|[`&|=])",
        )
    )
)
"""Of two that begin alike, the longer comes first."""
_KEYWORDS = frozenset({"in", "true", "false", "null"})
RESERVED = frozenset(
    {
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "namespace", "null", "package", "return", "true", "var", "void", "while",
    }
)  # fmt: skip
"""Words that are no names of variables or functions; fields and methods may have them."""
END = ""
WRONG = "wrong"


class Token(NamedTuple):
    """A token. Its kind is the text itself for a keyword or a sign, WRONG for what is no token, and END at the end."""

    kind: str
    text: str
    at: int


def tokens(text: str) -> list[Token]:
    """All tokens of a text. What is no token is one of the kind WRONG."""
    found = []
    for match in _TOKEN.finditer(text):
        kind, written = match.lastgroup or "", match.group()
        if kind == "space":
            continue
        if kind == "sign" or written in _KEYWORDS:
            kind = written
        found.append(Token(kind, written, match.start()))
    found.append(Token(END, "", len(text)))
    return found
