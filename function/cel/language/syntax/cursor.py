"""The cursor: a position among the tokens of a text, and the steps from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from function.cel.language.errors import Fault
from function.cel.language.limits import NESTING
from function.cel.language.syntax.tokens import END, WRONG, Token

T = TypeVar("T")
_BEGINNINGS = frozenset(
    {"[", "{", "(", ".", "-", "!", "true", "false", "null", "double", "int", "uint", "string", "bytes", "name"}
)
"""Kinds of tokens that an expression can begin with."""
_NUMBERS = ("int", "double")
_WORDS = {"and": "&&", "or": "||", "AND": "&&", "OR": "||"}


class Cursor:
    """A position at a token, never behind the last."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = [token for token in found if token.kind != WRONG]
        wrong = [token for token in found if token.kind == WRONG][:1]
        self.unreadable = Fault(_unreadable(wrong[0].text), wrong[0].at) if wrong else None
        """The fault of the first text that is no token. The parser of cel-go goes on as if it were not there."""
        self._next = 0
        self.token = self._tokens[0]
        self.kind = self.token.kind
        self.height = 0
        """Levels of nesting in the part that was read last."""
        self._wanted = ""
        """The token that was expected instead of another; empty where an expression was."""
        self.unfit: Fault | None = None
        """The fault of the first token that the grammar takes and that is wrong nevertheless: a reserved word, say."""

    def take(self) -> Token:
        taken = self.token
        self._next += 1
        if self._next < len(self._tokens):
            self.token = self._tokens[self._next]
            self.kind = self.token.kind
        return taken

    def expect(self, *kinds: str) -> Token:
        if self.kind not in kinds:
            self._wanted = kinds[0]
            raise self.unexpected()
        return self.take()

    def takes(self, kind: str) -> bool:
        """Whether the token here is of a kind; then it is taken."""
        found = self.kind == kind
        if found:
            self.take()
        return found

    def ahead(self, steps: int) -> str:
        """The kind of a token further on."""
        at = self._next + steps
        return self._tokens[at].kind if at < len(self._tokens) else END

    def is_number(self) -> bool:
        """Whether a minus is here that belongs to the number after it."""
        return self.kind == "-" and self.ahead(1) in _NUMBERS

    def is_message(self) -> bool:
        """Whether a name, whose first part is taken, is followed by a brace."""
        steps = 0
        while self.ahead(steps) == "." and self.ahead(steps + 1) == "name":
            steps += 2
        return self.ahead(steps) == "{"

    def refuse(self, fault: Fault) -> None:
        """Note the fault of a token that was taken. Another fault may come before it in the text."""
        self.unfit = self.unfit or fault

    def key(self, read: Callable[[], T]) -> T:
        """Read what a colon must follow. Where none does, cel-go ignores the faults inside."""
        before, is_read = self.unfit, False
        try:
            key, is_read = read(), True
            self.expect(":")
        except Fault:
            if not self._recovers(":", nested=not is_read):
                self.unfit = before
            raise
        return key

    def _recovers(self, kind: str, *, nested: bool) -> bool:
        """Whether the parser of cel-go reaches a token in spite of the fault here. It drops or inserts one token, and
        skips what is nested as far as it must."""
        left = [token.kind for token in self._tokens[self._next :]]
        if not nested:
            return kind in left[:2] or left[0] in _BEGINNINGS
        is_left_out = not self._wanted and left[0] == kind and left[1] in _BEGINNINGS
        return kind in left[is_left_out:]

    def unexpected(self) -> Fault:
        _, written, at = self.token
        problem = f'"{written}" is not expected here' if written else "the expression ends too early"
        return Fault(problem, at, _WORDS.get(written))

    def limited(self, depth: int) -> int:
        if depth > NESTING:
            raise Fault(f"this expression nests more than {NESTING} deep", self.token.at)
        return depth

    def arguments(self, one: Callable[[], T]) -> list[T]:
        """Read a list in parentheses, the first of which is here."""
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
        """Read a list in brackets or braces, the first of which is here. A comma at the end is allowed."""
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


def _unreadable(written: str) -> str:
    letter = written[0]
    if letter in "\"'":
        return "this string does not end, or has an escape that does not exist"
    if letter == "=":
        return "a single = means nothing here; equality is =="
    return f"{letter!r} means nothing here"
