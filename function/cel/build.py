"""From tokens to a tree: a method for each rule of celpy's grammar, called bottom-up; macros are expanded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lark import Token, Transformer

from function.cel import literals
from function.cel.macros import MACROS, has
from function.cel.parts import (
    Built,
    Entry,
    Operator,
    at_of,
    binary,
    decoded,
    entered,
    extended,
    limited,
    logical,
    over,
    settled,
)
from function.cel.problem import Fault
from function.cel.tree import Call, Ident, ListLiteral, Literal, MapLiteral, Node, Select, Struct

_FIELD = 3
"""Parts of a field without a question mark: name, colon, value."""
_RESERVED = frozenset(
    {
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "namespace", "null", "package", "return", "true", "var", "void", "while",
    }
)  # fmt: skip


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
            return entered(settled(parts[0]), "exprs")
        condition, mark, yes, _, no = parts
        three = [settled(p) for p in (condition, yes, no)]
        built = over(Call(at_of(mark), "_?_:_", None, [p.node for p in three]), *three)
        built.visits, built.exprs = built.visits + 1, built.exprs + 1
        return limited(built)

    def conditionalor(self, parts: list[Any]) -> Built:
        return logical("_||_", parts)

    def conditionaland(self, parts: list[Any]) -> Built:
        return logical("_&&_", parts)

    def relation(self, parts: list[Any]) -> Built:
        right = entered(parts[-1], "relations")
        return right if len(parts) == 1 else binary([parts[0], right], "relations")

    def addition(self, parts: list[Any]) -> Built:
        return _built(parts) if len(parts) == 1 else binary(parts, "calcs")

    def multiplication(self, parts: list[Any]) -> Built:
        right = entered(decoded(parts[-1]), "calcs")
        return right if len(parts) == 1 else binary([parts[0], right], "calcs")

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
        return _suffixed(Select(at_of(name), left.node, _field(name)), left)

    def member_optdot(self, parts: list[Any]) -> Built:
        left, _, _, name = parts
        field_ = Literal(at_of(name), _field(name))
        return _suffixed(Call(at_of(name), "_?._", None, [left.node, field_]), left)

    def member_dot_arg(self, parts: list[Any]) -> Built:
        left, name, args = parts[0], parts[2], _arguments(parts)
        node = _method(name, left.node, [a.node for a in args])
        copies = [left] if str(name) in ("optMap", "optFlatMap") else []
        return _suffixed(node, left, *args, copies=copies)

    def member_index(self, parts: list[Any]) -> Built:
        left, bracket, index, _ = parts
        return _suffixed(Call(at_of(bracket), "_[_]", None, [left.node, index.node]), left, index)

    def member_optindex(self, parts: list[Any]) -> Built:
        left, bracket, _, index, _ = parts
        return _suffixed(Call(at_of(bracket), "_[?_]", None, [left.node, index.node]), left, index)

    def member_object(self, parts: list[Any]) -> Built:
        left, entries = parts[0], _entries(parts)
        fields = [(e.name, e.value.node, e.optional) for e in entries]
        node = Struct(left.start, _qualified(left.node), fields)
        return over(node, left, *(e.value for e in entries))

    # Primaries

    def primary(self, parts: list[Built]) -> Built:
        return entered(parts[0], "members")

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
        return built

    def list_lit(self, parts: list[Any]) -> Built:
        entries = _entries(parts)
        optional = frozenset(i for i, e in enumerate(entries) if e.optional)
        node = ListLiteral(at_of(parts[0]), [e.value.node for e in entries], optional)
        return over(node, *(e.value for e in entries))

    def map_lit(self, parts: list[Any]) -> Built:
        entries = _entries(parts)
        pairs = [(e.key, e.value, e.optional) for e in entries if e.key is not None]
        node = MapLiteral(at_of(parts[0]), [(key.node, value.node, optional) for key, value, optional in pairs])
        return over(node, *(part for key, value, _ in pairs for part in (key, value)))

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
        return Operator(function, at_of(parts[-1]), parts[0] if len(parts) > 1 else None)

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


def _arguments(parts: list[Any]) -> list[Built]:
    given = parts[-2]
    return given if isinstance(given, list) else []


def _entries(parts: list[Any]) -> list[Entry]:
    return next((p for p in parts if isinstance(p, list)), [])


def _suffixed(node: Node, left: Built, *args: Built, copies: Sequence[Built] = ()) -> Built:
    built = extended(node, "members", left, *args)
    built.size += sum(c.size for c in copies)
    built.number = left.number
    return built


def _field(token: Token) -> str:
    name = _name(token)
    if str(token).startswith("`"):
        raise Fault('names in backticks are not supported; write ["..."]', at_of(token))
    return name


def _ident(token: Token, dot: str) -> Built:
    at = at_of(token)
    if str(token) in _RESERVED:
        raise Fault(f"{token} is a reserved word", at)
    return Built(Ident(at, dot + token), at)


def _function(name: Token, parts: list[Any], dot: str) -> Built:
    ident, args = _ident(name, dot), _arguments(parts)
    nodes = [a.node for a in args]
    if dot + name == "has" and len(nodes) == 1:
        return over(has(ident.start, nodes), *args)
    return over(Call(ident.start, dot + str(name), None, nodes), *args)


def _method(name: Token, target: Node, args: list[Node]) -> Node:
    at, macro = at_of(name), MACROS.get((str(name), len(args)))
    expanded = macro(at, target, args) if macro else None
    return Call(at, str(name), target, args) if expanded is None else expanded


def _qualified(node: Node) -> str:
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        return f"{_qualified(node.operand)}.{node.field}"
    raise Fault("a message begins with the name of its type", node.at)
