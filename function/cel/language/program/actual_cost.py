"""The actual cost: programs that count what an evaluation costs, and stop at the limit.

Terms: the *meter* is two places of the frame, the cost so far and its limit (`meter`). The *estimate* is what an
expression costs at most; one whose estimate is within the limit is compiled without a meter, since metering takes time.

What costs how much, in the order in which an evaluation comes to it:

1. A path from a variable costs one unit for itself and one for each of its steps. As a branch of a conditional, or as a
   key, it costs its steps only. A step that may find nothing costs only if it finds something.
2. A list or map literal costs a fixed price, beside its entries.
3. A call costs what its overload says (`Cost.actual`), once its arguments are evaluated. It is charged before it is
   begun, unless only the result tells the price.
4. A loop costs what the macro's expansion costs in cel-go, beside what the user wrote in it (`metered_loops`).

What fails costs as much as what does not, and a loop goes on after a failure: cel-go evaluates both arguments of an
operator, whichever fails.

Source: github.com/google/cel-go v0.26, interpreter (runtimecost.go, planner.go, interpretable.go, attributes.go).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from function.cel.language.checking.checked import Checked
from function.cel.language.declarations.cost import LIST, MAP, Charging
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.overload import Implementation, Overload
from function.cel.language.errors import Failure
from function.cel.language.program import metered_loops
from function.cel.language.program.code import Code, Frame, Run
from function.cel.language.program.compiler import Compiler
from function.cel.language.program.loops import Entries
from function.cel.language.program.members import OptionalSelect
from function.cel.language.program.meter import charge
from function.cel.language.syntax.tree import Call, Fold, Ident, ListLiteral, MapLiteral, Node, Select
from function.cel.language.values.kinds import Optional

_MEMBERS = frozenset({"_[_]", "_[?_]", "_?._"})
_CONDITIONAL = "_?_:_"
_SUM = 2
"""Of appending: the accumulator, and its sum with a list of one element. That list costs too, if it is no literal."""
_BOTH = 2


class MeteredCompiler(Compiler):
    """Compiles a tree with a charge at each node."""

    folds = False

    def __init__(self, checked: Checked, environment: Environment) -> None:
        super().__init__(checked, environment)
        self.meter = self._place()
        self._limit = self._place()
        assert self._limit == self.meter + 1

    def empty(self, cost_limit: int) -> Frame:
        frame = super().empty(cost_limit)
        frame[self.meter : self.meter + 2] = 0, cost_limit
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
        """One step of a path, with its charge."""
        place, meter = self._place(), self.meter
        found_in = read(lambda frame: frame[place])

        def call(frame: Frame) -> Any:
            value = frame[place] = target(frame)
            if is_optional or type(value) is OptionalSelect:
                found = found_in(frame)
                if found.content if type(found) in (OptionalSelect, Optional) else found:
                    charge(frame, meter, 1)
                return found
            try:
                return found_in(frame)
            finally:
                charge(frame, meter, 1)

        return call

    def applied(self, node: Call, run: Implementation, codes: list[Code], *, is_lazy: bool) -> Run:
        runs, meter = [c.run for c in codes], self.meter
        fitting = self.checked.overloads[id(node)]
        is_eager = not is_lazy and _is_eager(node, fitting)
        actual, is_by_result = _charging(fitting)

        def call(frame: Frame) -> Any:
            values, failure = _evaluated(runs, frame, is_eager=is_eager)
            result: Any = failure
            if not is_by_result and len(values) == len(runs):
                charge(frame, meter, actual(values, None))
            if failure is None:
                try:
                    result = run(*values)
                except Failure as failed:
                    result = failure = failed
            if is_by_result and len(values) == len(runs):
                charge(frame, meter, actual(values, result))
            if failure is not None:
                raise failure
            return result

        return call

    def loop(self, node: Fold, through: Entries, filter_: Run | None, parts: tuple[Code, ...]) -> Run:
        first = parts[0]
        match node.macro:
            case "all" | "exists":
                return metered_loops.quantified(through, first.run, self.meter, decisive=node.macro == "exists")
            case "exists_one":
                return metered_loops.exists_one(through, first.run, self.meter)
            case "transformMap" | "transformMapEntry":
                return metered_loops.mapped(through, filter_, tuple(p.run for p in parts), self.meter)
        appends = _SUM if first.is_literal else _SUM + LIST
        return metered_loops.collected(through, filter_, first.run, self.meter, appends)


def _charging(fitting: tuple[Overload, ...]) -> tuple[Charging, bool]:
    """The charge for a call that these overloads fit, and whether it depends on the result."""
    cost = fitting[0].cost
    return cost.actual if len(fitting) == 1 else cost.unresolved, cost.needs_result


def _is_eager(node: Call, fitting: tuple[Overload, ...]) -> bool:
    """Whether all arguments are evaluated, whichever fails: one or two, of an overload that is known when compiled."""
    count = len(node.args) + (node.target is not None)
    return count <= _BOTH and (node.function[0] in "_!-@" or len(fitting) == 1)


def _evaluated(runs: list[Run], frame: Frame, *, is_eager: bool) -> tuple[list[Any], Failure | None]:
    """The arguments as far as they are evaluated, with failures among them, and the first failure."""
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
    """The price of a literal or a path, beside its parts."""
    if isinstance(node, ListLiteral):
        return LIST
    if isinstance(node, MapLiteral):
        return MAP
    return _path_price(node) if _is_path(node) else 0


def _is_path(node: Node) -> bool:
    """Whether cel-go evaluates a node as an attribute: a variable, a conditional, a field or an element."""
    if isinstance(node, Ident | Select):
        return True
    return isinstance(node, Call) and (node.function in _MEMBERS or node.function == _CONDITIONAL)


def _path_price(node: Node) -> int:
    """One unit, but none for a test. A path that begins with a conditional costs one less."""
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
