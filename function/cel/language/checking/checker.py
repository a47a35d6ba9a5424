"""The checker: finds the type of every node, and the overloads of every call, in dead branches as well.

Terms:

- An overload *fits* a call when its parameters' types can stand for the arguments'. Several may fit, where a type is
  not known: the call's type is dyn then, unless all have one result.
- A *type variable* stands for a type that is not known yet; unification (`unifier`) finds out what it is.

Phases, in the order of their calls:

1. `visit` returns the type of a node, after those below it. Names are looked up in the scopes of the macros around the
   node, then among the variables, then among the types. A name with dots may be one name (`qualified`).
2. `_resolved` tries the overloads of a call one by one. Each that fits may bind type variables, and the bindings stay.
3. When all is visited, type variables are replaced by what they turned out to be, and unknown ones by dyn.
4. `homogeneity` looks at the entries of list and map literals, with the final types.

Source: github.com/google/cel-go v0.26, checker/checker.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.cel.language.checking import explain, homogeneity
from function.cel.language.checking.checked import Checked
from function.cel.language.checking.unifier import Unifier, either, most_general
from function.cel.language.declarations import types
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.overload import Overload
from function.cel.language.declarations.types import Type, content_of, is_dyn, is_open
from function.cel.language.errors import Fault
from function.cel.language.syntax.tree import (
    Call,
    Fold,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    Struct,
    qualified,
)
from function.cel.language.values.kinds import Uint

_LITERALS = {
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
}


def check(root: Node, environment: Environment) -> Checked:
    """Find the types of a tree. Fault where it is wrong."""
    checker = _Checker(environment, Checked(root))
    checker.visit(root)
    checked = checker.checked
    checked.types = {key: checker.unifier.resolved(t, final=True) for key, t in checked.types.items()}
    for literal in checker.literals:
        homogeneity.check(literal, checked)
    return checked


class _Checker:
    def __init__(self, environment: Environment, checked: Checked) -> None:
        self.environment, self.checked = environment, checked
        self.unifier = Unifier()
        self._scopes: list[dict[str, Type]] = []
        self.literals: list[ListLiteral | MapLiteral] = []
        """Those whose entries must have one type."""
        self._formats = self._depth = 0
        self._whole = ""
        """The path of names that is being visited."""

    def visit(self, node: Node) -> Type:
        self._depth += 1
        self.checked.depth = max(self.checked.depth, self._depth)
        found = self._visit(node)
        self._depth -= 1
        self.checked.types[id(node)] = found
        if is_open(found) and is_open(self.unifier.resolved(found)):
            self.checked.open.add(id(node))
        return found

    def _visit(self, node: Node) -> Type:  # noqa: C901  (a kind of node, a line)
        match node:
            case Literal(value=value):
                self.checked.is_loose |= value is None
                return _LITERALS[type(value)]
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call(function="_?._", args=[operand, Literal(value=field_) as literal]):
                self.visit(literal)
                return self.unifier.resolved(self._field(node, operand, field_, optional=True))
            case Call():
                return self._call(node)
            case ListLiteral() | MapLiteral():
                if not self._formats:
                    self.literals.append(node)
                return self._list(node) if isinstance(node, ListLiteral) else self._map(node)
            case Struct():
                raise Fault(f"{node.name} is no type whose values can be written", node.at)
        return self._fold(node)

    # Names

    def _ident(self, node: Ident) -> Type:
        node.name = node.name.removeprefix(".")
        found = self._declared(node.name)
        if found is None:
            raise explain.undeclared(node.name, node.at, self._names(), self._whole)
        return found

    def _declared(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        if name in self.environment.variables:
            return self.environment.variables[name]
        return types.type_of(self.environment.type_names[name]) if name in self.environment.type_names else None

    def _names(self) -> Iterator[str]:
        for scope in self._scopes:
            yield from (n for n in scope if n[0] not in "@#")
        yield from self.environment.variables

    def _select(self, node: Select) -> Type:
        name = None if node.is_test else qualified(node)
        declared = self._declared(name) if name else None
        if declared is not None:
            return declared
        self._whole = self._whole or name or ""
        found = self._field(node, node.operand, node.field, optional=False)
        self._whole = ""
        return types.BOOL if node.is_test else self.unifier.resolved(found)

    def _field(self, node: Select | Call, operand: Node, field_: str, *, optional: bool) -> Type:
        target, is_optional = content_of(self.unifier.resolved(self.visit(operand)))
        found = self._field_of(node, target, field_)
        return types.optional_of(found) if is_optional or optional else found

    def _field_of(self, node: Select | Call, target: Type, field_: str) -> Type:
        if target.kind == "map":
            return target.params[1]
        if target.kind == "struct":
            fields = self.environment.objects[target.name]
            if field_ not in fields:
                raise explain.no_field(field_, node.at, fields)
            return fields[field_]
        if target.kind == "param":
            self.unifier.assignable([types.DYN], [target])
        elif not types.is_dyn_or_error(target):
            raise explain.no_fields(target, field_, node.at, self.environment)
        return types.DYN

    # Calls

    def _call(self, node: Call) -> Type:
        self._formats += node.function == "format"
        found = self._called(node)
        self._formats -= node.function == "format"
        return found

    def _called(self, node: Call) -> Type:
        wrong = None if node.function in self.environment.functions else explain.wrong_count(node)
        if wrong is not None:
            raise wrong
        arguments = [self.visit(a) for a in node.args]
        node.function = node.function.removeprefix(".")
        if node.target is None:
            return self._resolved(node, arguments)
        prefix = qualified(node.target)
        if prefix and f"{prefix}.{node.function}" in self.environment.functions:
            node.function, node.target = f"{prefix}.{node.function}", None
            return self._resolved(node, arguments)
        wrong = explain.misnamed(prefix, node, self.environment) if prefix and self._declared(prefix) is None else None
        if wrong is not None:
            raise wrong
        return self._resolved(node, [self.visit(node.target), *arguments])

    def _resolved(self, node: Call, arguments: list[Type]) -> Type:
        if node.function in self.environment.refused:
            raise explain.not_supported(node, self.environment.name)
        overloads = self.environment.functions.get(node.function)
        if overloads is None:
            raise explain.unknown_function(node, arguments, self.environment)
        if node.function in ("_&&_", "_||_"):
            return self._logical(node, arguments, overloads)
        fitting = []
        result: Type | None = None
        for overload in self.environment.called(node.function, len(arguments), is_method=node.target is not None):
            returned = self._returned(overload, arguments)
            if returned is not None:
                fitting.append(overload)
                self._note(node, overload)
                result = either(result, returned)
        if result is None:
            known = [self.unifier.resolved(a, final=True) for a in arguments]
            raise explain.no_overload(node, known, overloads, self.environment)
        self.checked.overloads[id(node)] = tuple(fitting)
        self.checked.is_loose |= is_open(result) and any(map(types.has_dyn, arguments))
        return result

    def _note(self, node: Call, overload: Overload) -> None:
        self.checked.is_growing |= overload.is_growing
        self.checked.reads_state |= overload.reads_state
        if overload.is_underestimated is not None:
            self.checked.is_underestimated |= overload.is_underestimated(node.args)

    def _returned(self, overload: Overload, arguments: list[Type]) -> Type | None:
        """The result of an overload that fits; None where it does not."""
        if not overload.is_general:
            return overload.result if self.unifier.assignable(arguments, overload.params) else None
        returned, *params = self.unifier.instance((overload.result, *overload.params))
        return self.unifier.resolved(returned) if self.unifier.assignable(arguments, params) else None

    def _logical(self, node: Call, arguments: list[Type], overloads: tuple[Overload, ...]) -> Type:
        for argument, type_ in zip(node.args, arguments, strict=True):
            if not self.unifier.assignable([type_], [types.BOOL]):
                operator = node.function.strip("_")
                raise Fault(f"{operator} wants a bool on both sides, and this is {explain.a(type_)}", argument.at)
        self.checked.overloads[id(node)] = overloads
        return types.BOOL

    # Literals

    def _list(self, node: ListLiteral) -> Type:
        item: Type | None = None
        for i, element in enumerate(node.items):
            found = self.visit(element)
            if i in node.optional:
                found = self._content(element, found)
            item = self._joined(item, found)
        return types.list_of(self.unifier.variable() if item is None else item)

    def _map(self, node: MapLiteral) -> Type:
        key: Type | None = None
        value: Type | None = None
        for k, v, optional in node.entries:
            key = self._joined(key, self.visit(k))
            found = self.visit(v)
            value = self._joined(value, self._content(v, found) if optional else found)
        if key is None or value is None:
            return types.map_of(self.unifier.variable(), self.unifier.variable())
        self.checked.has_own_keys |= key.kind not in types.KEYS
        return types.map_of(key, value)

    def _content(self, node: Node, type_: Type) -> Type:
        content, is_optional = content_of(type_)
        if not is_optional and not is_dyn(content):
            raise Fault(f"an entry with ? wants an optional value, and this is {explain.a(type_)}", node.at)
        return content

    def _joined(self, before: Type | None, found: Type) -> Type:
        if before is None:
            return found
        return most_general(before, found) if self.unifier.assignable([before], [found]) else types.DYN

    # Loops

    def _fold(self, node: Fold) -> Type:
        self.checked.has_loops = True
        range_ = self.visit(node.range_)
        accumulated = self.visit(node.init)
        self._scopes.append({node.accumulator: accumulated})
        self._scopes.append(self._variables(node, self.unifier.resolved(range_)))
        self._want(node.condition, self.visit(node.condition), types.BOOL, node)
        self._want(node.step, self.visit(node.step), accumulated, node)
        self._scopes.pop()
        result = self.visit(node.result)
        self._scopes.pop()
        return self.unifier.resolved(result)

    def _variables(self, node: Fold, range_: Type) -> dict[str, Type]:
        first: Type
        second: Type
        match range_.kind:
            case "list":
                first, second = (types.INT, range_.params[0]) if node.second else (range_.params[0], types.DYN)
            case "map":
                first, second = range_.params
            case "dyn" | "any" | "error" | "param":
                if range_.kind == "any":
                    raise Fault(f"{node.macro}() wants a list or a map, and this is an attribute value", node.at)
                self.unifier.assignable([types.DYN], [range_])
                first = second = types.DYN
            case _:
                raise Fault(f"{node.macro}() wants a list or a map, and this is {explain.a(range_)}", node.at)
        return {node.variable: first, **({node.second: second} if node.second else {})}

    def _want(self, node: Node, found: Type, wanted: Type, fold: Fold) -> None:
        if not self.unifier.assignable([wanted], [found]):
            one = self.unifier.resolved(wanted, final=True)
            raise Fault(f"{fold.macro}() wants {explain.a(one)} here, and this is {explain.a(found)}", node.at)
