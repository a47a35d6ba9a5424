"""What an expression costs at most, before any device is seen: the estimate by which the API server refuses.

Source: github.com/google/cel-go v0.26, checker/cost.go; the costs of functions are in `prices`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from function.cel.checking.checked import Checked
from function.cel.checking.environment import Environment
from function.cel.checking.types import TYPE_NAMES
from function.cel.costs import prices
from function.cel.costs.parts import NO_LITERAL, TRAVERSAL, Part, Price, declared_size, is_fixed, written_size
from function.cel.costs.sizes import MOST, NO_PATH, NOTHING, ONE, UNKNOWN, Path, Range, exactly, path_to
from function.cel.syntax.tree import (
    ACCUMULATOR,
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

LIMIT = 1_000_000
"""Source: k8s.io/api v0.36, resource/v1 (CELSelectorExpressionMaxCost)."""
_LIST, _MAP = 10, 30
_BINDS = frozenset({"bind", "optMap", "optFlatMap", "sortBy"})


@dataclass(frozen=True, slots=True)
class Entries:
    """How large the entries of a list or map are."""

    is_list: bool
    key: Range
    value: Range


@dataclass(frozen=True, slots=True)
class _Variable:
    path: Path
    size: Range | None
    entries: Entries | None


@dataclass(slots=True)
class Estimator:
    """Of one tree."""

    checked: Checked
    environment: Environment
    _paths: dict[int, Path] = field(default_factory=dict)
    _sizes: dict[int, Range] = field(default_factory=dict)
    _entries: dict[int, Entries] = field(default_factory=dict)
    _variables: dict[str, list[_Variable]] = field(default_factory=dict)

    def cost(self, node: Node) -> Range:
        match node:
            case Literal():
                return NOTHING
            case Ident():
                self._paths[id(node)] = self._variable_path(node.name)
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

    def _variable_path(self, name: str) -> Path:
        variable = self._variable(name)
        return variable.path if variable else path_to(name)

    def _variable(self, name: str) -> _Variable | None:
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    def _push(self, name: str, variable: _Variable) -> None:
        self._variables.setdefault(name, []).append(variable)

    def _select(self, node: Select) -> Range:
        if node.is_test:
            return self.cost(node.operand)
        if qualified(node) in TYPE_NAMES:
            return ONE
        total = self.cost(node.operand)
        if self.checked.type(node.operand).kind in ("map", "struct", "param"):
            total += ONE
        self._paths[id(node)] = self._path(node.operand).plus(node.field)
        return total

    # Calls

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            [argument] = node.args
            total = self.cost(argument) + ONE
            self._copy(node, argument)
            return total
        costs = [self.cost(a) for a in node.args]
        if node.function in ("_&&_", "_||_"):
            return Range(costs[0].least, (costs[0] + costs[1]).most)
        parts = [self._part(a) for a in node.args]
        total, target = NOTHING, None
        if node.target is not None:
            total, target = self.cost(node.target), self._part(node.target)
        call, size = Range(MOST, 0), None
        for overload in self._overloads(node):
            price = self._price(node, overload, target, parts, costs)
            call = call.union(price.cost)
            if price.size is not None:
                size = price.size if size is None else size.union(price.size)
            size = self._index(node, overload, size)
            size = self._size(node) if size is None else size
        if size is not None:
            self._sizes[id(node)] = size
        return total + call

    def _overloads(self, node: Call) -> list[str]:
        if node.function == "_?._":
            return ["select_optional_field"]
        return [o.id for o in self.checked.overloads[id(node)]]

    def _index(self, node: Call, overload: str, size: Range | None) -> Range | None:
        """An index is a step of a path; what it finds is as large as an entry."""
        step = {"index_list": "@items", "index_map": "@values"}.get(overload)
        if step is None:
            return size
        entries = self._entries_of(node.args[0])
        self._paths[id(node)] = self._path(node.args[0]).plus(step)
        return entries.value if entries else None

    def _price(self, node: Call, overload: str, target: Part | None, parts: list[Part], costs: list[Range]) -> Price:
        arguments = NOTHING
        for cost in costs:
            arguments += cost
        priced = prices.price(node.function, overload, target, parts)
        if priced is not None:
            return Price(priced.cost + arguments, priced.size)
        if overload == "conditional":
            self._put_entries(node, _union(*map(self._entries_of, node.args[1:])))
            return Price(costs[0] + costs[1].union(costs[2]), parts[1].known.union(parts[2].known))
        if overload in ("add_string", "add_bytes", "add_list"):
            self._put_entries(node, _union(*map(self._entries_of, node.args)))
            size = parts[0].known + parts[1].known
            return Price((ONE if overload == "add_list" else size.scaled(TRAVERSAL)) + arguments, size)
        return Price(ONE + arguments)

    # Literals

    def _list(self, node: ListLiteral) -> Range:
        total, item = NOTHING, Range(MOST if node.items else 0, 0)
        for element in node.items:
            total += self.cost(element)
            item = item.union(self._size_or_unknown(element))
        self._entries[id(node)] = Entries(is_list=True, key=ONE, value=item)
        return total + exactly(_LIST)

    def _map(self, node: MapLiteral) -> Range:
        total = NOTHING
        key = value = Range(MOST if node.entries else 0, 0)
        for k, v, _ in node.entries:
            total += self.cost(k)
            total += self.cost(v)
            key, value = key.union(self._size_or_unknown(k)), value.union(self._size_or_unknown(v))
        self._entries[id(node)] = Entries(is_list=False, key=key, value=value)
        return total + exactly(_MAP)

    # Loops

    def _fold(self, node: Fold) -> Range:
        total = self.cost(node.range_) + self.cost(node.init)
        self._push(node.accumulator, self._local(node.init))
        for name, variable in self._loop_variables(node):
            self._push(name, variable)
        each = self.cost(node.condition)
        each = self.cost(node.step) + each
        for variable_name in filter(None, (node.variable, node.second)):
            self._variables[variable_name].pop()
        total += self.cost(node.result)
        self._variables[node.accumulator].pop()
        count = self._size_or_unknown(node.range_)
        self._put_fold_size(node, count)
        return total + count.times(each)

    def _put_fold_size(self, node: Fold, count: Range) -> None:
        if isinstance(node.init, Literal):
            size = self._size(node.init)
            if size is not None:
                self._sizes[id(node)] = size
        elif isinstance(node.init, ListLiteral | MapLiteral):
            self._sizes[id(node)] = count
            self._put_entries(node, self._entries_of(node.step))

    def _loop_variables(self, node: Fold) -> list[tuple[str, _Variable]]:
        entries, path = self._entries_of(node.range_), self._path(node.range_)
        is_list = entries.is_list if entries else self.checked.type(node.range_).kind == "list"
        key, value = (entries.key, entries.value) if entries else (None, None)
        if node.second is not None:
            first = _Variable(path.plus("@indices" if is_list else "@keys"), key, None)
            return [
                (node.variable, first),
                (node.second, _Variable(path.plus("@items" if is_list else "@values"), value, None)),
            ]
        if is_list:
            return [(node.variable, _Variable(path.plus("@items"), value, None))]
        return [(node.variable, _Variable(path.plus("@keys"), key, None))]

    def _bound(self, node: Fold) -> Range:
        total = self.cost(node.range_) + self.cost(node.init)
        self._push(node.accumulator, self._local(node.init))
        total += self.cost(node.result)
        self._variables[node.accumulator].pop()
        self._copy(node, node.result)
        return total

    def _local(self, node: Node) -> _Variable:
        return _Variable(self._path(node), self._size(node), self._entries_of(node))

    # What is known of a node

    def _part(self, node: Node) -> Part:
        size = self._size(node)
        if isinstance(node, Literal):
            return Part(self.checked.type(node), size, node.value, (), self.environment)
        path = self._path(node).names
        if path and path[0] in (ACCUMULATOR, "__result__"):
            path = ()
        return Part(self.checked.type(node), size, NO_LITERAL, path, self.environment)

    def _path(self, node: Node) -> Path:
        if isinstance(node, Ident):
            variable = self._variable(node.name)
            if variable is not None:
                return variable.path
        return self._paths.get(id(node), NO_PATH)

    def _size_or_unknown(self, node: Node) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _size(self, node: Node) -> Range | None:
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        if isinstance(node, Literal | ListLiteral | MapLiteral):
            return exactly(written_size(node))
        path = self._path(node)
        declared = None if path is NO_PATH else declared_size(path.names, self.environment)
        if declared is not None:
            self._sizes[id(node)] = declared
            return declared
        if is_fixed(self.checked.type(node)):
            return ONE
        variable = self._variable(node.name) if isinstance(node, Ident) else None
        return variable.size if variable else None

    def _entries_of(self, node: Node) -> Entries | None:
        known = self._entries.get(id(node))
        if known is not None:
            return known
        variable = self._variable(node.name) if isinstance(node, Ident) else None
        return variable.entries if variable else None

    def _put_entries(self, node: Node, entries: Entries | None) -> None:
        if entries is not None:
            self._entries[id(node)] = entries

    def _copy(self, node: Node, source: Node) -> None:
        size = self._size(source)
        if size is not None:
            self._sizes[id(node)] = size
        self._put_entries(node, self._entries_of(source))


def _union(a: Entries | None, b: Entries | None) -> Entries | None:
    if a is None or b is None:
        return None
    return Entries(a.is_list, a.key.union(b.key), a.value.union(b.value))
