"""Parts of a tree while it is built, and how deep the rules of the grammar nest in them.

Source of the limits: github.com/google/cel-go v0.26, parser/parser.go: no rule of the grammar may be active 250 times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lark import Token

from function.cel import literals
from function.cel.problem import Fault
from function.cel.tree import Call, Literal, Node

DEEPEST = 250
LARGEST = 50_000
"""Nodes of a tree, macros expanded."""


@dataclass(slots=True)
class Built:
    """A part of the tree, and how deep the rules of the grammar nest in it."""

    node: Node
    start: int
    size: int = 1
    visits: int = 0
    """How deep selections, calls, indexes and binary operators nest."""
    exprs: int = 0
    relations: int = 0
    calcs: int = 0
    members: int = 0
    signs: tuple[tuple[str, int], ...] = ()
    """Signs and negations in front, with their places: what they mean depends on what follows."""
    number: tuple[Literal, Token] | None = None
    """The number that it begins with, not decoded yet: its sign may stand in front."""
    logic: str = ""
    """The logical operator of which this is a run: it becomes a balanced tree when it ends."""
    terms: list[Node] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator with the operand on its left, or a sign alone."""

    function: str
    at: int
    left: Built | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a literal: of a map with its key, of a message with its field's name."""

    value: Built
    optional: bool
    key: Built | None = None
    name: str = ""


def over(node: Node, *parts: Built) -> Built:
    built = Built(node, node.at)
    for part in parts:
        built.start = min(built.start, part.start)
        built.size += part.size
        built.visits = max(built.visits, part.visits)
        built.exprs = max(built.exprs, part.exprs)
        built.relations = max(built.relations, part.relations)
        built.calcs = max(built.calcs, part.calcs)
        built.members = max(built.members, part.members)
    if built.size > LARGEST:
        raise Fault("this expression is too large", node.at)
    return built


def limited(built: Built) -> Built:
    if max(built.visits, built.exprs, built.relations, built.calcs, built.members) > DEEPEST:
        raise Fault(f"this expression nests more than {DEEPEST} deep", built.node.at)
    return built


def entered(built: Built, rule: str) -> Built:
    """As the first operand of a rule that recurses on its left."""
    setattr(built, rule, getattr(built, rule) + 1)
    return limited(built)


def extended(node: Node, rule: str, left: Built, *more: Built) -> Built:
    """By one more operator or suffix of that rule: the rule is entered once, however long it goes on."""
    built = over(node, left, *more)
    built.visits += 1
    inner = max((getattr(m, rule) for m in more), default=0)
    setattr(built, rule, max(getattr(left, rule), 1 + inner))
    return limited(built)


def binary(parts: list[Any], rule: str) -> Built:
    operator, right = parts
    node = Call(operator.at, operator.function, None, [operator.left.node, right.node])
    return extended(node, rule, operator.left, right)


def logical(function: str, parts: list[Any]) -> Built:
    if len(parts) == 1:
        built: Built = parts[0]
        return built
    left = parts[0] if parts[0].logic == function else settled(parts[0])
    right = settled(parts[2])
    built = over(left.node, left, right)
    built.logic = function
    built.terms, built.places = left.terms or [left.node], left.places
    built.terms.append(right.node)
    built.places.append(at_of(parts[1]))
    return built


def _balanced(function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
    """As Kubernetes groups them: for every term, few levels."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], function, None, [left, right])


def settled(built: Built) -> Built:
    """A run of a logical operator, if it is one, ends here."""
    if built.logic:
        built.node = _balanced(built.logic, built.terms, built.places, 0, len(built.places) - 1)
        built.logic, built.terms, built.places = "", [], []
    return built


def decoded(built: Built) -> Built:
    """The signs in front, applied: one minus belongs to the number that follows it."""
    signs, number = built.signs, built.number
    if number is not None:
        literal, token = number
        own = bool(signs) and signs[-1][0] == "-" and (len(signs) == 1 or signs[-2][0] == "!")
        literal.value = literals.value(token.type, str(token), literal.at, sign="-" if own else "")
        signs = signs[:-1] if own else signs
    if len({sign for sign, _ in signs}) > 1:
        raise Fault("a minus and a negation cannot follow each other without parentheses", signs[1][1])
    built.signs, built.number = (), None
    if len(signs) % 2 == 0:
        return built
    sign, at = signs[0]
    return over(Call(at, sign + "_", None, [built.node]), built)


def at_of(token: Token) -> int:
    return token.start_pos or 0
