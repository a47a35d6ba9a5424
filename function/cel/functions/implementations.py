"""The implementations of the functions, and what each accepts when types are known only at evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from function.cel.checking.libraries import AUTHORIZATION, ids
from function.cel.checking.overloads import Overload
from function.cel.checking.types import Type
from function.cel.functions import conversions, formatting, kubernetes, lists, network, patterns, strings, times
from function.cel.problem import Failure
from function.cel.values.addresses import Cidr, Ip
from function.cel.values.containers import size
from function.cel.values.formats import Format
from function.cel.values.kinds import Duration, Optional, Timestamp, Uint, keys_of
from function.cel.values.naming import no_overload
from function.cel.values.quantity import Quantity
from function.cel.values.semver import Semver
from function.cel.values.urls import Url

Function: TypeAlias = Callable[..., Any]


class Nothing:
    """What there is no value of."""


_CLASSES: Mapping[str, type] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "timestamp": Timestamp,
    "duration": Duration,
    "quantity": Quantity,
    "semver": Semver,
    "optional": Optional,
    "list": list,
    "url": Url,
    "ip": Ip,
    "cidr": Cidr,
    "format": Format,
    **dict.fromkeys(("authorizer", "pathcheck", "groupcheck", "resourcecheck", "decision"), Nothing),
}
_UNGUARDED = ("contains", "startsWith", "endsWith", "matches", "flatten", "sort", "@sortByAssociatedKeys")
"""They judge their arguments themselves."""


def _unauthorized(*_: Any) -> Any:
    raise Failure("there is nothing here to authorize")


@cache
def implementations() -> Mapping[str, Function]:
    """By overload."""
    return {
        **conversions.FUNCTIONS,
        **times.FUNCTIONS,
        **strings.FUNCTIONS,
        **formatting.FUNCTIONS,
        **patterns.FUNCTIONS,
        **lists.FUNCTIONS,
        **kubernetes.FUNCTIONS,
        **network.FUNCTIONS,
        **dict.fromkeys(ids(AUTHORIZATION), _unauthorized),
        **dict.fromkeys(
            (
                "size_bytes",
                "bytes_size",
                "size_list",
                "list_size",
                "size_map",
                "map_size",
                "size_string",
                "string_size",
            ),
            size,
        ),
    }


def chosen(function: str, fitting: Sequence[Overload], declared: Sequence[Overload], types: Sequence[Type]) -> Function:
    """What a call runs: of one overload that, guarded where a type is open; of several, the first that fits."""
    known = implementations()
    if len(fitting) == 1:
        [overload] = fitting
        if overload.params == tuple(types) or function in _UNGUARDED:
            return known[overload.id]
        return _first([overload], function)
    return _first(declared, function) if function not in ("size", "matches") else known[fitting[0].id]


def _first(overloads: Sequence[Overload], function: str) -> Function:
    known = implementations()
    choices = [(o.params, known[o.id]) for o in overloads if o.id in known]

    def call(*values: Any) -> Any:
        for params, run in choices:
            if len(params) == len(values) and all(map(conforms, params, values)):
                return run(*values)
        raise no_overload(function, *values)

    return call


def conforms(type_: Type, value: Any) -> bool:
    """As a call looks at a value: into a list or map as far as its first entry."""
    kind = type_.name if type_.kind == "opaque" else type_.kind
    if kind == "map":
        return isinstance(value, dict) and _first_conforms(type_, value)
    expected = _CLASSES.get(kind)
    if expected is list:
        return isinstance(value, list) and _content_conforms(type_, kind, value)
    if expected is None or type(value) is not expected:
        return expected is None
    return _content_conforms(type_, kind, value)


def _content_conforms(type_: Type, kind: str, value: Any) -> bool:
    if kind == "list":
        return not value or conforms(type_.params[0], value[0])
    return kind != "optional" or all(conforms(type_.params[0], content) for content in value.content)


def _first_conforms(type_: Type, value: dict[Any, Any]) -> bool:
    if not value:
        return True
    key = next(keys_of(value))
    return conforms(type_.params[0], key) and conforms(type_.params[1], next(iter(value.values())))
