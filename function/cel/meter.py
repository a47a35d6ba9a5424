"""Programs that count what they cost, and stop at the limit: for selectors that could go beyond it.

Source: github.com/google/cel-go v0.26, interpreter/runtimecost.go and ext; k8s.io/apiserver v0.36,
pkg/cel/library/cost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from function.cel.check import TYPE_NAMES
from function.cel.checked import Checked
from function.cel.code import Code, Frame, Run
from function.cel.cost import LIMIT
from function.cel.loops import Entries
from function.cel.prices import PATTERN, TRAVERSAL
from function.cel.problem import Abort
from function.cel.program import Compiler
from function.cel.quantity import Quantity
from function.cel.semver import Semver
from function.cel.tree import Call, Fold, Ident, ListLiteral, MapLiteral, Node, Select, qualified
from function.cel.values import Optional, keys_of

_FREE = frozenset({"_&&_", "_||_", "_?_:_"})
_MEMBERS = frozenset({"_[_]", "_[?_]", "_?._"})
_LIST, _MAP = 10, 30
_CONDITIONS = {"all": 2, "exists": 3}
"""Of a loop, what the question costs whether it goes on."""


class MeteredCompiler(Compiler):
    """The last place of its frame holds the count."""

    folds = False

    def __init__(self, checked: Checked, variables: Mapping[str, Any]) -> None:
        super().__init__(checked, variables)
        self.meter = self._place()

    def code(self, node: Node) -> Code:
        code = super().code(node)
        if code.is_literal:
            return code
        price = _own_price(node)
        return Code(_charged(code.run, price, self.meter), code.value) if price else code

    def applied(self, node: Call, implementation: Any, codes: list[Code]) -> Run:
        runs, meter = [c.run for c in codes], self.meter
        overloads = [o.id for o in self.checked.overloads[id(node)]]
        overload = overloads[0] if len(overloads) == 1 else ""

        def call(frame: Frame) -> Any:
            values = [run(frame) for run in runs]
            result = implementation(*values)
            charge(frame, meter, actual(node.function, overload, values, result))
            return result

        return call

    def entries(self, node: Fold, through: Entries) -> Entries:
        """Each time round costs the condition, and what the macro's step does beside what the user wrote."""
        meter = self.meter
        each = _CONDITIONS.get(node.macro, 0) + _step_price(node)

        def counted(frame: Frame) -> Iterator[None]:
            for _ in through(frame):
                charge(frame, meter, each)
                yield
            charge(frame, meter, 2 if node.macro == "exists_one" else 1)

        return counted


def charge(frame: Frame, meter: int, cost: int) -> None:
    frame[meter] = (frame[meter] or 0) + cost
    if frame[meter] > LIMIT:
        raise Abort("the evaluation costs more than Kubernetes allows")


def _charged(run: Run, cost: int, meter: int) -> Run:
    def call(frame: Frame) -> Any:
        value = run(frame)
        charge(frame, meter, cost)
        return value

    return call


def _own_price(node: Node) -> int:
    """Of what is no call of a function: a name, a member, a literal."""
    match node:
        case Ident():
            return 1
        case Select():
            if qualified(node) in TYPE_NAMES:
                return 1
            return (0 if node.is_test else 1) + _begins(node.operand)
        case Call(function=function) if function in _MEMBERS:
            return _begins(node.args[0]) + (0 if _is_attribute(node.args[1]) else 1)
        case ListLiteral():
            return _LIST
        case MapLiteral():
            return _MAP
    return 0


def _begins(operand: Node) -> int:
    """A member of what is no name, nor a member itself, costs as a name does."""
    return 0 if _is_attribute(operand) else 1


def _is_attribute(node: Node) -> bool:
    if isinstance(node, Ident | Select):
        return True
    return isinstance(node, Call) and (node.function in _MEMBERS or node.function == "_?_:_")


def _step_price(node: Fold) -> int:
    """As if every entry passed a filter: the most."""
    step = node.step
    assert isinstance(step, Call)
    if node.macro in ("all", "exists"):
        return 1
    if step.function == "_?_:_":
        [_, then, _] = step.args
        assert isinstance(then, Call)
        step = then
    if node.macro == "exists_one":
        return 2
    return 2 if step.function == "cel.@mapInsert" else 2 + _LIST


