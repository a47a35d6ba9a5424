"""Expressions as a tree, macros expanded. Every node knows where in the user's text it was written."""

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
    """A function, method or operator. A name that is qualified has no target."""

    at: int
    function: str
    target: Node | None
    args: list[Node]


@dataclass(slots=True, eq=False)
class ListLiteral:
    at: int
    items: list[Node]
    optional: frozenset[int]
    """Positions written with a question mark."""


@dataclass(slots=True, eq=False)
class MapLiteral:
    at: int
    entries: list[tuple[Node, Node, bool]]
    """Key, value, and whether it was written with a question mark."""


@dataclass(slots=True, eq=False)
class Struct:
    """A message by its type's name. No environment of ours declares one."""

    at: int
    name: str
    fields: list[tuple[str, Node, bool]]


@dataclass(slots=True, eq=False)
class Fold:
    """A loop: from `init`, while `condition`, `step` over each of `range_`; then `result`."""

    at: int
    macro: str
    """Name of the macro that it was written as."""
    range_: Node
    variable: str
    second: str | None
    accumulator: str
    init: Node
    condition: Node
    step: Node
    result: Node


def below(root: Node) -> Iterator[Node]:
    """The node and all below it, in no order that matters."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(parts(node))


def parts(node: Node) -> Iterable[Node]:
    """The nodes right below."""
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
"""No name that a user can write."""
UNUSED = "#unused"


def qualified(node: Any) -> str | None:
    """A name with dots, as far as the node is nothing else."""
    if isinstance(node, Ident):
        return node.name.removeprefix(".")
    if isinstance(node, Select) and not node.is_test:
        inner = qualified(node.operand)
        return f"{inner}.{node.field}" if inner else None
    return None


def balanced(function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
    """As Kubernetes groups them: for every term, few levels."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1] if middle == high else balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], function, None, [left, right])
