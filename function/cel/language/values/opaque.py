"""Opaque types: values that only the functions of their library look into.

The contract between the language and a library's type. The language asks a value's class, since values meet where no
environment is at hand: in a comparison, as a key, in an error message. So each type is registered, once for the
process, when the first environment that has it is made. A class stands for one type only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


class NoValue:
    """The class of a type that has no values here."""


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A type that a library adds, with all that the language must know of it.

    Values compare by Python's `==`; the language calls it for two values of this class only.
    """

    name: str
    """As signatures and error messages write it: `ip`."""
    type_name: str = ""
    """As `type(x)` and expressions name it: `net.IP`."""
    values: type = NoValue
    """The class of its values. Exactly this class: subclasses are not recognized."""
    is_named: bool = False
    """Whether an expression can write the type's name, as in `type(x) == net.IP`."""
    is_written: bool = False
    """Whether a function of the type's name makes a value of a text: error messages then suggest it."""
    is_ordered: bool = False
    """Whether values have an order, by the method compareTo: error messages then suggest methods for operators."""
    is_key: bool = False
    """Whether equal values are one key of a map. If not, a value is a key that only itself finds."""
    panics_as_key: bool = False
    """Whether Kubernetes panics, and so the evaluation ends, where a value is used as a key: Go has no hash of it."""
    is_readable: bool = True
    """Whether Kubernetes can take a value out of an optional that a variable holds."""
    is_mutable: bool = False
    """Whether a function may change a value: a program that calls one does not share values between evaluations."""
    unequal: Callable[[Any], bool] | None = None
    """Of a value on the right of `==`: whether Kubernetes has no overload for it, and fails. None: it always has."""
    equality_size: int | None = 1
    """Size by which the estimate prices `==`; None: the size of the right operand, as far as it is known."""
    size: Callable[[Any], int] = lambda _: 1
    """Size of a value, by which an evaluation is charged for it."""


OPAQUE: dict[type, OpaqueType] = {}
"""All that are registered, by the class of their values."""
_BY_NAME: dict[str, OpaqueType] = {}
PANICKING: set[type] = {bytes}
"""Classes of values that Kubernetes panics on as keys: Go cannot hash a slice of bytes."""


def register(types: Iterable[OpaqueType]) -> None:
    """Make types known to the language. ValueError where a name or a class stands for another type already."""
    for type_ in types:
        if _BY_NAME.setdefault(type_.name, type_) != type_:
            raise ValueError(f"there are two types {type_.name}")
        if type_.values is NoValue:
            continue
        if OPAQUE.setdefault(type_.values, type_) != type_:
            raise ValueError(f"{type_.values.__name__} is the class of {OPAQUE[type_.values].name} already")
        if type_.panics_as_key:
            PANICKING.add(type_.values)


def class_of(name: str) -> type:
    """The class of the values of a registered type."""
    return _BY_NAME[name].values


def is_mutable(value: Any) -> bool:
    """Whether a function may change it."""
    return type(value) in OPAQUE and OPAQUE[type(value)].is_mutable


def is_readable(value: Any) -> bool:
    """Whether Kubernetes can take it out of an optional that a variable holds."""
    return type(value) not in OPAQUE or OPAQUE[type(value)].is_readable
