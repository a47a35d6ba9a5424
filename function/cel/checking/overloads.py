"""The ways to call a function, and how their signatures are written."""

from __future__ import annotations

from dataclasses import dataclass, field

from function.cel.checking import types
from function.cel.checking.libraries import STATIC
from function.cel.checking.types import Type

_NAMESPACES = ("optional", "sets", "lists", "strings", "cel")


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function. A method's first parameter is its target."""

    id: str
    function: str
    is_method: bool
    params: tuple[Type, ...]
    result: Type
    is_general: bool = field(init=False, compare=False)
    """Whether its types have parameters of their own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_general", any(map(types.is_open, (self.result, *self.params))))


def read(line: str) -> Overload:
    """From `identity: signature`."""
    id_, _, signature = line.partition(": ")
    call, _, result = signature.rpartition(" -> ")
    opening = _opening(call)
    head, args = call[:opening], call[opening + 1 : -1]
    target, _, function = head.rpartition(".")
    is_static = target in _NAMESPACES or head in STATIC or head.startswith(("_", "@"))
    is_method = bool(target) and not is_static
    params = tuple(map(types.read, types.split(args)))
    if is_method:
        return Overload(id_, function, is_method, (types.read(target), *params), types.read(result))
    return Overload(id_, head, is_method, params, types.read(result))


def _opening(call: str) -> int:
    """Of the parentheses that end the text."""
    depth = 0
    for i in range(len(call) - 1, -1, -1):
        depth += (call[i] == ")") - (call[i] == "(")
        if not depth:
            return i
    raise AssertionError(call)
