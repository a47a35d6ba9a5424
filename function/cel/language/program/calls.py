"""Calls: how an implementation comes by its arguments."""

from __future__ import annotations

from typing import Any

from function.cel.language.declarations.overload import Implementation
from function.cel.language.program.code import Code, Frame, Run
from function.cel.language.syntax.tree import Call, Node
from function.cel.language.values.kinds import Optional


def applied(run: Implementation, codes: list[Code]) -> Run:
    """A program that calls an implementation. Calls with one or two arguments are written out: this is the hot path."""
    if len(codes) == 1:
        [only] = codes
        argument = only.run
        return lambda frame: run(argument(frame))
    if len(codes) == 2:  # noqa: PLR2004  (two arguments)
        left, right = codes[0].run, codes[1].run
        if codes[1].is_constant:
            value = codes[1].value
            return lambda frame: run(left(frame), value)
        return lambda frame: run(left(frame), right(frame))
    runs = [c.run for c in codes]
    return lambda frame: run(*[argument(frame) for argument in runs])


def terms(node: Node) -> list[Node]:
    """The operands of nested calls of one logical operator, from left to right."""
    assert isinstance(node, Call)
    found: list[Node] = []
    for part in node.args:
        same = isinstance(part, Call) and part.function == node.function
        found.extend(terms(part) if same else [part])
    return found


def alternative(left: Run, right: Run, function: str) -> Run:
    """`or` and `orValue` of an optional: the right side is evaluated only where it is needed."""

    def choose(frame: Frame) -> Any:
        value = left(frame)
        if type(value) is not Optional:
            return value
        if not value.has_value:
            return right(frame)
        return value if function == "or" else value.value

    return choose
