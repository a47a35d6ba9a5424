"""Macros: how each is written, and the loop that it expands to.

Source: github.com/google/cel-go v0.26, parser/macro.go, ext/bindings.go, ext/comprehensions.go and cel/library.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from function.cel.language.errors import Fault
from function.cel.language.syntax.tree import (
    ACCUMULATOR,
    UNUSED,
    Call,
    Fold,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
)

_SORTED = "@__sortBy_input__"

Expand: TypeAlias = Callable[[int, Node, list[Node]], Node | None]
"""Takes position, target and arguments. Returns None if the call is not of this macro; raises Fault for wrong use."""


def has(at: int, args: list[Node]) -> Node:
    [tested] = args
    if isinstance(tested, Select) and not tested.is_test:
        return Select(at, tested.operand, tested.field, is_test=True)
    raise Fault("has() wants a field, as in has(device.attributes.domain): what is written here is none", tested.at)


def _name(node: Node) -> str:
    if not isinstance(node, Ident):
        raise Fault("the first argument of this macro is a variable's name", node.at)
    if node.name in (ACCUMULATOR, "__result__"):
        raise Fault(f"{node.name} is no name for a variable", node.at)
    return node.name


def _names(args: list[Node], variables: int) -> tuple[str, str | None]:
    if variables == 1:
        return _name(args[0]), None
    first, second = _name(args[0]), _name(args[1])
    if first == second:
        raise Fault(f"{first} names both variables", args[1].at)
    return first, second


def _loop(
    macro: str, at: int, target: Node, names: tuple[str, str | None], parts: tuple[Node, Node, Node, Node]
) -> Fold:
    init, condition, step, result = parts
    return Fold(at, macro, target, *names, ACCUMULATOR, init, condition, step, result)


def _accumulator(at: int) -> Ident:
    return Ident(at, ACCUMULATOR)


def _all(variables: int) -> Expand:
    def expand(at: int, target: Node, args: list[Node]) -> Node:
        so_far = _accumulator(at)
        condition = Call(at, "@not_strictly_false", None, [_accumulator(at)])
        step = Call(at, "_&&_", None, [so_far, args[-1]])
        return _loop(
            "all", at, target, _names(args, variables), (Literal(at, value=True), condition, step, _accumulator(at))
        )

    return expand


def _exists(variables: int) -> Expand:
    def expand(at: int, target: Node, args: list[Node]) -> Node:
        condition = Call(at, "@not_strictly_false", None, [Call(at, "!_", None, [_accumulator(at)])])
        step = Call(at, "_||_", None, [_accumulator(at), args[-1]])
        parts = Literal(at, value=False), condition, step, _accumulator(at)
        return _loop("exists", at, target, _names(args, variables), parts)

    return expand


def _exists_one(variables: int) -> Expand:
    def expand(at: int, target: Node, args: list[Node]) -> Node:
        more = Call(at, "_+_", None, [_accumulator(at), Literal(at, 1)])
        step = Call(at, "_?_:_", None, [args[-1], more, _accumulator(at)])
        result = Call(at, "_==_", None, [_accumulator(at), Literal(at, 1)])
        parts = Literal(at, 0), Literal(at, value=True), step, result
        return _loop("exists_one", at, target, _names(args, variables), parts)

    return expand


def _collected(macro: str, variables: int, *, filters: bool) -> Expand:
    """A list of the values of the last argument."""

    def expand(at: int, target: Node, args: list[Node]) -> Node:
        more = Call(at, "_+_", None, [_accumulator(at), ListLiteral(at, [args[-1]], frozenset())])
        parts = (
            ListLiteral(at, [], frozenset()),
            Literal(at, value=True),
            _if(at, more, args, filters),
            _accumulator(at),
        )
        return _loop(macro, at, target, _names(args, variables), parts)

    return expand


def _filter(at: int, target: Node, args: list[Node]) -> Node:
    more = Call(at, "_+_", None, [_accumulator(at), ListLiteral(at, [args[0]], frozenset())])
    step = Call(at, "_?_:_", None, [args[1], more, _accumulator(at)])
    parts = ListLiteral(at, [], frozenset()), Literal(at, value=True), step, _accumulator(at)
    return _loop("filter", at, target, _names(args, 1), parts)


def _map_of(macro: str, *, filters: bool) -> Expand:
    """A map: of values by the first variable, or of the entries of maps."""

    def expand(at: int, target: Node, args: list[Node]) -> Node:
        names = _names(args, 2)
        put: list[Node] = [Ident(at, names[0]), args[-1]] if macro == "transformMap" else [args[-1]]
        more = Call(at, "cel.@mapInsert", None, [_accumulator(at), *put])
        parts = MapLiteral(at, []), Literal(at, value=True), _if(at, more, args, filters), _accumulator(at)
        return _loop(macro, at, target, names, parts)

    return expand


def _if(at: int, more: Node, args: list[Node], filters: bool) -> Node:  # noqa: FBT001  (inner)
    return Call(at, "_?_:_", None, [args[-2], more, _accumulator(at)]) if filters else more


def _bind(at: int, target: Node, args: list[Node]) -> Node | None:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return None
    name = args[0]
    if not isinstance(name, Ident):
        raise Fault("the first argument of cel.bind is a variable's name", name.at)
    empty, never = ListLiteral(at, [], frozenset()), Literal(at, value=False)
    return Fold(at, "bind", empty, UNUSED, None, name.name, args[1], never, Ident(at, name.name), args[2])


def _optional(macro: str) -> Expand:
    """optMap and optFlatMap: the last argument where the target has a value, otherwise none."""

    def expand(at: int, target: Node, args: list[Node]) -> Node:
        name = args[0]
        if not isinstance(name, Ident):
            raise Fault(f"the first argument of {macro} is a variable's name", name.at)
        content = Call(at, "value", target, [])
        empty, never = ListLiteral(at, [], frozenset()), Literal(at, value=False)
        bound: Node = Fold(at, macro, empty, UNUSED, None, name.name, content, never, Ident(at, name.name), args[1])
        if macro == "optMap":
            bound = Call(at, "optional.of", None, [bound])
        none = Call(at, "optional.none", None, [])
        return Call(at, "_?_:_", None, [Call(at, "hasValue", target, []), bound, none])

    return expand


def _sort_by(at: int, target: Node, args: list[Node]) -> Node:
    """A list in the order of keys. The list is bound first, so that it is evaluated once."""
    if isinstance(target, Literal | MapLiteral):
        raise Fault("sortBy() is of a list", target.at)
    keys = _collected("map", 1, filters=False)(at, Ident(at, _SORTED), args)
    assert keys is not None
    result = Call(at, "@sortByAssociatedKeys", Ident(at, _SORTED), [keys])
    empty, never = ListLiteral(at, [], frozenset()), Literal(at, value=False)
    return Fold(at, "sortBy", empty, UNUSED, None, _SORTED, target, never, Ident(at, _SORTED), result)


MACROS: Mapping[tuple[str, int], Expand] = {
    ("all", 2): _all(1),
    ("all", 3): _all(2),
    ("exists", 2): _exists(1),
    ("exists", 3): _exists(2),
    ("exists_one", 2): _exists_one(1),
    ("exists_one", 3): _exists_one(2),
    ("existsOne", 3): _exists_one(2),
    ("map", 2): _collected("map", 1, filters=False),
    ("map", 3): _collected("map", 1, filters=True),
    ("filter", 2): _filter,
    ("transformList", 3): _collected("transformList", 2, filters=False),
    ("transformList", 4): _collected("transformList", 2, filters=True),
    ("transformMap", 3): _map_of("transformMap", filters=False),
    ("transformMap", 4): _map_of("transformMap", filters=True),
    ("transformMapEntry", 3): _map_of("transformMapEntry", filters=False),
    ("transformMapEntry", 4): _map_of("transformMapEntry", filters=True),
    ("sortBy", 2): _sort_by,
    ("bind", 3): _bind,
    ("optMap", 2): _optional("optMap"),
    ("optFlatMap", 2): _optional("optFlatMap"),
}
"""Macros by method and number of arguments. Only `has` is not a method."""
COPYING = frozenset({"optMap", "optFlatMap"})
"""Macros whose expansion has the target twice."""
