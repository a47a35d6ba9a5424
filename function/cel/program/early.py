"""Arguments that are written out, and that Kubernetes judges when it compiles.

Source: github.com/google/cel-go v0.26, interpreter/attributes.go, interpreter/decorators.go and cel/validator.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from function.cel.functions import patterns
from function.cel.problem import Abort, Failure, Fault
from function.cel.program.code import Code, Frame, Run
from function.cel.syntax.tree import Call, Literal, Node
from function.cel.values.kinds import Optional, TypeValue

PATTERNS = frozenset({"matches", "find", "findAll"})


def check_key(key: Code, node: Node) -> None:
    if key.is_literal and not isinstance(key.value, str | bool | int | float):
        raise Fault("nothing is read by such a key", node.at)


def check_pattern(node: Call, codes: list[Code]) -> None:
    """A pattern that is written out is compiled now; of matches(text, pattern), a text that is as well."""
    if node.function not in PATTERNS:
        return
    takes_text = node.function == "matches" and node.target is None and isinstance(node.args[0], Literal)
    for code in codes if takes_text else codes[1:2]:
        if code.is_literal and isinstance(code.value, str):
            try:
                patterns.compiled(code.value)
            except Failure as failure:
                raise Fault(failure.problem, node.args[-1].at) from None


_JUDGED = {"distinct": 0, "sort": 0, "@sortByAssociatedKeys": 1}


def priced(function: str, overloads: Sequence[str], codes: list[Code]) -> list[Code]:
    """Arguments of a call whose price Kubernetes works out without a look at whether there is a list.

    Where there is none, that ends the evaluation: nothing absorbs it. Source: github.com/google/cel-go v0.26,
    ext/lists.go (trackListSelfCompare, trackListFlatten).
    """
    at, kind = (1, int) if list(overloads) == ["list_flatten_int"] else (_JUDGED.get(function), list)
    if at is None or len(overloads) != 1 or (codes[at].is_constant and isinstance(codes[at].value, kind)):
        return codes
    return [*codes[:at], Code(_or_the_end(function, codes[at].run, kind)), *codes[at + 1 :]]


def _or_the_end(function: str, run: Run, kind: type) -> Run:
    def read(frame: Frame) -> Any:
        try:
            value = run(frame)
        except Failure as failure:
            raise Abort(f"{failure}, and {function}() of that ends the evaluation in Kubernetes") from None
        if not isinstance(value, kind) or type(value) is bool:
            raise Abort(f"{function}() of something else ends the evaluation in Kubernetes")
        return value

    return read


def named(search: Callable[..., Any]) -> Callable[..., Any]:
    """A search for a pattern that is written out, which in Kubernetes takes a type for its name, and an optional for
    its content."""

    def call(text: Any, *rest: Any) -> Any:
        while type(text) is Optional and text.is_there:
            [text] = text.content
        return search(text.name if type(text) is TypeValue else text, *rest)

    return call
