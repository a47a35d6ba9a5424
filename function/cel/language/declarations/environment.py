"""Environments: the variables, types and functions that one kind of expression has.

The engine takes its environment as a value: device selectors, validation rules and readiness queries are three
environments of one engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from function.cel.language.declarations.cost import Sizes
from function.cel.language.declarations.library import Library
from function.cel.language.declarations.overload import Overload
from function.cel.language.declarations.types import TYPE_NAMES, Type
from function.cel.language.values import opaque
from function.cel.language.values.opaque import OpaqueType


@dataclass(frozen=True, slots=True, eq=False)
class Environment:
    """One kind of expression. ValueError where its libraries contradict each other or name a type that none has."""

    name: str
    """As error messages call such an expression."""
    variables: Mapping[str, Type]
    libraries: tuple[Library, ...]
    """In the order in which the overloads of one function are tried."""
    objects: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    """The fields of object types, by the type's name."""
    sizes: Sizes = field(default_factory=dict)
    results: frozenset[str] = frozenset({"bool"})
    """Kinds of type that an expression may have."""
    without: frozenset[str] = frozenset()
    """Names of libraries whose functions are refused, with a message that says so."""

    functions: Mapping[str, tuple[Overload, ...]] = field(init=False, repr=False)
    """The overloads of each function."""
    types: Mapping[str, OpaqueType] = field(init=False, repr=False)
    """The opaque types, by the names that signatures have."""
    type_names: Mapping[str, Type] = field(init=False, repr=False)
    """The types that an expression can name."""
    refused: frozenset[str] = field(init=False, repr=False)
    """Functions that only refused libraries have."""
    unsuggested: frozenset[str] = field(init=False, repr=False)
    """Functions that error messages do not suggest."""
    _by_call: dict[tuple[str, bool, int], tuple[Overload, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        types = {type_.name: type_ for library in self.libraries for type_ in library.types}
        named = {t.type_name: Type("opaque", t.name) for t in types.values() if t.is_named}
        functions = _functions(self.libraries)
        _check(functions, types)
        opaque.register(types.values())
        suggested = frozenset(_names(library for library in self.libraries if library.is_suggested))
        available = frozenset(_names(library for library in self.libraries if library.name not in self.without))
        derived = {
            "functions": functions,
            "types": types,
            "type_names": {**TYPE_NAMES, **named},
            "refused": frozenset(functions) - available,
            "unsuggested": frozenset(functions) - suggested,
            "_by_call": {},
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def called(self, function: str, count: int, *, is_method: bool) -> tuple[Overload, ...]:
        """The overloads of a declared function that have so many parameters, the target of a method among them."""
        key = function, is_method, count
        found = self._by_call.get(key)
        if found is None:
            overloads = self.functions[function]
            found = tuple(o for o in overloads if o.is_method == is_method and len(o.params) == count)
            self._by_call[key] = found
        return found


def _names(libraries: Iterator[Library]) -> Iterator[str]:
    return (overload.function for library in libraries for overload in library.overloads)


def _functions(libraries: tuple[Library, ...]) -> Mapping[str, tuple[Overload, ...]]:
    functions: dict[str, list[Overload]] = {}
    for library in libraries:
        for overload in library.overloads:
            functions.setdefault(overload.function, []).append(overload)
    return {name: tuple(found) for name, found in functions.items()}


def _check(functions: Mapping[str, tuple[Overload, ...]], types: Mapping[str, OpaqueType]) -> None:
    seen: set[str] = set()
    for overload in (o for overloads in functions.values() for o in overloads):
        if overload.id in seen:
            raise ValueError(f"there are two overloads {overload.id}")
        seen.add(overload.id)
        unknown = {name for type_ in (*overload.params, overload.result) for name in _opaque(type_)} - {*types}
        if unknown:
            raise ValueError(f"overload {overload.id} has the type {unknown.pop()}, which no library declares")


def _opaque(type_: Type) -> Iterator[str]:
    """The names of the library's types in a type."""
    if type_.kind == "opaque" and type_.name != "optional":
        yield type_.name
    for param in type_.params:
        yield from _opaque(param)
