"""The compiler: from a checked tree to a program, which is a function of a frame.

Terms:

- A *frame* is a list with the values of the variables, each at its place: first those of the environment, then those
  of the macros, then what the compiler needs for itself.
- A *code* is how one node is evaluated; and its value, where that is the same for every frame.
- A *path* is a variable or another root with the fields and indexes that follow it. cel-go evaluates a path as one
  attribute, so an optional on the way stays open (`members.OptionalSelect`) until the path ends.

Phases, in the order of their calls:

1. `Compiler.code` visits the tree from the root and makes nested closures from the leaves up.
2. `_function` compiles a call: its arguments (`constant_args`), its implementation (`dispatch`), and what the overload
   makes of literal arguments (`Overload.prepare`).
3. `_folded` evaluates a call whose arguments are all constant. A conversion of a literal is evaluated by cel-go as well
   when it compiles, so a failure of that is a compile error. A failure of any other call is a warning.
4. `program` puts the bounds around the whole.

A variable that cel-go binds (`cel.bind`) is evaluated when it is first read. `MeteredCompiler` overrides the methods
without an underscore. Coarse on purpose: only calls, lists and maps are folded, as in cel-go.

Source of what is evaluated when compiled, and so fails then: github.com/google/cel-go v0.26, interpreter/decorators.go.
"""

from __future__ import annotations

from collections.abc import Callable