# What a call costs


def actual(function: str, overload: str, values: Sequence[Any], result: Any) -> int:
    if overload in _SETS:
        return 1 + int(_size(values[0]) * _size(values[1]) * _SETS[overload])
    if overload.startswith("list_") or overload == "lists_range":
        price = _of_list(function, values, result)
        if price is not None:
            return price
    named = _BY_FUNCTION.get(function)
    if named is not None:
        return named(values, result)
    if function == "_==_" and isinstance(values[0], Quantity | Semver):
        return 1
    general = _BY_OVERLOAD.get(overload)
    return general(values) if general else 1


def _of_list(function: str, values: Sequence[Any], result: Any) -> int | None:
    match function:
        case "slice" | "lists.range" | "reverse":
            return _size(result) + 1 + _LIST
        case "flatten":
            depth = values[1] if len(values) > 1 else 1
            return int(_size(values[0]) * float(depth)) + 1 + _LIST
        case "distinct" | "sort":
            return _squared(values[0])
        case "@sortByAssociatedKeys":
            return _squared(values[1])
    return None


def _squared(items: list[Any]) -> int:
    factor = 2 + TRAVERSAL if items and isinstance(items[0], str | bytes) else 2
    return int(len(items) ** 2 * factor) + 1 + _LIST


def _size(value: Any) -> int:
    if isinstance(value, Optional) and value.is_there:
        return _size(value.content[0])
    return len(value) if isinstance(value, str | bytes | list | dict) else 1


def _walk(value: Any) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * TRAVERSAL)
    if isinstance(value, bytes):
        return int(len(value) * TRAVERSAL)
    if isinstance(value, list):
        return sum(map(_walk, value))
    if isinstance(value, dict):
        return sum(map(_walk, keys_of(value))) + sum(map(_walk, value.values()))
    return 1


def _text(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil(_size(values[0]) * TRAVERSAL)


def _rewritten(values: Sequence[Any], _: Any) -> int:
    return math.ceil(_size(values[0]) * 2 * TRAVERSAL)


def _pattern(values: Sequence[Any], _: Any = None) -> int:
    return math.ceil((1 + _size(values[0])) * TRAVERSAL) * math.ceil(_size(values[1]) * PATTERN)


def _least(values: Sequence[Any]) -> int:
    return math.ceil(min(_size(values[0]), _size(values[1])) * TRAVERSAL)


_SETS = {"list_sets_contains_list": 1, "list_sets_intersects_list": 1, "list_sets_equivalent_list": 2}
_BY_FUNCTION: Mapping[str, Callable[[Sequence[Any], Any], int]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lambda values, _: _walk(values[0])),
    **dict.fromkeys(
        ("lowerAscii", "upperAscii", "substring", "trim", "quantity", "isQuantity", "semver", "isSemver"), _text
    ),
    **dict.fromkeys(("replace", "split"), _rewritten),
    "join": lambda _, result: math.ceil(_size(result) * 2 * TRAVERSAL),
    **dict.fromkeys(("find", "findAll"), _pattern),
}
_BY_OVERLOAD: Mapping[str, Callable[[Sequence[Any]], int]] = {
    **dict.fromkeys(
        (
            "starts_with_string",
            "ends_with_string",
            "string_to_bytes",
            "bytes_to_string",
            "strings_quote",
            "string_format",
        ),
        _text,
    ),
    "in_list": lambda values: _size(values[1]),
    **dict.fromkeys(
        [f"{o}_{t}" for o in ("less", "greater", "less_equals", "greater_equals") for t in ("string", "bytes")], _least
    ),
    "equals": _least,
    "not_equals": _least,
    **dict.fromkeys(
        ("add_string", "add_bytes"), lambda values: math.ceil((_size(values[0]) + _size(values[1])) * TRAVERSAL)
    ),
    "matches_string": _pattern,
    "contains_string": lambda values: math.ceil(_size(values[0]) * TRAVERSAL) * math.ceil(_size(values[1]) * TRAVERSAL),
}
