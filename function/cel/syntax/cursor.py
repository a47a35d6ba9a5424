"""A place among the tokens of a text, and the steps from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from function.cel.problem import Fault
from function.cel.syntax.tokens import END, WRONG, Token

DEEPEST = 250
"""Source: github.com/google/cel-go v0.26, parser/options.go."""

T = TypeVar("T")
_BEGINNINGS = frozenset(
    {"[", "{", "(", ".", "-", "!", "true", "false", "null", "double", "int", "uint", "string", "bytes", "name"}
)
"""Kinds of tokens that an expression can begin with."""
_WORDS = {"and": "&&", "or": "||", "AND": "&&", "OR": "||"}


class Cursor:
    """Stands at a token; never behind the last."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = [token for token in found if token.kind != WRONG]
        wrong = [token for token in found if token.kind == WRONG][:1]
        self.unreadable = Fault(_unreadable(wrong[0].text), wrong[0].at) if wrong else None
        """Of what is no token. Kubernetes' parser goes on as if it were not there."""
        self._next = 0
        self.token = self._tokens[0]
        self.kind = self.token.kind
        self.height = 0
        """Of the part that was read last: how many levels nest in it."""
        self._wanted = ""
        """Instead of a token that is not expected, if not any expression."""
        self.unfit: Fault | None = None
        """Of the first token that the grammar takes and that yet can stand nowhere: a reserved word, a large number."""

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
        """Whether it stands here; then it is taken."""
        found = self.kind == kind
        if found:
            self.take()
        return found

    def ahead(self, steps: int) -> str:
        """The kind of a token further on."""
        at = self._next + steps
        return self._tokens[at].kind if at < len(self._tokens) else END

    def refuse(self, fault: Fault) -> None:
        """Of a token that was taken. Another fault may come to stand before it."""
        self.unfit = self.unfit or fault

    def key(self, read: Callable[[], T]) -> T:
        """What stands before a colon. Where that does not come, Kubernetes does not look at what stands there."""
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
        """Whether Kubernetes' parser comes to it in spite of the fault here: it leaves a token out or puts one in; what
        is nested it skips as far as it must."""
        left = [token.kind for token in self._tokens[self._next :]]
        if not nested:
            return kind in left[:2] or left[0] in _BEGINNINGS
        is_left_out = not self._wanted and left[0] == kind and left[1] in _BEGINNINGS
        return kind in left[is_left_out:]

    def unexpected(self) -> Fault:
        _, written, at = self.token
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


def _unreadable(written: str) -> str:
    letter = written[0]
    if letter in "\"'":
        return "this string does not end, or has an escape that does not exist"
    if letter == "=":
        return "a single = means nothing here; equality is =="
    return f"{letter!r} means nothing here"
