"""Overloads: the ways to call a function, each with its types, its implementation and its price in one declaration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from function.cel.language.declarations import types
from function.cel.language.declarations.cost import Cost
from function.cel.language.declarations.types import Type
from function.cel.language.syntax.tree import Call, Node

Implementation: TypeAlias = Callable[..., Any]
"""Takes the values of the arguments, the target of a method first, and returns the result."""

NOT_LITERAL: Any = object()
"""In place of an argument whose value is known only when the expression is evaluated."""


class Prepared(NamedTuple):
    """The implementation of one call, specialized to its literal arguments."""

    run: Implementation
    is_lazy: bool
    """Whether evaluation stops at the first argument that fails, so that the others cost nothing. Otherwise one or two
    arguments are all evaluated."""


class Prepare(Protocol):
    """A look at a call's literal arguments when the expression is compiled, as cel-go's decorators take it."""

    def __call__(
        self, call: Call, run: Implementation, values: Sequence[Any], type_of: Callable[[Node], Type]
    ) -> Prepared:
        """Called once for each call of the function.

        Arguments:
            call: the node, for the places of its arguments.
            run: the implementation that evaluates it, with its guards.
            values: of the arguments, the target first; NOT_LITERAL where one is not written out.
            type_of: the checked type of any node below the call.

        Raises: Fault where the literals are wrong: the expression does not compile then.
        """
        ...


class Required(NamedTuple):
    """An argument that Kubernetes' own price function reads unchecked: anything else ends the evaluation."""

    position: int
    kind: type


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """One way to call a function. Make it with `function` or `method`, which read its signature."""

    id: str
    """As Kubernetes names it; unique in an environment."""
    function: str
    is_method: bool
    params: tuple[Type, ...]
    """A method's first parameter is its target."""
    result: Type
    run: Implementation
    """Called for each evaluation of the call; and once when it is compiled, where all arguments are constant. It must
    not change its arguments, unless the type says so (`OpaqueType.is_mutable`). Where the work or the result can be
    much larger than the cost says, it takes steps from the budget first (`limits.step_budget`).

    Raises: Failure, which `&&`, `||` and loops may absorb; Abort, which nothing absorbs. Nothing else is caught."""
    cost: Cost
    is_guarded: bool = True
    """Whether the types of arguments are compared with `params` before `run` is called, where the checker does not know
    them. If not, `run` takes any values and raises the failures itself."""
    is_universal: bool = False
    """Whether `run` works for all overloads of the function. If not, a call that several overloads fit is dispatched by
    the values' types."""
    is_conversion: bool = False
    """Whether a call with a literal is evaluated when compiled, and a failure of that is a compile error."""
    is_growing: bool = False
    """Whether the result can be longer than the expression's text: evaluations then have a step budget."""
    reads_state: bool = False
    """Whether it can tell apart equal values that are spelled differently, or changes one: then each evaluation gets
    values of its own."""
    prepare: Prepare | None = None
    """Prepares an implementation for literal arguments, if it can."""
    required: Required | None = None
    """The argument that must be of a class, if any, for Kubernetes not to panic."""
    is_underestimated: Callable[[Sequence[Node]], bool] | None = None
    """From the nodes of the arguments: whether the actual cost may exceed the estimate, so that every evaluation is
    metered. Called when the expression is checked."""
    is_general: bool = field(init=False)
    """Whether its types have parameters of their own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_general", any(map(types.is_open, (self.result, *self.params))))


def function(declaration: str, run: Implementation, cost: Cost, **options: Any) -> Overload:
    """An overload of a function, whose name may have dots.

    Arguments:
        declaration: identity and signature, as in `string_to_ip: ip(string) -> ip`.
        options: further fields of `Overload`.
    """
    id_, name, params, result = _parts(declaration)
    return Overload(id_, name, False, params, result, run, cost, **options)  # noqa: FBT003  (is_method)


def method(declaration: str, run: Implementation, cost: Cost, **options: Any) -> Overload:
    """An overload of a method. Arguments as for `function`; the signature begins with the type of the target, as in
    `ip_family: ip.family() -> int`.
    """
    id_, name, params, result = _parts(declaration)
    target, _, name = name.rpartition(".")
    return Overload(id_, name, True, (types.parse(target), *params), result, run, cost, **options)  # noqa: FBT003


def special_form(*_: Any) -> Any:
    """In place of an implementation: the compiler evaluates such calls itself, since not all arguments always are."""
    raise AssertionError("a special form is not called")


def _parts(declaration: str) -> tuple[str, str, tuple[Type, ...], Type]:
    """Identity, name with its prefix, parameters, result."""
    id_, _, signature = declaration.partition(": ")
    call, _, result = signature.rpartition(" -> ")
    opening = _opening(call)
    return id_, call[:opening], tuple(map(types.parse, types.split(call[opening + 1 : -1]))), types.parse(result)


def _opening(call: str) -> int:
    """Return the position of the parenthesis that the last character closes."""
    depth = 0
    for i in range(len(call) - 1, -1, -1):
        depth += (call[i] == ")") - (call[i] == "(")
        if not depth:
            return i
    raise AssertionError(call)
