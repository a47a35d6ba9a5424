"""From text to tree: celpy's grammar read bottom-up, macros expanded, depth limited as Kubernetes limits it.

Source of the limits: github.com/google/cel-go v0.26, parser/parser.go: no rule of the grammar may be active 250 times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lark import Token, Transformer

from function.cel import literals
from function.cel.macros import MACROS, has
from function.cel.problem import Fault
from function.cel.tree import Call, Ident, ListLiteral, Literal, MapLiteral, Node, Select, Struct

DEEPEST = 250
LARGEST = 50_000
"""Nodes of a tree, macros expanded."""
_FIELD = 3
"""Parts of a field without a question mark: name, colon, value."""
_RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)


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
    run: int = 0
    """How often the innermost left-recursive rule has been extended."""
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


def _over(node: Node, *parts: Built) -> Built:
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


def _limited(built: Built) -> Built:
    if max(built.visits, built.exprs, built.relations, built.calcs, built.members) > DEEPEST:
        raise Fault(f"this expression nests more than {DEEPEST} deep", built.node.at)
    return built


def _entered(built: Built, rule: str) -> Built:
    """As the first operand of a rule that recurses on its left."""
    built.run = 0
    setattr(built, rule, getattr(built, rule) + 1)
    return _limited(built)


def _extended(node: Node, rule: str, left: Built, *more: Built) -> Built:
    """By one more operator or suffix of that rule."""
    built = _over(node, left, *more)
    built.visits += 1
    built.run = left.run + 1
    inner = max((getattr(m, rule) for m in more), default=0)
    setattr(built, rule, max(getattr(left, rule), 1 + built.run + inner))
    return _limited(built)


def _binary(parts: list[Any], rule: str) -> Built:
    operator, right = parts
    node = Call(operator.at, operator.function, None, [operator.left.node, right.node])
    return _extended(node, rule, operator.left, right)


def _logical(function: str, parts: list[Any]) -> Built:
    if len(parts) == 1:
        return _built(parts)
    left = parts[0] if parts[0].logic == function else _settled(parts[0])
    right = _settled(parts[2])
    built = _over(left.node, left, right)
    built.logic = function
    built.terms, built.places = left.terms or [left.node], left.places
    built.terms.append(right.node)
    built.places.append(_at(parts[1]))
    return built


def _balanced(function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
    """As Kubernetes groups them: for every term, few levels."""
    middle = (low + high + 1) // 2
    left = terms[middle] if middle == low else _balanced(function, terms, places, low, middle - 1)
    right = terms[middle + 1] if middle == high else _balanced(function, terms, places, middle + 1, high)
    return Call(places[middle], function, None, [left, right])


def _settled(built: Built) -> Built:
    """A run of a logical operator, if it is one, ends here."""
    if built.logic:
        built.node = _balanced(built.logic, built.terms, built.places, 0, len(built.places) - 1)
        built.logic, built.terms, built.places = "", [], []
    return built


def _decoded(built: Built) -> Built:
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
    return _over(Call(at, sign + "_", None, [built.node]), built)


def _built(parts: list[Any]) -> Built:
    """The last part."""
    built: Built = parts[-1]
    return built


def _name(token: Token) -> str:
    return str(token).strip("`")


class Builder(Transformer[Token, Any]):
    """Rules of celpy's grammar, by their names there."""

    # Operators, from the weakest

    def expr(self, parts: list[Any]) -> Built:
        if len(parts) == 1:
            return _entered(_settled(parts[0]), "exprs")
        condition, mark, yes, _, no = parts
        settled = [_settled(p) for p in (condition, yes, no)]
        built = _over(Call(_at(mark), "_?_:_", None, [p.node for p in settled]), *settled)
        built.visits, built.exprs = built.visits + 1, built.exprs + 1
        return _limited(built)

    def conditionalor(self, parts: list[Any]) -> Built:
        return _logical("_||_", parts)

    def conditionaland(self, parts: list[Any]) -> Built:
        return _logical("_&&_", parts)

    def relation(self, parts: list[Any]) -> Built:
        right = _entered(parts[-1], "relations")
        return right if len(parts) == 1 else _binary([parts[0], right], "relations")

    def addition(self, parts: list[Any]) -> Built:
        return _built(parts) if len(parts) == 1 else _binary(parts, "calcs")

    def multiplication(self, parts: list[Any]) -> Built:
        right = _entered(_decoded(parts[-1]), "calcs")
        return right if len(parts) == 1 else _binary([parts[0], right], "calcs")

    def unary(self, parts: list[Any]) -> Built:
        built = _built(parts)
        for sign in parts[:-1]:
            built.signs = ((sign.function, sign.at), *built.signs)
        return built

    # Members

    def member(self, parts: list[Built]) -> Built:
        return parts[0]

    def member_dot(self, parts: list[Any]) -> Built:
        left, _, name = parts
        return _suffixed(Select(_at(name), left.node, _field(name)), left)

    def member_optdot(self, parts: list[Any]) -> Built:
        left, _, _, name = parts
        field_ = Literal(_at(name), _field(name))
        return _suffixed(Call(_at(name), "_?._", None, [left.node, field_]), left)

    def member_dot_arg(self, parts: list[Any]) -> Built:
        left, name, args = parts[0], parts[2], _arguments(parts)
        node = _method(name, left.node, [a.node for a in args])
        copies = [left] if str(name) in ("optMap", "optFlatMap") else []
        return _suffixed(node, left, *args, copies=copies)

    def member_index(self, parts: list[Any]) -> Built:
        left, bracket, index, _ = parts
        return _suffixed(Call(_at(bracket), "_[_]", None, [left.node, index.node]), left, index)

    def member_optindex(self, parts: list[Any]) -> Built:
        left, bracket, _, index, _ = parts
        return _suffixed(Call(_at(bracket), "_[?_]", None, [left.node, index.node]), left, index)

    def member_object(self, parts: list[Any]) -> Built:
        left, entries = parts[0], _entries(parts)
        fields = [(e.name, e.value.node, e.optional) for e in entries]
        node = Struct(left.start, _qualified(left.node), fields)
        return _over(node, left, *(e.value for e in entries))

    # Primaries

    def primary(self, parts: list[Built]) -> Built:
        return _entered(parts[0], "members")

    def literal(self, parts: list[Token]) -> Built:
        [token] = parts
        node = Literal(token.start_pos or 0, None)
        if token.type in ("INT_LIT", "FLOAT_LIT"):
            return Built(node, node.at, number=(node, token))
        node.value = literals.value(token.type, str(token), node.at)
        return Built(node, node.at)

    def ident(self, parts: list[Token]) -> Built:
        return _ident(parts[0], "")

    def dot_ident(self, parts: list[Token]) -> Built:
        return _ident(parts[1], ".")

    def ident_arg(self, parts: list[Any]) -> Built:
        return _function(parts[0], parts, "")

    def dot_ident_arg(self, parts: list[Any]) -> Built:
        return _function(parts[1], parts, ".")

    def paren_expr(self, parts: list[Any]) -> Built:
        built: Built = parts[1]
        built.run = 0
        return built

    def list_lit(self, parts: list[Any]) -> Built:
        entries = _entries(parts)
        optional = frozenset(i for i, e in enumerate(entries) if e.optional)
        node = ListLiteral(_at(parts[0]), [e.value.node for e in entries], optional)
        return _over(node, *(e.value for e in entries))

    def map_lit(self, parts: list[Any]) -> Built:
        entries = _entries(parts)
        pairs = [(e.key, e.value, e.optional) for e in entries if e.key is not None]
        node = MapLiteral(_at(parts[0]), [(key.node, value.node, optional) for key, value, optional in pairs])
        return _over(node, *(part for key, value, _ in pairs for part in (key, value)))

    # Lists of arguments and entries

    def exprlist(self, parts: list[Any]) -> list[Built]:
        return parts[::2]

    def listinits(self, parts: list[Any]) -> list[Entry]:
        entries: list[Entry] = parts if len(parts) == 1 else parts[0]
        entries.extend(parts[2:])
        return entries

    mapinits = fieldinits = listinits

    def listinit(self, parts: list[Any]) -> Entry:
        return Entry(parts[-1], len(parts) > 1)

    def mapinit(self, parts: list[Any]) -> Entry:
        return Entry(parts[-1], isinstance(parts[0], Token), key=parts[-3])

    def fieldinit(self, parts: list[Any]) -> Entry:
        return Entry(parts[-1], len(parts) > _FIELD, name=_name(parts[-3]))


