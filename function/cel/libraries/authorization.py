"""Authorization checks. They are declared for every expression, but only admission policies have an authorizer.

Source: k8s.io/apiserver v0.36, pkg/cel/library (authz.go, cost.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from function.cel.language.declarations.cost import (
    LIST,
    TRAVERSAL,
    UNIT,
    Argument,
    Cost,
    Estimate,
    by_function,
    size_of,
)
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Overload, method
from function.cel.language.declarations.ranges import Range, exactly
from function.cel.language.errors import Failure
from function.cel.language.values.opaque import OpaqueType

_CHECK = 350_000
"""The cost of an authorization."""
_REQUIREMENT, _REQUIREMENTS = 50, 0.5
"""The cost of a requirement of a selector of labels or fields, and how many of them a character may be."""


def _unauthorized(*_: Any) -> Any:
    raise Failure("there is nothing here to authorize")


def _selector_cost(length: Range) -> Range:
    return exactly(LIST) + length.scaled(TRAVERSAL) + length.scaled(_REQUIREMENTS).scaled(_REQUIREMENT)


def _selector_estimate(_: Argument | None, args: Sequence[Argument]) -> Estimate | None:
    return Estimate(_selector_cost(args[0].known_size)) if len(args) == 1 else None


def _selector_charge(values: Sequence[Any], _: Any) -> int:
    return _selector_cost(exactly(size_of(values[1]))).most


_AUTHORIZATION = by_function(lambda _, __: Estimate(exactly(_CHECK)), lambda _, __: _CHECK)
_SELECTOR = by_function(_selector_estimate, _selector_charge)


def _method(declaration: str, cost: Cost = UNIT) -> Overload:
    return method(declaration, _unauthorized, cost)


LIBRARY = Library(
    name="authorization",
    is_suggested=False,
    types=tuple(map(OpaqueType, ("authorizer", "pathcheck", "groupcheck", "resourcecheck", "decision"))),
    overloads=(
        _method("authorizer_path: authorizer.path(string) -> pathcheck"),
        _method("authorizer_group: authorizer.group(string) -> groupcheck"),
        _method("authorizer_serviceaccount: authorizer.serviceAccount(string, string) -> authorizer"),
        _method("groupcheck_resource: groupcheck.resource(string) -> resourcecheck"),
        _method("resourcecheck_subresource: resourcecheck.subresource(string) -> resourcecheck"),
        _method("resourcecheck_namespace: resourcecheck.namespace(string) -> resourcecheck"),
        _method("resourcecheck_name: resourcecheck.name(string) -> resourcecheck"),
        _method("pathcheck_check: pathcheck.check(string) -> decision", _AUTHORIZATION),
        _method("resourcecheck_check: resourcecheck.check(string) -> decision", _AUTHORIZATION),
        _method("decision_errored: decision.errored() -> bool"),
        _method("decision_error: decision.error() -> string"),
        _method("decision_allowed: decision.allowed() -> bool"),
        _method("decision_reason: decision.reason() -> string"),
        _method("authorizer_fieldselector: resourcecheck.fieldSelector(string) -> resourcecheck", _SELECTOR),
        _method("authorizer_labelselector: resourcecheck.labelSelector(string) -> resourcecheck", _SELECTOR),
    ),
)
