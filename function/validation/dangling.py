"""References that find nothing among the objects that are given. docs/findings.md has the table of what is told.

None of them is an error: what is missing here may be on the control cluster already. Secrets and ConfigMaps of other
namespaces prove nothing, since they are often made by hand, or by a controller, in some namespaces only. StorageClasses
are on the inference clusters, so nobody is told that none is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from function.api import inferenceclass, inferencegateway, modelservice
from function.core import Manifest
from function.schema import Path
from function.validation.finding import Finding
from function.validation.given import BY_NAMESPACE, Given
from function.validation.nearest import Guesses, meant
from function.validation.references import Reference
from function.vocabulary import names

_ON_CLUSTERS = ("StorageClass",)
_CODES = {inferenceclass.KIND: "class"}


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A reference to a kind of which no object is given."""

    index: int
    path: Path
    kind: str
    told: str
    """What refers, as the rest of a sentence that begins with the field."""


def judged(references: Iterable[Reference], given: Given) -> Iterator[Finding | Unchecked]:
    """Yield what is wrong with references, and those that cannot be checked."""
    guesses = defaultdict[str, Guesses](Guesses)
    for one in references:
        if given.has(one.kind, one.who):
            yield from _lacking(one, given)
        elif elsewhere := given.elsewhere(one.kind, one.who.name):
            problem = f"names a {one.kind} of {_whose(one)}, but {one.who.name} is only in {', '.join(elsewhere)}"
            yield Finding(one.index, one.path, problem, "tenancy")
        elif given.has_any(one.kind, one.who.namespace if one.kind in BY_NAMESPACE else None):
            yield _not_found(one, given, guesses[one.kind])
        elif one.kind not in _ON_CLUSTERS:
            yield Unchecked(one.index, one.path, one.kind, f"names {one.kind} {one.who.name}")


def gateways(objects: Iterable[tuple[int, Manifest]], given: Given) -> Iterator[Unchecked]:
    """Yield the objects that clients reach through the InferenceGateway, if none is given."""
    if not given.has_any(inferencegateway.KIND):
        for index, manifest in objects:
            if manifest["kind"] == modelservice.KIND:
                told = "is of a ModelService, which clients reach through the InferenceGateway"
                yield Unchecked(index, ("metadata", "name"), inferencegateway.KIND, told)


def notes(unchecked: Iterable[Unchecked]) -> Iterator[Finding]:
    """Yield one note for each kind: at the first reference, with the number of the others."""
    by_kind: dict[str, list[Unchecked]] = {}
    for one in unchecked:
        by_kind.setdefault(one.kind, []).append(one)
    for kind, found in by_kind.items():
        first, more = found[0], len(found) - 1
        others = f" and {more} more like it" if more else ""
        problem = f"{first.told}, but no {kind} is given: this{others} cannot be checked"
        yield Finding(first.index, first.path, problem, "unchecked")


def _lacking(one: Reference, given: Given) -> Iterator[Finding]:
    held = given.keys(one.kind, one.who)
    missing = [key for key in one.keys if held is not None and key not in held]
    path = (*one.path[:-1], one.key_field) if one.key_field else one.path[:-1]
    for key in missing:
        there = meant(key, held, "it has") if held else "it has no key"
        yield Finding(
            one.index, path, f"names key {key}, which {one.kind} {one.who.name} lacks; {there}", "missing-key"
        )


def _not_found(one: Reference, given: Given, guesses: Guesses) -> Finding:
    known = given.names(one.kind, one.who.namespace)
    there = guesses.meant(one.who.name, known) if known else f"namespace {one.who.namespace} has none"
    problem = f"names {one.kind} {one.who.name}, which is not given; {there}"
    return Finding(one.index, one.path, problem, _CODES.get(one.kind, "not-found"))


def _whose(one: Reference) -> str:
    is_system = one.who.namespace == names.SYSTEM_NAMESPACE
    return f"namespace {names.SYSTEM_NAMESPACE}" if is_system else "its own namespace"
