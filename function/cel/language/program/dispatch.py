"""Dispatch: which implementation evaluates a call, and what it checks first.

The checker may know the overload, know several, or infer types that values need not follow. Accordingly a call runs the
implementation of the one overload; or that behind a guard, which compares the values' types; or the first overload that
fits the values.

Coarse on purpose: a guard looks into a list or map only as far as its first entry, as Kubernetes does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.cel.language import operators
from function.cel.language.checking.checked import Checked
from function.cel.language.declarations.environment import Environment
from function.cel.language.declarations.overload import Implementation, Overload
from function.cel.language.declarations.types import BOOL, INT, STRING, UINT, Type
from function.cel.language.syntax.tree import Call, Node
from function.cel.language.values import opaque
from function.cel.language.values.kinds import Duration, Optional, Timestamp, Uint, keys_of
from function.cel.language.values.type_names import no_overload

_CLASSES: Mapping[str, type] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "timestamp": Timestamp,
    "duration": Duration,
    "list": list,
}


def implementation(node: Call, nodes: list[Node], checked: Checked, environment: Environment) -> Implementation:
    """Return the code that evaluates a call.

    Arguments: nodes: the target, if there is one, and the arguments.
    """
    is_known = not checked.is_loose and not any(id(n) in checked.open for n in nodes)
    types = [checked.type(n) for n in nodes] if is_known else []
    plain = types[0] if types and types == [types[0]] * 2 else None
    if node.function in operators.ORDERS and plain in (INT, STRING, UINT):
        return operators.ORDERS[node.function]
    if node.function in operators.EQUALS and plain in (INT, STRING, BOOL, UINT):
        return operators.EQUALS[node.function]
    fitting = checked.overloads[id(node)]
    if len(fitting) > 1:
        first = fitting[0]
        return first.run if first.is_universal else _guarded(environment.functions[node.function], node.function)
    [overload] = fitting
    if overload.params == tuple(types) or not overload.is_guarded:
        return overload.run
    return _guarded([overload], node.function)


def _guarded(overloads: Sequence[Overload], function: str) -> Implementation:
    choices = [(overload.params, overload.run) for overload in overloads]

    def call(*values: Any) -> Any:
        for params, run in choices:
            if len(params) == len(values) and all(map(conforms, params, values)):
                return run(*values)
        raise no_overload(function, *values)

    return call


def conforms(type_: Type, value: Any) -> bool:
    """Whether a value is of a type, as a guard sees it."""
    kind = type_.kind
    if kind == "opaque":
        return _opaque_conforms(type_, value)
    if kind == "map":
        return isinstance(value, dict) and _first_conforms(type_, value)
    if kind == "list":
        return isinstance(value, list) and (not value or conforms(type_.params[0], value[0]))
    expected = _CLASSES.get(kind)
    return expected is None or type(value) is expected


def _opaque_conforms(type_: Type, value: Any) -> bool:
    if type_.name == "optional":
        return type(value) is Optional and all(conforms(type_.params[0], content) for content in value.content)
    return type(value) is opaque.class_of(type_.name)


def _first_conforms(type_: Type, value: dict[Any, Any]) -> bool:
    if not value:
        return True
    key = next(keys_of(value))
    return conforms(type_.params[0], key) and conforms(type_.params[1], next(iter(value.values())))
