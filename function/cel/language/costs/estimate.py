"""The cost estimate: what an expression costs at most, by which the API server refuses it before any device is seen.

Terms:

- A cost and a *size* are ranges, from the least to the most. A size is the number of characters or entries.
- A *path* is how a node is reached from a variable (`node_sizes.Path`). The environment declares sizes by path.
- *Entries* are the sizes of what a list or map holds.

Phases, in the order of their calls: `cost` visits a node after its parts, adds what they cost, and notes the node's
size, entries and path for the nodes around it. A call costs what the most expensive of its fitting overloads costs. A
loop costs its step, times the size of its range.

Coarse on purpose, as Kubernetes' estimate is: what has no declared size may have any, and both branches of a
conditional count as the larger. What looks odd here (which overloads set a size, paths that share memory) decides
whether the API server takes a selector, and is kept exactly.

Source: github.com/google/cel-go v0.26, checker/cost.go. The prices of functions are with the functions (`Cost`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from function.cel.language.checking.checked import Checked
from function.cel.language.costs.node_sizes import Entries, NodeSizes, Variable, union
from function.cel.language.declarations.cost import (
    LIST,
    MAP,
    TRAVERSAL,
    Argument,
    Estimate,
)
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.overload import Overload
from function.cel.language.declarations.ranges import MOST, NOTHING, ONE, Range, exactly
from function.cel.language.syntax.tree import (
    Call,
    Fold,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    qualified,
)

_BINDS = frozenset({"bind", "optMap", "optFlatMap", "sortBy"})


@dataclass(slots=True)
class Estimator:
    """Estimates one tree."""

    checked: Checked
    environment: Environment
    known: NodeSizes = field(init=False)

    def __post_init__(self) -> None:
        self.known = NodeSizes(self.checked, self.environment)

    def cost(self, node: Node) -> Range:
        """The cost of a node with all below it."""
        match node:
            case Literal():
                return NOTHING
            case Ident():
                self.known.paths[id(node)] = self.known.variable_path(node.name)
                return ONE
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Fold():
                return self._bound(node) if node.macro in _BINDS else self._fold(node)
        return NOTHING

    # Names

    def _select(self, node: Select) -> Range:
        if node.is_test:
            return self.cost(node.operand)
        if qualified(node) in self.environment.type_names:
            return ONE
        total = self.cost(node.operand)
        if self.checked.type(node.operand).kind in ("map", "struct", "param"):
            total += ONE
        self.known.paths[id(node)] = self.known.path(node.operand).plus(node.field)
        return total

    # Calls

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            [argument] = node.args
            total = self.cost(argument) + ONE
            self.known.copy(node, argument)
            return total
        costs = [self.cost(a) for a in node.args]
        if node.function in ("_&&_", "_||_"):
            return Range(costs[0].least, (costs[0] + costs[1]).most)
        parts = [self.known.argument(a) for a in node.args]
        total, target = NOTHING, None
        if node.target is not None:
            total, target = self.cost(node.target), self.known.argument(node.target)
        call, size = Range(MOST, 0), None
        for overload in self._overloads(node):
            priced = self._estimate(node, overload, target, parts, costs)
            call = call.union(priced.cost)
            if priced.size is not None:
                size = priced.size if size is None else size.union(priced.size)
            size = self._index(node, overload, size)
            size = self.known.size(node) if size is None else size
        if size is not None:
            self.known.sizes[id(node)] = size
        return total + call

    def _overloads(self, node: Call) -> tuple[Overload, ...]:
        if node.function == "_?._":
            return self.environment.functions[node.function]
        return self.checked.overloads[id(node)]

    def _index(self, node: Call, overload: Overload, size: Range | None) -> Range | None:
        """The size of an entry that is read by an index: an index is a step of a path."""
        step = {"index_list": "@items", "index_map": "@values"}.get(overload.id)
        if step is None:
            return size
        entries = self.known.entries_of(node.args[0])
        self.known.paths[id(node)] = self.known.path(node.args[0]).plus(step)
        return entries.value if entries else None

    def _estimate(
        self, node: Call, overload: Overload, target: Argument | None, parts: list[Argument], costs: list[Range]
    ) -> Estimate:
        """Return the cost of a call of an overload, including its arguments."""
        arguments = NOTHING
        for cost in costs:
            arguments += cost
        if overload.id == "conditional":
            self.known.put_entries(node, union(*map(self.known.entries_of, node.args[1:])))
            return Estimate(costs[0] + costs[1].union(costs[2]), parts[1].known_size.union(parts[2].known_size))
        if overload.id in ("add_string", "add_bytes", "add_list"):
            self.known.put_entries(node, union(*map(self.known.entries_of, node.args)))
            size = parts[0].known_size + parts[1].known_size
            cost = ONE if overload.id == "add_list" else size.scaled(TRAVERSAL)
            return Estimate(cost + arguments, size)
        equality = self._equality(parts) if overload.id == "equals" else None
        priced = equality or overload.cost.estimate(target, parts) or Estimate(ONE)
        return Estimate(priced.cost + arguments, priced.size)

    def _equality(self, parts: list[Argument]) -> Estimate | None:
        """The price of == between two values of one opaque type."""
        left, right = parts
        opaque = self.environment.types.get(right.type.name)
        if opaque is None or left.type != right.type:
            return None
        size = opaque.equality_size
        if size is None:
            size = right.size.most if right.size else 1
        return Estimate(Range(1, size).scaled(TRAVERSAL))

    # Literals

    def _list(self, node: ListLiteral) -> Range:
        total, item = NOTHING, Range(MOST if node.items else 0, 0)
        for element in node.items:
            total += self.cost(element)
            item = item.union(self.known.size_or_unknown(element))
        self.known.entries[id(node)] = Entries(is_list=True, key=ONE, value=item)
        return total + exactly(LIST)

    def _map(self, node: MapLiteral) -> Range:
        total = NOTHING
        key = value = Range(MOST if node.entries else 0, 0)
        for k, v, _ in node.entries:
            total += self.cost(k)
            total += self.cost(v)
            key, value = key.union(self.known.size_or_unknown(k)), value.union(self.known.size_or_unknown(v))
        self.known.entries[id(node)] = Entries(is_list=False, key=key, value=value)
        return total + exactly(MAP)

    # Loops

    def _fold(self, node: Fold) -> Range:
        total = self.cost(node.range_) + self.cost(node.init)
        self.known.push(node.accumulator, self.known.local(node.init))
        for name, variable in self._loop_variables(node):
            self.known.push(name, variable)
        each = self.cost(node.condition)
        each = self.cost(node.step) + each
        for variable_name in filter(None, (node.variable, node.second)):
            self.known.pop(variable_name)
        total += self.cost(node.result)
        self.known.pop(node.accumulator)
        count = self.known.size_or_unknown(node.range_)
        self._put_fold_size(node, count)
        return total + count.times(each)

    def _put_fold_size(self, node: Fold, count: Range) -> None:
        if isinstance(node.init, Literal):
            size = self.known.size(node.init)
            if size is not None:
                self.known.sizes[id(node)] = size
        elif isinstance(node.init, ListLiteral | MapLiteral):
            self.known.sizes[id(node)] = count
            self.known.put_entries(node, self.known.entries_of(node.step))

    def _loop_variables(self, node: Fold) -> list[tuple[str, Variable]]:
        entries, path = self.known.entries_of(node.range_), self.known.path(node.range_)
        is_list = entries.is_list if entries else self.checked.type(node.range_).kind == "list"
        key, value = (entries.key, entries.value) if entries else (None, None)
        if node.second is not None:
            first = Variable(path.plus("@indices" if is_list else "@keys"), key, None)
            return [
                (node.variable, first),
                (node.second, Variable(path.plus("@items" if is_list else "@values"), value, None)),
            ]
        if is_list:
            return [(node.variable, Variable(path.plus("@items"), value, None))]
        return [(node.variable, Variable(path.plus("@keys"), key, None))]

    def _bound(self, node: Fold) -> Range:
        total = self.cost(node.range_) + self.cost(node.init)
        self.known.push(node.accumulator, self.known.local(node.init))
        total += self.cost(node.result)
        self.known.pop(node.accumulator)
        self.known.copy(node, node.result)
        return total
