"""What is wrong with an expression, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """In a text that may have several lines."""

    position: int
    """From the start of the text, from 0."""
    line: int
    column: int
    """Both from 1."""

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def place(text: str, position: int) -> Place:
    """Of a position that may lie outside of the text."""
    inside = min(max(position, 0), len(text))
    before = text[:inside]
    return Place(inside, before.count("\n") + 1, inside - (before.rfind("\n") + 1) + 1)


@dataclass(frozen=True, slots=True)
class Doubt:
    """What Kubernetes accepts, and a user hardly means."""

    problem: str
    place: Place

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


class InvalidSelector(ValueError):
    """An expression that does not compile."""

    def __init__(self, problem: str, position: int, text: str, suggestion: str | None = None) -> None:
        self.problem = problem
        """A sentence without its place."""
        self.place = place(text, position)
        self.suggestion = suggestion
        """What the user may have meant, as it would be written."""
        super().__init__(problem, position)

    def __str__(self) -> str:
        hint = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        return f"{self.place}: {self.problem}{hint}"


class EvaluationFailed(ValueError):
    """A rule or query that could not be evaluated, or that is neither true nor false."""


class Fault(Exception):
    """A compile error on its way up to whoever knows the text."""

    def __init__(self, problem: str, at: int, suggestion: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.at, self.suggestion = problem, at, suggestion


class Failure(Exception):
    """An evaluation that failed."""

    def __init__(self, problem: str, at: int = -1) -> None:
        super().__init__(problem)
        self.problem, self.at = problem, at


class Abort(Exception):
    """The end of an evaluation that nothing in the expression absorbs: it cost too much, or Kubernetes panics on it."""
