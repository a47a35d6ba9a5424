"""One attempt: a golden case with hostile values at places of its objects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from function.core import Manifest, Request
from tests.fuzz import hostile, places
from tests.support.cases import load


@dataclass(frozen=True, slots=True)
class Change:
    """A hostile value at a place of one of a case's objects."""

    where: str
    """`xr`, `observed` or `required`."""
    index: int
    path: places.Path
    value: Any
    """None removes what is there, and NULL puts a null."""

    def __str__(self) -> str:
        return f"{self.where}[{self.index}] {'.'.join(map(str, self.path))} = {self.value!r:.200}"


@dataclass(frozen=True, slots=True)
class Attempt:
    case: Path
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return "\n  ".join([f"{self.case.parent.name}/{self.case.name}", *map(str, self.changes)])

    def changes_only(self, where: str, field: str = "") -> bool:
        """Return whether it changes nothing but these objects, or nothing but one field of them."""
        return all(c.where == where and (not field or c.path[:1] == (field,)) for c in self.changes)


def invented(random: Random, case: Path) -> Attempt:
    """A new attempt at a case: one change, or a few."""
    request, objects = load(case)
    count = random.choice((1, 1, 1, 2, 4))
    return Attempt(case, tuple(_change(random, request, objects) for _ in range(count)))


def applied(attempt: Attempt) -> tuple[Request, list[Manifest]]:
    """The request of an attempt before anything was looked up, and what there is to find."""
    request, objects = load(attempt.case)
    observed = list(request.observed.items())
    for change in attempt.changes:
        if change.where == "xr":
            request = replace(request, xr=places.replaced(request.xr, change.path, change.value))
        elif change.where == "observed":
            key, manifest = observed[change.index]
            observed[change.index] = key, places.replaced(manifest, change.path, change.value)
        else:
            objects[change.index] = places.replaced(objects[change.index], change.path, change.value)
    return replace(request, observed=dict(observed)), objects


def there(request: Request, objects: list[Manifest]) -> dict[str, list[Manifest]]:
    """The objects of a case, by where they are. Changes name them by their index."""
    found = {"xr": [request.xr], "observed": list(request.observed.values()), "required": objects}
    return {where: list(manifests) for where, manifests in found.items() if manifests}


def _change(random: Random, request: Request, objects: list[Manifest]) -> Change:
    found = there(request, objects)
    where = random.choices(list(found), weights=[6 if w == "xr" else 2 for w in found])[0]
    index = random.randrange(len(found[where]))
    place = random.choice(places.places(found[where][index]))
    return Change(where, index, place.path, hostile.of(random, place.schema))
