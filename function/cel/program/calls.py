"""Calls: which program works out a function, and how it comes by its arguments."""

from __future__ import annotations

from typing import Any

from function.cel.checking import signatures
from function.cel.checking.checked import Checked
from function.cel.checking.types import BOOL, INT, STRING, UINT
from function.cel.functions import operators
from function.cel.functions.implementations import chosen
from function.cel.program.code import Code, Frame, Run
from function.cel.syntax.tree import Call, Node
from function.cel.values.kinds import Optional


def chosen_for(node: Call, nodes: list[Node], checked: Checked) -> Any:
    """What works out a call of these arguments, the target first."""
    is_known = not checked.is_loose and not any(id(n) in checked.open for n in nodes)
    types = [checked.type(n) for n in nodes] if is_known else []
    plain = types[0] if types and types == [types[0]] * 2 else None
    if node.function in operators.ORDERS and plain in (INT, STRING, UINT):
        return operators.PLAIN_ORDERS[node.function]
    if node.function in ("_==_", "_!=_") and plain in (INT, STRING, BOOL, UINT):
        return operators.PLAIN_EQUALS[node.function]
    if node.function in operators.BINARY:
        return operators.BINARY[node.function]
    if node.function in operators.UNARY:
        return operators.UNARY[node.function]
    declared = signatures.declared()[node.function]
    return chosen(node.function, checked.overloads[id(node)], declared, types)


def applied(run: Any, codes: list[Code]) -> Run:
    """Of one or two arguments without a detour."""
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
    """Of a run of one logical operator."""
    assert isinstance(node, Call)
    found: list[Node] = []
    for part in node.args:
        same = isinstance(part, Call) and part.function == node.function
        found.extend(terms(part) if same else [part])
    return found


def alternative(left: Run, right: Run, function: str) -> Run:
    def choose(frame: Frame) -> Any:
        value = left(frame)
        if type(value) is not Optional:
            return value
        if not value.is_there:
            return right(frame)
        return value if function == "or" else value.value

    return choose
