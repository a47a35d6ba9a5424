"""A place among the tokens of a text, and the steps from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from function.cel.problem import Fault
from function.cel.tokens import END, WRONG, Token

DEEPEST = 250
"""Source: github.com/google/cel-go v0.26, parser/options.go."""

T = TypeVar("T")
_WORDS = {"and": "&&", "or": "||", "AND": "&&", "OR": "||"}


class Cursor:
    """Stands at a token; never behind the last."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._next = 0
        self.token = found[0]
        self.kind = self.token.kind
        self.height = 0
        """Of the part that was read last: how many levels nest in it."""

    def take(self) -> Token:
        taken = self.token
        self._next += 1
        if self._next < len(self._tokens):
            self.token = self._tokens[self._next]
            self.kind = self.token.kind
        return taken

    def expect(self, *kinds: str) -> Token:
        if self.kind not in kinds:
            raise self.unexpected()
        return self.take()

    def takes(self, kind: str) -> bool:
        """Whether it stands here; then it is taken."""
        found = self.kind == kind
        if found:
            self.take()
        return found

    def ahead(self, steps: int) -> str:
        """The kind of a token further on."""
        at = self._next + steps
        return self._tokens[at].kind if at < len(self._tokens) else END

    def unexpected(self) -> Fault:
        kind, written, at = self.token
        if kind == WRONG:
            return Fault(_unreadable(written), at)
        said = f'"{written}" is not expected here' if written else "the expression ends too early"
        return Fault(said, at, _WORDS.get(written))

    def limited(self, depth: int) -> int:
        if depth > DEEPEST:
            raise Fault(f"this expression nests more than {DEEPEST} deep", self.token.at)
        return depth

    def arguments(self, one: Callable[[], T]) -> list[T]:
        """Between parentheses, the first of which stands here."""
        self.take()
        found, height = [], 0
        if self.kind != ")":
            found.append(one())
            height = self.height
            while self.takes(","):
                found.append(one())
                height = max(height, self.height)
        self.expect(")")
        self.height = height
        return found

    def entries(self, end: str, one: Callable[[], T]) -> list[T]:
        """Between brackets or braces, the first of which stands here, with a comma at the end or without."""
        self.take()
        found, height = [], 0
        if self.kind not in (end, ","):
            found.append(one())
            height = self.height
            while self.kind == "," and self.ahead(1) != end:
                self.take()
                found.append(one())
                height = max(height, self.height)
        self.takes(",")
        self.expect(end)
        self.height = height
        return found

    def rises(self, *heights: int) -> None:
        self.height = self.limited(1 + max(heights))


def _unreadable(letter: str) -> str:
    if letter in "\"'":
        return "this string does not end, or has an escape that does not exist"
    if letter == "=":
        return "a single = means nothing here; equality is =="
    return f"{letter!r} means nothing here"
