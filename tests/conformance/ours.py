"""Our answer to a case, in the words of the vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import cel

_MESSAGE = "a message is no value that a device has, and a selector cannot make use of one"

DEVIATIONS: Mapping[str, str] = {
    "google.protobuf.Int64Value{value: 1} == 1": _MESSAGE,
    "kubernetes.DRADevice{} == device": _MESSAGE,
    "google.protobuf.NullValue.NULL_VALUE == 0": _MESSAGE,
    f"optional.of(1){'.optMap(x, x)' * 9}.hasValue()": "each optMap copies what it is called on: 5,000 nodes",
    r'"a".matches("\\p{letter}")': "RE2 knows a class of Unicode by one name, Go since 1.25 by all that it has",
    f'"{"a" * 10_240}" == ""': "the API takes no text of more than 10,240 bytes, and so no scheduler is given one",
}
"""All that Kubernetes compiles and we do not, by an expression of each kind, and why."""

_SUM = "it builds 16 million characters at a price of 800 units"

BOUNDS: Mapping[str, str] = {
    "cel.bind(a, '" + "a" * 4000 + "', a.replace('', a).size() > 0)": _SUM,
    "cel.bind(u, '/" + "a" * 9000 + "', lists.range(900).all(x, isURL(u)))": "it reads 8 MB at a price of 7,000 units",
    'url("http://%ff/").getHost() != ""': "a part of a URL that is no UTF-8: strings are texts here",
    'quantity("1e999999").add(quantity("1")).isGreaterThan(quantity("0"))': "an amount of a million digits",
}
"""What Kubernetes evaluates and we end, as it ends what costs too much, mostly since it would hold the server."""


def answer(expression: str, published: Mapping[str, Any]) -> str:
    """match, nomatch, compile_error or runtime_error."""
    try:
        selector = cel.compiled(expression)
    except cel.InvalidSelector:
        return "compile_error"
    found = selector.evaluate(device(published))
    if isinstance(found, cel.EvaluationError):
        return "runtime_error"
    return "match" if found is cel.MATCH else "nomatch"


def most(expression: str) -> int:
    """What an evaluation costs at most."""
    return cel.compiled(expression).cost


def cost(expression: str, published: Mapping[str, Any]) -> int:
    """What an evaluation costs."""
    return cel.actual_cost(expression, device(published))


def device(published: Mapping[str, Any]) -> cel.Device:
    """A device as a ResourceSlice spells it."""
    return cel.Device(
        driver=published["driver"],
        attributes=tuple((name, cel.attribute(given)) for name, given in published.get("attributes", {}).items()),
        capacity=tuple((name, amount["value"]) for name, amount in published.get("capacity", {}).items()),
        allow_multiple_allocations=published.get("allowMultipleAllocations", False),
    )
