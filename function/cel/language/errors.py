"""Errors: what is wrong with an expression, and where.

- `InvalidSelector`: an expression that does not compile. `Fault` is the same on its way up, before the text is known.
- `EvaluationFailed`: a rule or query that could not be evaluated.
- `Failure`: an evaluation, or a part of one, that failed. `&&`, `||` and loops may absorb it.
- `Abort`: the end of an evaluation, which nothing in the expression absorbs.
- `CelWarning`: an expression that compiles, and that nobody means. It is a value, not an exception.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text that may have several lines."""

    position: int
    """Characters from the start of the text."""
    line: int
    column: int
    """Both from 1."""

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def place(text: str, position: int) -> Place:
    """The place of a position, which may be outside of the text."""
    inside = min(max(position, 0), len(text))
    before = text[:inside]
    return Place(inside, before.count("\n") + 1, inside - (before.rfind("\n") + 1) + 1)


@dataclass(frozen=True, slots=True)
class CelWarning:
    """A part of an expression that Kubernetes accepts and a user hardly means."""

    problem: str
    place: Place

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class InvalidSelector(ValueError):
    """An expression that does not compile."""

    def __init__(self, problem: str, position: int, text: str, suggestion: str | None = None) -> None:
        self.problem = problem
        """A sentence, without the place."""
        self.place = place(text, position)
        self.suggestion = suggestion
        """A suggestion, as it is written in an expression."""
        super().__init__(problem, position)

    def __str__(self) -> str:
        hint = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        return f"{self.place}: {self.problem}{hint}"


class EvaluationFailed(ValueError):
    """A rule or query that could not be evaluated, or that is neither true nor false."""


class Fault(Exception):
    """A compile error, before the text is known."""

    def __init__(self, problem: str, at: int, suggestion: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.at, self.suggestion = problem, at, suggestion


class Failure(Exception):
    """An evaluation, or a part of one, that failed."""

    def __init__(self, problem: str, at: int = -1) -> None:
        super().__init__(problem)
        self.problem, self.at = problem, at


class Abort(Exception):
    """The end of an evaluation: it cost too much, or Kubernetes panics on it."""
