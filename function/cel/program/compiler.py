"""Checked trees to programs: nested functions, with what never changes worked out once.

Source of what is worked out early, and so fails early: github.com/google/cel-go v0.26, interpreter/decorators.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from function.cel.checking.checked import Checked
from function.cel.checking.types import TYPE_NAMES
from function.cel.functions import formatting
from function.cel.problem import Abort, Failure, Fault
from function.cel.program import calls, logic, loops, members
from function.cel.program.aggregates import filled, given
from function.cel.program.calls import alternative, chosen_for, terms
from function.cel.program.code import Code, Frame, Run, constant, placed
from function.cel.program.early import PATTERNS, check_key, check_pattern, named, priced
from function.cel.program.membership import member_of
from function.cel.syntax.tree import Call, Fold, Ident, ListLiteral, Literal, MapLiteral, Node, Select, qualified
from function.cel.values.kinds import TypeValue

_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
_FORMS = frozenset({"isInteger", "asInteger", "asApproximateFloat", "add", "sub"})


class Compiler:
    """Of one tree. Each variable has a place of its own in the frame."""

    folds = True
    """Whether what is constant, and no literal, is worked out early as well."""

    def __init__(self, checked: Checked, variables: Mapping[str, Any]) -> None:
        self.checked = checked
        self.renews = not _FORMS.isdisjoint(checked.functions)
        """Whether it can tell forms of a quantity apart, or change one: then each evaluation has amounts of its own."""
        self.folds = self.folds and not checked.has_own_keys
        self.places = {name: i for i, name in enumerate(variables)}
        self._scopes: list[dict[str, Run]] = []
        self.width = len(self.places)
        self.failing: list[Failure] = []
        """Calls that are the same for every device, and fail. Kubernetes compiles them."""

    def empty(self, limit: int) -> Frame:  # noqa: ARG002  (for who counts)
        """A frame in which no variable has a value."""
        return [None] * self.width

    def code(self, node: Node) -> Code:
        match node:
            case Literal(value=value):
                return constant(value)
            case Ident():
                return self._named(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Fold():
                return Code(self._fold(node))
        raise AssertionError(node)

    def run(self, node: Node) -> Run:
        return self.code(node).run

    def _own(self, code: Code) -> Code:
        """Of a path."""
        return Code(members.taken(code.run)) if self.checked.has_own_keys and not code.is_constant else code

    # Names and members

    def _named(self, node: Ident) -> Code:
        """A variable that holds a type is taken for the name of one, and so is only what a type is named."""
        kind = self.checked.type(node).kind
        if kind != "type":
            return self._reread(self._ident(node.name), node)
        if node.name not in TYPE_NAMES:
            raise Fault(
                f"{node.name} holds a type, and Kubernetes takes it for a type's name, which it is not", node.at
            )
        return constant(TypeValue(node.name))

    def _ident(self, name: str) -> Code:
        for scope in reversed(self._scopes):
            if name in scope:
                return Code(scope[name])
        if name in self.places:
            return self._own(Code(_reader(self.places[name])))
        return constant(TypeValue(name))

    def _select(self, node: Select) -> Code:
        name = None if node.is_test else qualified(node)
        if name in TYPE_NAMES:
            return self._ident(name)
        if node.is_test:
            return Code(placed(self._tested(node), node.at))
        return self._path(node)

    def _tested(self, node: Select, *, keeps_optional: bool = False) -> Run:
        operand = self._operand(node.operand)
        return self.step(operand, lambda target: members.presence(target, node.field, keeps_optional=keeps_optional))

    def _path(self, node: Node) -> Code:
        run = self._step(node, ends=True)
        is_closed = isinstance(node, Call) and node.function != "_[_]"
        if not is_closed and members.may_find_nothing(node, self.checked):
            run = members.closed(run)
        return self._own(Code(run))

    def _step(self, node: Node, *, ends: bool = False) -> Run:
        """Of a path, so far or all of it."""
        fused = self._fused(node)
        if fused is not None:
            return fused
        if isinstance(node, Select):
            target, key = self._operand(node.operand), constant(node.field)
        else:
            assert isinstance(node, Call)
            target, key = self._operand(node.args[0]), self.part(node.args[1])
            check_key(key, node.args[1])
        if isinstance(node, Call) and node.function != "_[_]":
            read = self.step(target, lambda value: members.optional_field(value, key.run, ends=ends), is_optional=True)
            return placed(read, node.at)
        return placed(self.step(target, lambda value: members.field_of(value, key.run)), node.at)

    def _operand(self, node: Node) -> Run:
        """As what something is read from: a path goes on, and whatever else is its root."""
        match node:
            case Select(is_test=False) if qualified(node) not in TYPE_NAMES:
                return self._step(node)
            case Call(function="_[_]" | "_[?_]" | "_?._"):
                return self._step(node)
            case Call(function="_?_:_", args=[condition, yes, no]):
                return logic.conditional(self.run(condition), self._operand(yes), self._operand(no), node.at)
        run = self.part(node).run
        return members.rooted(run) if self.checked.type(node).kind in members.MAYBE_OPTIONAL else run

    def part(self, node: Node) -> Code:
        """As a branch, or as what is read from or by."""
        return self.code(node)

    def step(self, target: Run, read: Callable[[Run], Run], *, is_optional: bool = False) -> Run:  # noqa: ARG002
        """Of a path. Whether it may find nothing matters to who counts."""
        return read(target)

    def _fused(self, node: Node) -> Run | None:
        return members.path_of(node, self.checked, self._is_free) if self.folds else None

    def _is_free(self, name: str) -> int | None:
        """The place of a variable of the environment that nothing hides."""
        return None if any(name in scope for scope in self._scopes) else self.places.get(name)

    # Calls

    def _call(self, node: Call) -> Code:
        match node.function:
            case "_&&_":
                return Code(logic.all_of([self.run(t) for t in terms(node)], node.at))
            case "_||_":
                return Code(logic.any_of([self.run(t) for t in terms(node)], node.at))
            case "_?_:_":
                condition, yes, no = node.args
                return Code(logic.conditional(self.run(condition), self._branch(yes), self._branch(no), node.at))
            case "_[_]" | "_?._" | "_[?_]":
                return self._path(node)
            case "or" | "orValue" if node.target is not None:
                return Code(alternative(self.run(node.target), self.run(node.args[0]), node.function))
        return self._function(node)

    def _function(self, node: Call) -> Code:
        nodes = node.args if node.target is None else [node.target, *node.args]
        codes = priced(node.function, self._overloads(node), [self.code(n) for n in nodes])
        check_pattern(node, codes)
        if node.function == "format" and node.target is not None:
            formatting.check(node.target, node.args[0], self.checked)
        if node.function == "@in" and self._overloads(node) == ("in_list",) and codes[1].is_literal:
            found = member_of(codes[0].run, codes[1].value)
            if found is not None:
                return found
        implementation = chosen_for(node, nodes, self.checked)
        if node.function in PATTERNS and codes[1].is_literal:
            implementation = named(implementation)
        early = node.function in _CONVERSIONS and len(codes) == 1 and codes[0].is_literal
        if early or (self.folds and all(c.is_constant for c in codes)):
            return self._folded(node, implementation, codes, early=early)
        return Code(placed(self.applied(node, implementation, codes), node.at))

    def applied(self, node: Call, implementation: Any, codes: list[Code]) -> Run:  # noqa: ARG002  (for who counts)
        return calls.applied(implementation, codes)

    def _branch(self, node: Node) -> Run:
        """Of a conditional. There, Kubernetes leaves has() of an optional's field an optional."""
        if isinstance(node, Select) and node.is_test:
            return placed(members.closed(self._tested(node, keeps_optional=True)), node.at)
        return self._reread(self.part(node), node).run

    def _reread(self, code: Code, node: Node) -> Code:
        """A variable or a branch, which may be an optional."""
        if self.checked.type(node).kind not in members.MAYBE_OPTIONAL:
            return code
        return Code(members.reread(code.run, anew=self.checked.has_own_keys))

    def _overloads(self, node: Call) -> tuple[str, ...]:
        return tuple(o.id for o in self.checked.overloads[id(node)])

    def _folded(self, node: Call, implementation: Any, codes: list[Code], *, early: bool) -> Code:
        try:
            value = implementation(*(c.value for c in codes))
            if not (self.renews and node.function == "quantity"):
                return constant(value, is_literal=early)
        except (Failure, Abort) as failure:
            if early:
                raise Fault(f"{node.function}() of this value fails: {failure}", node.at) from None
            self.failing.append(Failure(str(failure), node.at))
        return Code(placed(self.applied(node, implementation, codes), node.at))

    # Literals

    def _list(self, node: ListLiteral) -> Code:
        codes = [self.code(item) for item in node.items]
        if not node.optional and all(c.is_constant for c in codes):
            values = [c.value for c in codes]
            return constant(values, is_literal=all(c.is_literal for c in codes))
        if not node.optional:
            runs = [c.run for c in codes]
            return Code(lambda frame: [run(frame) for run in runs])
        parts = [(c.run, i in node.optional) for i, c in enumerate(codes)]
        return Code(placed(lambda frame: [v for run, optional in parts for v in given(run(frame), optional)], node.at))

    def _map(self, node: MapLiteral) -> Code:
        codes = [(self.code(k), self.code(v), optional) for k, v, optional in node.entries]
        parts = [(k.run, v.run, optional) for k, v, optional in codes]
        run = placed(lambda frame: filled(parts, frame), node.at)
        flat = [c for k, v, _ in codes for c in (k, v)]
        if any(optional for *_, optional in parts) or not all(c.is_constant for c in flat):
            return Code(run)
        literal = all(c.is_literal for c in flat)
        try:
            return constant(run([]), is_literal=literal)
        except Abort as abort:
            if literal:
                raise Fault(str(abort), node.at) from None
            return Code(run)

    # Loops

    def _place(self) -> int:
        self.width += 1
        return self.width - 1

    def _fold(self, node: Fold) -> Run:
        if node.macro in ("bind", "optMap", "optFlatMap", "sortBy"):
            return self._bound(node)
        range_ = self.run(node.range_)
        first, second = self._place(), self._place() if node.second else None
        through = loops.entries(range_, first, second)
        scope = {node.variable: _reader(first)}
        if node.second and second is not None:
            scope[node.second] = _reader(second)
        self._scopes.append(scope)
        run = self._loop(node, through)
        self._scopes.pop()
        return placed(run, node.at)

    def _bound(self, node: Fold) -> Run:
        place = self._place()
        init = self.run(node.init)
        self._scopes.append({node.accumulator: loops.once(place, init)})
        self.code(node.step)
        run = loops.bound(place, self.run(node.result))
        self._scopes.pop()
        return run

    def _loop(self, node: Fold, through: loops.Entries) -> Run:
        step, filter_ = node.step, None
        assert isinstance(step, Call)
        if node.macro in ("all", "exists"):
            return self.loop(node, through, None, (self.code(step.args[1]),))
        if node.macro == "exists_one":
            return self.loop(node, through, None, (self.code(step.args[0]),))
        if step.function == "_?_:_":
            filter_, step = self.run(step.args[0]), step.args[1]
        assert isinstance(step, Call)
        if step.function == "cel.@mapInsert":
            return self.loop(node, through, filter_, tuple(self.code(a) for a in step.args[1:]))
        [more] = step.args[1:]
        assert isinstance(more, ListLiteral)
        return self.loop(node, through, filter_, (self.code(more.items[0]),))

    def loop(self, node: Fold, through: loops.Entries, filter_: Run | None, parts: tuple[Code, ...]) -> Run:
        return loops.of(node.macro, through, filter_, tuple(part.run for part in parts))


def _reader(place: int) -> Run:
    return lambda frame: frame[place]