from function.cel.language.checking.checked import Checked
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.overload import Implementation
from function.cel.language.errors import Abort, Failure, Fault
from function.cel.language.limits import SHALLOW_LEVELS
from function.cel.language.limits.recursion_limit import with_raised_limit
from function.cel.language.limits.step_budget import with_budget
from function.cel.language.program import calls, logic, loops, members
from function.cel.language.program.aggregates import list_code, map_code
from function.cel.language.program.calls import alternative, terms
from function.cel.language.program.code import Code, Frame, Run, constant, located
from function.cel.language.program.constant_args import check_key, literals, with_required
from function.cel.language.program.dispatch import implementation
from function.cel.language.program.membership import member_of
from function.cel.language.syntax.tree import (
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
from function.cel.language.values.kinds import TypeValue
from function.cel.language.values.opaque import is_mutable


class Compiler:
    """Compiles one tree."""

    folds = True
    """Whether calls of constants are evaluated when compiled."""

    def __init__(self, checked: Checked, environment: Environment) -> None:
        self.checked, self.environment = checked, environment
        self.folds = self.folds and not checked.has_own_keys
        self.places = {name: i for i, name in enumerate(environment.variables)}
        self._scopes: list[dict[str, Run]] = []
        self.width = len(self.places)
        self.failing: list[Failure] = []
        """Warnings about calls that fail for any variables. Kubernetes compiles such calls."""

    def empty(self, cost_limit: int) -> Frame:  # noqa: ARG002  (for a metered program)
        """A frame in which no variable has a value."""
        return [None] * self.width

    def code(self, node: Node) -> Code:
        """Compile a node. Raises Fault if it does not compile."""
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
                return list_code([self.code(item) for item in node.items], node.optional, node.at)
            case MapLiteral():
                return map_code([(self.code(k), self.code(v), optional) for k, v, optional in node.entries], node.at)
            case Fold():
                return Code(self._fold(node))
        raise AssertionError(node)

    def run(self, node: Node) -> Run:
        """Compile a node for a caller that does not care whether it is constant."""
        return self.code(node).run

    def _own(self, code: Code) -> Code:
        """The value of a path, as another object each time, where that can be told."""
        return Code(members.fresh_map(code.run)) if self.checked.has_own_keys and not code.is_constant else code

    # Names and members

    def _named(self, node: Ident) -> Code:
        """A variable, or a type's name. cel-go takes any variable that holds a type for a type's name."""
        kind = self.checked.type(node).kind
        if kind != "type":
            return self._reread(self._ident(node.name), node)
        if node.name not in self.environment.type_names:
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
        if name is not None and name in self.environment.type_names:
            return self._ident(name)
        if node.is_test:
            return Code(located(self._tested(node), node.at))
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
        """A path up to a node. `ends`: the path goes no further."""
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
            return located(read, node.at)
        return located(self.step(target, lambda value: members.field_of(value, key.run)), node.at)

    def _operand(self, node: Node) -> Run:
        """A node that something is read from: a path goes on, and anything else is the root of one."""
        match node:
            case Select(is_test=False) if qualified(node) not in self.environment.type_names:
                return self._step(node)
            case Call(function="_[_]" | "_[?_]" | "_?._"):
                return self._step(node)
            case Call(function="_?_:_", args=[condition, yes, no]):
                return logic.conditional(self.run(condition), self._operand(yes), self._operand(no), node.at)
        run = self.part(node).run
        return members.rooted(run) if self.checked.type(node).kind in members.MAYBE_OPTIONAL else run

    def part(self, node: Node) -> Code:
        """A node as a branch of a conditional, a root or a key: metered, these cost less."""
        return self.code(node)

    def step(self, target: Run, read: Callable[[Run], Run], *, is_optional: bool = False) -> Run:  # noqa: ARG002
        """One step of a path. `is_optional`: it may find nothing."""
        return read(target)

    def _fused(self, node: Node) -> Run | None:
        return members.path_of(node, self.checked, self._is_free) if self.folds else None

    def _is_free(self, name: str) -> int | None:
        """The place of a variable of the environment that no macro's variable hides."""
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
        fitting = self.checked.overloads[id(node)]
        codes = with_required(node.function, fitting, [self.code(n) for n in nodes])
        if node.function == "@in" and codes[1].is_literal and [o.id for o in fitting] == ["in_list"]:
            found = member_of(codes[0].run, codes[1].value)
            if found is not None:
                return found
        run, is_lazy = implementation(node, nodes, self.checked, self.environment), False
        prepare = fitting[0].prepare
        if prepare is not None:
            run, is_lazy = prepare(node, run, literals(codes), self.checked.type)
        early = len(codes) == 1 and codes[0].is_literal and any(o.is_conversion for o in fitting)
        if early or (self.folds and all(c.is_constant for c in codes)):
            return self._folded(node, run, codes, early=early, is_lazy=is_lazy)
        return Code(located(self.applied(node, run, codes, is_lazy=is_lazy), node.at))

    def applied(self, node: Call, run: Implementation, codes: list[Code], *, is_lazy: bool) -> Run:  # noqa: ARG002
        """A call with its arguments."""
        return calls.applied(run, codes)

    def _branch(self, node: Node) -> Run:
        """A branch of a conditional. There, cel-go leaves has() of an optional's field an optional."""
        if isinstance(node, Select) and node.is_test:
            return located(members.closed(self._tested(node, keeps_optional=True)), node.at)
        return self._reread(self.part(node), node).run

    def _reread(self, code: Code, node: Node) -> Code:
        """A variable or a branch: if it may be an optional, cel-go unpacks it and packs it again."""
        if self.checked.type(node).kind not in members.MAYBE_OPTIONAL:
            return code
        return Code(members.reread(code.run, anew=self.checked.has_own_keys))

    def _folded(self, node: Call, run: Implementation, codes: list[Code], *, early: bool, is_lazy: bool) -> Code:
        """A call of constants, evaluated now. `early`: cel-go evaluates it when it compiles, too."""
        try:
            value = run(*(c.value for c in codes))
            if not (self.checked.reads_state and is_mutable(value)):
                return constant(value, is_literal=early)
        except (Failure, Abort) as failure:
            if early:
                raise Fault(f"{node.function}() of this value fails: {failure}", node.at) from None
            self.failing.append(Failure(str(failure), node.at))
        return Code(located(self.applied(node, run, codes, is_lazy=is_lazy), node.at))

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
        return located(run, node.at)

    def _bound(self, node: Fold) -> Run:
        place = self._place()
        init = self.run(node.init)
        self._scopes.append({node.accumulator: loops.once(place, init)})
        self.code(node.step)
        run = loops.bound(place, self.run(node.result))
        self._scopes.pop()
        return run

    def _loop(self, node: Fold, through: loops.Entries) -> Run:
        condition, parts = loops.shape(node)
        filter_ = None if condition is None else self.run(condition)
        return self.loop(node, through, filter_, tuple(self.code(part) for part in parts))

    def loop(self, node: Fold, through: loops.Entries, filter_: Run | None, parts: tuple[Code, ...]) -> Run:
        """A loop, of parts that are compiled."""
        return loops.of(node.macro, through, filter_, tuple(part.run for part in parts))


def _reader(place: int) -> Run:
    return lambda frame: frame[place]


def program(compiler: Compiler, steps: int) -> Run:
    """The program of the whole tree, with a step budget and a raised recursion limit where it needs them."""
    checked = compiler.checked
    run = compiler.run(checked.root)
    if checked.has_loops or checked.is_growing:
        run = with_budget(run, steps)
    return with_raised_limit(run) if checked.depth > SHALLOW_LEVELS else run
