"""What is wrong with an expression, and where."""

from __future__ import annotations


class InvalidSelector(ValueError):
    """An expression that does not compile."""

    def __init__(self, problem: str, position: int, text: str, suggestion: str | None = None) -> None:
        self.problem = problem
        """A sentence without its place."""
        self.position = min(max(position, 0), len(text))
        """From the start of the text, from 0."""
        before = text[: self.position]
        self.line = before.count("\n") + 1
        self.column = self.position - (before.rfind("\n") + 1) + 1
        self.suggestion = suggestion
        """What the user may have meant, as it would be written."""
        super().__init__(problem, position)

    def __str__(self) -> str:
        hint = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        return f"line {self.line}, column {self.column}: {self.problem}{hint}"


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
