"""The parser: from a text to a tree, by recursive descent, with macros expanded.

Terms:

- A *rule* of the grammar is a method. It is *active* while it is on the stack; no rule may be active more than NESTING
  times at once, and no more selections, calls, indexes, conditionals and binary operators may nest (`height`).

Phases, in the order of their calls:

1. `tokens` splits the text. What is no token is one as well, and the `Cursor` leaves it out.
2. `_Parser.expression` reads the tokens, from the weakest operator to the primaries. A method call that is a macro is
   replaced by its expansion at once (`macros`).
3. `parsed` raises the fault that comes first in the text, but one in a macro last.

Coarse on purpose: of several faults only one is reported, the first that cel-go reports.

Source: github.com/google/cel-go v0.26, parser/gen/CEL.g4 and parser/parser.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from function.cel.language.errors import Fault
from function.cel.language.limits import COPIED_NODES, TEXT_BYTES
from function.cel.language.syntax import literals
from function.cel.language.syntax.cursor import Cursor
from function.cel.language.syntax.macros import COPYING, MACROS, has
from function.cel.language.syntax.tokens import END, RESERVED, Token, tokens
from function.cel.language.syntax.tree import (
    Call,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    Struct,
    balanced,
    below,
)

_RELATIONS = {**{sign: f"_{sign}_" for sign in ("==", "!=", "<", "<=", ">", ">=")}, "in": "@in"}
_CALCULATIONS = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
"""The operators of arithmetic, and how strongly each binds."""
_LITERALS = frozenset({"int", "uint", "double", "string", "bytes", "true", "false", "null"})


def parse(text: str) -> Node:
    """The tree of a text. Fault where it is wrong."""
    return parsed(text)[0]


def parsed(text: str) -> tuple[Node, int]:
    """The tree of a text, and the number of nodes that macros have copied. Fault where it is wrong."""
    if len(text.encode(errors="replace")) > TEXT_BYTES:
        raise Fault(f"it is longer than {TEXT_BYTES} bytes", TEXT_BYTES)
    parser = _Parser(text)
    found: Fault | None = None
    try:
        root = parser.expression()
        parser.expect(END)
    except Fault as fault:
        found = fault
    faults = [fault for fault in (parser.unreadable, parser.unfit, found) if fault is not None]
    if faults:
        raise min(faults, key=lambda fault: fault.at)
    if parser.wrong is not None:
        raise parser.wrong
    return root, parser.copied


class _Parser(Cursor):
    def __init__(self, text: str) -> None:
        super().__init__(tokens(text))
        self._expressions = self._relations = self._calculations = 0
        """Active calls of each rule."""
        self.copied = 0
        self.wrong: Fault | None = None
        """The first macro that is used wrongly."""

    # Operators, from the weakest

    def expression(self) -> Node:
        self._expressions = self.limited(self._expressions + 1)
        node = self._either()
        if self.kind == "?":
            node = self._conditional(node)
        self._expressions -= 1
        return node

    def _conditional(self, condition: Node) -> Node:
        first, mark = self.height, self.take()
        yes, second = self._either(), self.height
        self.expect(":")
        no = self.expression()
        self.rises(first, second, self.height)
        return Call(mark.at, "_?_:_", None, [condition, yes, no])

    def _either(self) -> Node:
        return self._logical("||", self._both)

    def _both(self) -> Node:
        return self._logical("&&", self._relation)

    def _logical(self, sign: str, term: Callable[[], Node]) -> Node:
        first = term()
        if self.kind != sign:
            return first
        terms, places, height = [first], [], self.height
        while self.kind == sign:
            places.append(self.take().at)
            terms.append(term())
            height = max(height, self.height)
        self.height = height
        return balanced(f"_{sign}_", terms, places, 0, len(places) - 1)

    def _relation(self) -> Node:
        self._relations = self.limited(self._relations + 1)
        left = self._calculation()
        while self.kind in _RELATIONS:
            height, sign = self.height, self.take()
            self._relations = self.limited(self._relations + 1)
            right = self._calculation()
            self._relations -= 1
            self.rises(height, self.height)
            left = Call(sign.at, _RELATIONS[sign.kind], None, [left, right])
        self._relations -= 1
        return left

    def _calculation(self, strength: int = 1) -> Node:
        """Operators that bind at least so strongly."""
        self._calculations = self.limited(self._calculations + 1)
        left = self._unary()
        while (binds := _CALCULATIONS.get(self.kind, 0)) >= strength:
            height, sign = self.height, self.take()
            right = self._calculation(binds + 1)
            self.rises(height, self.height)
            left = Call(sign.at, f"_{sign.kind}_", None, [left, right])
        self._calculations -= 1
        return left

    def _unary(self) -> Node:
        """Signs in front. One minus before a number is the number's own."""
        sign, at, count = self.kind, self.token.at, 0
        if sign not in ("!", "-") or self.is_number():
            return self._member()
        while self.kind == sign:
            self.take()
            count += 1
        node = self._member()
        return Call(at, f"{sign}_", None, [node]) if count % 2 else node

    # Members

    def _member(self) -> Node:
        node = self._primary()
        while True:
            if self.kind == ".":
                node = self._dotted(node)
            elif self.kind == "[":
                node = self._indexed(node)
            else:
                return node

    def _dotted(self, operand: Node) -> Node:
        self.take()
        optional = self.takes("?")
        name = self.expect("name", "escaped")
        if self.kind == "(" and name.kind == "name" and not optional:
            return self._method(name, operand)
        if name.kind == "escaped":
            self.refuse(Fault('names in backticks are not supported; write ["..."]', name.at))
        self.rises(self.height)
        if optional:
            return Call(name.at, "_?._", None, [operand, Literal(name.at, name.text)])
        return Select(name.at, operand, name.text)

    def _method(self, name: Token, target: Node) -> Node:
        height = self.height
        args = self.arguments(self.expression)
        self.rises(height, self.height)
        macro = MACROS.get((name.text, len(args)))
        if macro and name.text in COPYING:
            self._copy(target)
        expanded = self._expanded(macro, name.at, target, args) if macro else None
        return Call(name.at, name.text, target, args) if expanded is None else expanded

    def _expanded(self, macro: Callable[..., Node | None], *parts: Any) -> Any:
        """The expansion of a macro. Its fault is reported last."""
        try:
            return macro(*parts)
        except Fault as fault:
            self.wrong = self.wrong or fault
            return Literal(fault.at, None)

    def _copy(self, node: Node) -> None:
        for _ in below(node):
            self.copied += 1
            if self.copied > COPIED_NODES:
                raise Fault("this expression is too large, once its macros are written out", node.at)

    def _indexed(self, operand: Node) -> Node:
        height, bracket = self.height, self.take()
        function = "_[?_]" if self.takes("?") else "_[_]"
        index = self.expression()
        self.expect("]")
        self.rises(height, self.height)
        return Call(bracket.at, function, None, [operand, index])

    # Primaries

    def _primary(self) -> Node:
        kind = self.kind
        if kind in ("name", "."):
            return self._named()
        self.height = 0
        if kind in _LITERALS or self.is_number():
            return self._literal()
        match kind:
            case "(":
                return self._parenthesized()
            case "[":
                return self._list()
            case "{":
                return self._map()
            case "-":
                self.take()
        raise self.unexpected()

    def _literal(self) -> Literal:
        at, sign = self.token.at, "-" if self.takes("-") else ""
        token = self.take()
        try:
            return Literal(at, literals.value(token.kind, token.text, at, sign=sign))
        except Fault as fault:
            self.refuse(fault)
            return Literal(at, None)

    def _parenthesized(self) -> Node:
        self.take()
        node = self.expression()
        self.expect(")")
        return node

    def _named(self) -> Node:
        at, dot = self.token.at, "." if self.takes(".") else ""
        self.height = 0
        name = self.expect("name")
        if self.is_message():
            return self._message(at, dot + name.text)
        if name.text in RESERVED:
            self.refuse(Fault(f"{name.text} is a reserved word", at))
        if self.kind != "(":
            return Ident(name.at, dot + name.text)
        args = self.arguments(self.expression)
        if dot + name.text == "has" and len(args) == 1:
            tested: Node = self._expanded(has, name.at, args)
            return tested
        return Call(name.at, dot + name.text, None, args)

    def _message(self, at: int, name: str) -> Node:
        while self.takes("."):
            name += f".{self.take().text}"
        return Struct(at, name, self.entries("}", self._field))

    def _field(self) -> tuple[str, Node, bool]:
        optional = self.takes("?")
        name = self.key(self._field_name)
        return name.text, self.expression(), optional

    def _field_name(self) -> Token:
        name = self.expect("name", "escaped")
        if name.kind == "escaped":
            self.refuse(Fault("names in backticks are not supported", name.at))
        return name

    # Literals with entries

    def _list(self) -> Node:
        at = self.token.at
        entries = self.entries("]", self._element)
        optional = frozenset(i for i, (_, optional) in enumerate(entries) if optional)
        return ListLiteral(at, [node for node, _ in entries], optional)

    def _element(self) -> tuple[Node, bool]:
        optional = self.takes("?")
        return self.expression(), optional

    def _map(self) -> Node:
        at = self.token.at
        return MapLiteral(at, self.entries("}", self._pair))

    def _pair(self) -> tuple[Node, Node, bool]:
        optional = self.takes("?")
        key, height = self.key(self.expression), self.height
        value = self.expression()
        self.height = max(height, self.height)
        return key, value, optional
