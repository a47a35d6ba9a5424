"""Our answer to a case, in the words of the vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import cel

DEVIATIONS: Mapping[str, str] = {}
"""Where we differ from Kubernetes on purpose: what the expression holds, and why. Each is a compile error here."""


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


def device(published: Mapping[str, Any]) -> cel.Device:
    """A device as a ResourceSlice spells it."""
    return cel.Device(
        driver=published["driver"],
        attributes=tuple((name, _value(given)) for name, given in published.get("attributes", {}).items()),
        capacity=tuple((name, amount["value"]) for name, amount in published.get("capacity", {}).items()),
        allow_multiple_allocations=published.get("allowMultipleAllocations", False),
    )


def _value(given: Mapping[str, Any]) -> Any:
    ((kind, value),) = given.items()
    return cel.Version(value) if kind == "version" else value
