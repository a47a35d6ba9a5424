"""Arguments that are written out, and that Kubernetes judges when it compiles.

Source: github.com/google/cel-go v0.26, interpreter/attributes.go, interpreter/decorators.go and cel/validator.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from function.cel import patterns
from function.cel.code import Code
from function.cel.problem import Failure, Fault
from function.cel.tree import Call, Node
from function.cel.values import TypeValue

PATTERNS = frozenset({"matches", "find", "findAll"})


def check_key(key: Code, node: Node) -> None:
    if key.is_literal and not isinstance(key.value, str | bool | int | float):
        raise Fault("nothing is read by such a key", node.at)


def check_pattern(node: Call, codes: list[Code]) -> None:
    """A pattern that is written out is compiled now. Of the function matches(text, pattern) Kubernetes tries both."""
    if node.function not in PATTERNS:
        return
    for code in codes if node.function == "matches" and node.target is None else codes[1:2]:
        if code.is_literal and isinstance(code.value, str):
            try:
                patterns.compiled(code.value)
            except Failure as failure:
                raise Fault(failure.problem, node.args[-1].at) from None


def named(search: Callable[..., Any]) -> Callable[..., Any]:
    """A search for a pattern that is written out, which in Kubernetes takes a type for its name."""

    def call(text: Any, *rest: Any) -> Any:
        return search(text.name if type(text) is TypeValue else text, *rest)

    return call
