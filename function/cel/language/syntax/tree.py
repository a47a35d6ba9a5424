"""The tree of an expression, with macros expanded. Every node has its position in the user's text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(slots=True, eq=False)
class Literal:
    """A constant: bool, int, Uint, float, str, bytes or None."""

    at: int
    value: Any


@dataclass(slots=True, eq=False)
class Ident:
    at: int
    name: str


@dataclass(slots=True, eq=False)
class Select:
    """`operand.field`; as a test, `has(operand.field)`."""

    at: int
    operand: Node
    field: str
    is_test: bool = False


@dataclass(slots=True, eq=False)
class Call:
    """A call of a function, method or operator. Once checked, a function whose name has dots has no target."""

    at: int
    function: str
    target: Node | None
    args: list[Node]


@dataclass(slots=True, eq=False)
class ListLiteral:
    at: int
    items: list[Node]
    optional: frozenset[int]
    """Positions of the entries with a question mark."""


@dataclass(slots=True, eq=False)
class MapLiteral:
    at: int
    entries: list[tuple[Node, Node, bool]]
    """Key, value, and whether the entry has a question mark."""


@dataclass(slots=True, eq=False)
class Struct:
    """A message. The checker refuses it: no environment declares the type of one."""

    at: int
    name: str
    fields: list[tuple[str, Node, bool]]


@dataclass(slots=True, eq=False)
class Fold:
    """A loop: starting with `init`, while `condition` holds, `step` for each entry of `range_`; then `result`."""

    at: int
    macro: str
    """The name of the macro that it was written as."""
    range_: Node
    variable: str
    second: str | None
    accumulator: str
    init: Node
    condition: Node
    step: Node
    result: Node


def below(root: Node) -> Iterator[Node]:
    """A node and all nodes below it, in no particular order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(parts(node))


def parts(node: Node) -> Iterable[Node]:
    """The nodes directly below a node."""
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return node.args if node.target is None else (node.target, *node.args)
        case ListLiteral():
            return node.items
        case MapLiteral():
            return [part for key, value, _ in node.entries for part in (key, value)]
        case Struct():
            return [value for _, value, _ in node.fields]
        case Fold():
            return node.range_, node.init, node.condition, node.step, node.result
    return ()


Node: TypeAlias = Literal | Ident | Select | Call | ListLiteral | MapLiteral | Struct | Fold

ACCUMULATOR = "@result"
"""A name that no user can write."""
UNUSED = "#unused"


def qualified(node: Any) -> str | None:
    """The name with dots that a node is; None where it is anything else."""
    if isinstance(node, Ident):
        return node.name.removeprefix(".")
    if isinstance(node, Select) and not node.is_test:
        inner = qualified(node.operand)
        return f"{inner}.{node.field}" if inner else None
    return None


def balanced(function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
    """A tree of one operator with few levels, grouped as cel-go groups it."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1] if middle == high else balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], function, None, [left, right])
