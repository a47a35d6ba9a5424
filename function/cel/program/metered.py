"""Programs that count what they cost, and stop at the limit: for selectors that could go beyond it.

A path from a variable costs one unit for itself and one for each of its steps; as a branch, or as a key, it costs its
steps only. What fails costs as much as what does not, and a loop goes on after a failure. Source:
github.com/google/cel-go v0.26, interpreter (runtimecost.go, planner.go, interpretable.go, attributes.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from function.cel.checking.checked import Checked
from function.cel.costs.paid import actual, is_told_before
from function.cel.problem import Failure
from function.cel.program import metered_loops
from function.cel.program.code import Code, Frame, Run
from function.cel.program.compiler import Compiler
from function.cel.program.early import PATTERNS
from function.cel.program.loops import Entries
from function.cel.program.members import Inside
from function.cel.program.metering import charge
from function.cel.syntax.tree import Call, Fold, Ident, ListLiteral, Literal, MapLiteral, Node, Select, below
from function.cel.values.kinds import Optional

_MEMBERS = frozenset({"_[_]", "_[?_]", "_?._"})
_CONDITIONAL = "_?_:_"
_LIST, _MAP = 10, 30
_SUM = 2
"""Of the list so far with one of one element, which may cost too."""
_BOTH = 2


class MeteredCompiler(Compiler):
    """Two places of its frame hold the count and its limit."""

    folds = False

    def __init__(self, checked: Checked, variables: Mapping[str, Any]) -> None:
        super().__init__(checked, variables)
        self.meter = self._place()
        self._limit = self._place()
        assert self._limit == self.meter + 1

    def empty(self, limit: int) -> Frame:
        frame = super().empty(limit)
        frame[self.meter : self.meter + 2] = 0, limit
        return frame

    def code(self, node: Node) -> Code:
        code, price = super().code(node), _own_price(node)
        return code if code.is_literal or not price else Code(self._charged(code.run, price), code.value)

    def part(self, node: Node) -> Code:
        return super().code(node) if _is_path(node) else self.code(node)

    def _charged(self, run: Run, price: int) -> Run:
        meter = self.meter

        def call(frame: Frame) -> Any:
            try:
                return run(frame)
            finally:
                charge(frame, meter, price)

        return call

    def step(self, target: Run, read: Callable[[Run], Run], *, is_optional: bool = False) -> Run:
        """It costs one unit; if it may find nothing, only when it finds something."""
        place, meter = self._place(), self.meter
        found_in = read(lambda frame: frame[place])

        def call(frame: Frame) -> Any:
            value = frame[place] = target(frame)
            if is_optional or type(value) is Inside:
                found = found_in(frame)
                if found.content if type(found) in (Inside, Optional) else found:
                    charge(frame, meter, 1)
                return found
            try:
                return found_in(frame)
            finally:
                charge(frame, meter, 1)

        return call

    def applied(self, node: Call, implementation: Any, codes: list[Code]) -> Run:
        runs, meter = [c.run for c in codes], self.meter
        is_eager = self._is_eager(node, codes)
        overloads = [o.id for o in self.checked.overloads[id(node)]]
        overload = overloads[0] if len(overloads) == 1 else ""

        is_told = is_told_before(node.function)

        def call(frame: Frame) -> Any:
            values, failure = _evaluated(runs, frame, is_eager=is_eager)
            result: Any = failure
            if is_told and len(values) == len(runs):
                charge(frame, meter, actual(node.function, overload, values, None))
            if failure is None:
                try:
                    result = implementation(*values)
                except Failure as failed:
                    result = failure = failed
            if not is_told and len(values) == len(runs):
                charge(frame, meter, actual(node.function, overload, values, result))
            if failure is not None:
                raise failure
            return result

        return call

    def _is_eager(self, node: Call, codes: list[Code]) -> bool:
        """Whether all arguments are evaluated, whichever fails: one or two, of a function that is known before."""
        if len(codes) > _BOTH or node.function == "format" or _has_pattern(node, codes):
            return False
        return node.function[0] in "_!-@" or len(self.checked.overloads[id(node)]) == 1

    def loop(self, node: Fold, through: Entries, filter_: Run | None, parts: tuple[Code, ...]) -> Run:
        first = parts[0]
        match node.macro:
            case "all" | "exists":
                return metered_loops.quantified(through, first.run, self.meter, decisive=node.macro == "exists")
            case "exists_one":
                return metered_loops.exists_one(through, first.run, self.meter)
            case "transformMap" | "transformMapEntry":
                return metered_loops.mapped(through, filter_, tuple(p.run for p in parts), self.meter)
        appends = _SUM if first.is_literal else _SUM + _LIST
        return metered_loops.collected(through, filter_, first.run, self.meter, appends)


def may_wrap(checked: Checked) -> bool:
    """Whether it may flatten to a depth below zero: Kubernetes prices that below zero, which is beyond any limit."""
    return "flatten" in checked.functions and any(map(_flattens_below_zero, below(checked.root)))


def _flattens_below_zero(node: Node) -> bool:
    return isinstance(node, Call) and node.function == "flatten" and not _is_natural(node.args)


def _is_natural(args: list[Node]) -> bool:
    return all(isinstance(a, Literal) and type(a.value) is int and a.value >= 0 for a in args)


def _has_pattern(node: Call, codes: list[Code]) -> bool:
    """Whether it searches for a pattern that is written out."""
    return node.function in PATTERNS and codes[1].is_literal and isinstance(codes[1].value, str)


def _evaluated(runs: list[Run], frame: Frame, *, is_eager: bool) -> tuple[list[Any], Failure | None]:
    """The arguments, as far as they are evaluated, and the first failure among them."""
    values: list[Any] = []
    first: Failure | None = None
    for run in runs:
        try:
            values.append(run(frame))
        except Failure as failure:
            first = first or failure
            values.append(failure)
            if not is_eager:
                break
    return values, first


def _own_price(node: Node) -> int:
    """Of what is no call of a function, beside its parts."""
    if isinstance(node, ListLiteral):
        return _LIST
    if isinstance(node, MapLiteral):
        return _MAP
    return _path_price(node) if _is_path(node) else 0


def _is_path(node: Node) -> bool:
    """A variable, a conditional, and what is read from anything."""
    if isinstance(node, Ident | Select):
        return True
    return isinstance(node, Call) and (node.function in _MEMBERS or node.function == _CONDITIONAL)


def _path_price(node: Node) -> int:
    """One, but for a test; what begins with a conditional is one less."""
    price = 0 if isinstance(node, Select) and node.is_test else 1
    while True:
        match node:
            case Select(operand=inner):
                node = inner
            case Call(function=function, args=[inner, _]) if function in _MEMBERS:
                node = inner
            case Call(function="_?_:_"):
                return price - 1
            case _:
                return price
