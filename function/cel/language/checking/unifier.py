"""Unification: when one type can stand for another, and what the parameters of types turn out to be.

Source: github.com/google/cel-go v0.26, checker/types.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from function.cel.language.declarations.types import DYN, Type, is_dyn, is_dyn_or_error


class Unifier:
    """The bindings of type variables. A trial that fails leaves none behind."""

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._variables = 0

    def variable(self) -> Type:
        """A new type variable."""
        self._variables += 1
        return Type("param", f"_{self._variables}")

    def instance(self, types: Iterable[Type]) -> tuple[Type, ...]:
        """The types of a signature, with new variables for its parameters."""
        fresh: dict[str, Type] = {}
        return tuple(self._instance(t, fresh) for t in types)

    def _instance(self, type_: Type, fresh: dict[str, Type]) -> Type:
        if type_.kind == "param":
            if type_.name not in fresh:
                fresh[type_.name] = self.variable()
            return fresh[type_.name]
        if not type_.params:
            return type_
        return Type(type_.kind, type_.name, tuple(self._instance(p, fresh) for p in type_.params))

    def assignable(self, sources: Iterable[Type], targets: Iterable[Type]) -> bool:
        """Whether each source can stand for its target. Binds variables, if so."""
        mark = len(self._trail)
        sources, targets = tuple(sources), tuple(targets)
        if self._all_assignable(sources, targets):
            return True
        while len(self._trail) > mark:
            name, before = self._trail.pop()
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def resolved(self, type_: Type, *, final: bool = False) -> Type:
        """A type with its variables replaced. `final`: an unknown one is dyn."""
        while type_.kind == "param":
            bound = self._bound.get(type_.name)
            if bound is None:
                return DYN if final else type_
            type_ = bound
        params = type_.params
        if not params:
            return type_
        found = tuple([self.resolved(p, final=final) for p in params])
        return type_ if found == params else Type(type_.kind, type_.name, found)

    def _bind(self, name: str, type_: Type) -> None:
        self._trail.append((name, self._bound.get(name)))
        self._bound[name] = type_

    def _all_assignable(self, sources: tuple[Type, ...], targets: tuple[Type, ...]) -> bool:
        return len(sources) == len(targets) and all(map(self._assignable, sources, targets))

    def _assignable(self, a: Type, b: Type) -> bool:
        if a is b:
            return True
        if b.kind == "param":
            valid, known = self._substitutes(a, b)
            if valid or known:
                return valid
        if a.kind == "param":
            return self._substitutes(b, a)[0]
        return is_dyn_or_error(a) or is_dyn_or_error(b) or self._fits(a, b)

    def _fits(self, a: Type, b: Type) -> bool:
        """Whether a known type can stand for another."""
        if "null" in (a.kind, b.kind):
            return _nullable(b if a.kind == "null" else a)
        if a.kind == "type":
            return b.kind == "type"
        if a.kind in ("opaque", "list", "map"):
            return (a.kind, a.name) == (b.kind, b.name) and self._all_assignable(a.params, b.params)
        return a.kind == b.kind and a == b

    def _substitutes(self, type_: Type, variable: Type) -> tuple[bool, bool]:
        """Whether a variable can be a type, and whether it was bound before."""
        if type_ == variable:
            return True, True
        bound = self._bound.get(variable.name)
        if bound is None:
            if self._occurs(variable, type_):
                return False, False
            self._bind(variable.name, type_)
            return True, False
        if type_ == bound:
            return True, True
        if not self._assignable(type_, bound):
            return False, True
        general = most_general(type_, bound)
        if not self._occurs(variable, general):
            self._bind(variable.name, general)
        return True, True

    def _occurs(self, variable: Type, within: Type) -> bool:
        if variable == within:
            return True
        if within.kind == "param":
            bound = self._bound.get(within.name)
            return bound is not None and self._occurs(variable, bound)
        return any(self._occurs(variable, p) for p in within.params)


def either(before: Type | None, found: Type) -> Type:
    """The type of a call, given that of the overloads before and that of one more."""
    if before is None:
        return found
    return before if is_dyn(before) or found == before else DYN


def most_general(a: Type, b: Type) -> Type:
    """The one of two types, of which one can stand for the other, that more values have."""
    return a if _is_no_more_specific(a, b) else b


def _is_no_more_specific(a: Type, b: Type) -> bool:
    if is_dyn(a) or a.kind == "param":
        return True
    if is_dyn(b) or b.kind == "param" or a.kind != b.kind:
        return False
    if a.kind == "type":
        return True
    if a.kind in ("opaque", "list", "map"):
        same = a.name == b.name and len(a.params) == len(b.params)
        return same and all(map(_is_no_more_specific, a.params, b.params))
    return a == b


def _nullable(type_: Type) -> bool:
    return type_.kind in ("null", "opaque", "struct", "timestamp", "duration")