def _operator(function: str) -> Any:
    def built(_: Builder, parts: list[Any]) -> Operator:
        return Operator(function, _at(parts[-1]), parts[0] if len(parts) > 1 else None)

    return built


for _rule, _function_name in {
    "relation_lt": "_<_",
    "relation_le": "_<=_",
    "relation_gt": "_>_",
    "relation_ge": "_>=_",
    "relation_eq": "_==_",
    "relation_ne": "_!=_",
    "relation_in": "@in",
    "addition_add": "_+_",
    "addition_sub": "_-_",
    "multiplication_mul": "_*_",
    "multiplication_div": "_/_",
    "multiplication_mod": "_%_",
    "unary_not": "!",
    "unary_neg": "-",
}.items():
    setattr(Builder, _rule, _operator(_function_name))


def _at(token: Token) -> int:
    return token.start_pos or 0


def _arguments(parts: list[Any]) -> list[Built]:
    given = parts[-2]
    return given if isinstance(given, list) else []


def _entries(parts: list[Any]) -> list[Entry]:
    return next((p for p in parts if isinstance(p, list)), [])


def _suffixed(node: Node, left: Built, *args: Built, copies: Sequence[Built] = ()) -> Built:
    built = _extended(node, "members", left, *args)
    built.size += sum(c.size for c in copies)
    built.number = left.number
    return built


def _field(token: Token) -> str:
    name = _name(token)
    if str(token).startswith("`"):
        raise Fault('names in backticks are not supported; write ["..."]', _at(token))
    return name


def _ident(token: Token, dot: str) -> Built:
    at = _at(token)
    if str(token) in _RESERVED:
        raise Fault(f"{token} is a reserved word", at)
    return Built(Ident(at, dot + token), at)


def _function(name: Token, parts: list[Any], dot: str) -> Built:
    ident, args = _ident(name, dot), _arguments(parts)
    nodes = [a.node for a in args]
    if dot + name == "has" and len(nodes) == 1:
        return _over(has(ident.start, nodes), *args)
    return _over(Call(ident.start, dot + str(name), None, nodes), *args)


def _method(name: Token, target: Node, args: list[Node]) -> Node:
    at, macro = _at(name), MACROS.get((str(name), len(args)))
    expanded = macro(at, target, args) if macro else None
    return Call(at, str(name), target, args) if expanded is None else expanded


def _qualified(node: Node) -> str:
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        return f"{_qualified(node.operand)}.{node.field}"
    raise Fault("a message begins with the name of its type", node.at)
