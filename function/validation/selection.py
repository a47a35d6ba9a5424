"""Objects by their labels: which of them a selector matches, and why it matches none.

Looking up costs what the rarest label of a selector finds, not the number of objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from function.api import inferencecluster, modeldeployment, modelendpoint
from function.core import Manifest, dig, enumerate_names, identity
from function.validation.nearest import Guesses
from function.vocabulary import labels as known_labels

ANYTHING = None
"""Value of a label that is not known yet: it matches every value."""

Labels = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """Why a selector matches nothing."""

    problem: str
    key: str | None = None
    """The label that nothing has; None if nothing has all of the labels together."""
    is_key: bool = False
    """Whether the key of the label is wrong, not its value."""


class Labelled:
    """Objects by namespace and labels."""

    def __init__(self, noun: str, objects: Iterable[tuple[Manifest, Labels]]) -> None:
        """Index objects.

        Args:
            noun: What the objects are, in the plural.
            objects: The objects, each with its labels.
        """
        self._noun = noun
        self._guesses = Guesses()
        self._objects: list[Manifest] = []
        self._all: dict[str, set[int]] = {}
        self._with: dict[tuple[str, str], dict[str | None, set[int]]] = {}
        for number, (manifest, labels) in enumerate(objects):
            self._objects.append(manifest)
            namespace = identity(manifest).namespace
            self._all.setdefault(namespace, set()).add(number)
            for key, value in labels.items():
                self._with.setdefault((namespace, key), {}).setdefault(value, set()).add(number)

    def __bool__(self) -> bool:
        return bool(self._all)

    def matching(self, namespace: str, selector: Mapping[str, str]) -> list[Manifest]:
        """Return the objects of a namespace that have all labels, in order."""
        return [self._objects[number] for number in sorted(self._numbers(namespace, selector))]

    def namespaces(self, selector: Mapping[str, str]) -> list[str]:
        """Return the namespaces with objects that have all labels."""
        return sorted(namespace for namespace in self._all if self._numbers(namespace, selector))

    def unmatched(self, namespace: str, selector: Mapping[str, str]) -> Unmatched | None:
        """Return why a selector matches nothing; None if it matches something."""
        if self._numbers(namespace, selector):
            return None
        return next(self._wrong(namespace, selector), None) or Unmatched(
            f"selects no {self._noun}: none that is given has all of these labels"
        )

    def _numbers(self, namespace: str, selector: Mapping[str, str]) -> set[int]:
        if not selector:
            return self._all.get(namespace, set())
        found = sorted((self._having(namespace, key, value) for key, value in selector.items()), key=len)
        return found[0].intersection(*found[1:])

    def _having(self, namespace: str, key: str, value: str) -> set[int]:
        values = self._with.get((namespace, key), {})
        known, unknown = values.get(value, set()), values.get(ANYTHING, set())
        return known | unknown if unknown else known

    def _wrong(self, namespace: str, selector: Mapping[str, str]) -> Iterator[Unmatched]:
        """Yield each label that nothing has, those with a similar one first."""
        told = [
            self._of_label(namespace, key, value)
            for key, value in selector.items()
            if not self._having(namespace, key, value)
        ]
        yield from (one for is_near, one in sorted(told, key=lambda found: not found[0]))

    def _of_label(self, namespace: str, key: str, value: str) -> tuple[bool, Unmatched]:
        values = [one for one in self._with.get((namespace, key), ()) if one is not None]
        if values:
            near = self._guesses.nearest(value, values)
            hint = f"did you mean {near}?" if near else f"there is {enumerate_names(sorted(values))}"
            problem = f"selects {self._noun} with {key} {value}, which none that is given has; {hint}"
            return near is not None, Unmatched(problem, key)
        keys = {other for where, other in self._with if where == namespace}
        near = self._guesses.nearest(key, keys)
        hint = f"; did you mean {near}?" if near else ""
        problem = f"selects {self._noun} with label {key}, which none that is given has{hint}"
        return near is not None, Unmatched(problem, key, is_key=True)


def clusters(objects: Iterable[Manifest]) -> Labelled:
    """Return the InferenceClusters among objects."""
    return Labelled("clusters", ((m, labels_of(m)) for m in objects if m["kind"] == inferencecluster.KIND))


def servers(objects: Iterable[Manifest], *, open_labels: Iterable[str] = ()) -> Labelled:
    """Return the ModelEndpoints among objects, and the ModelDeployments with the labels that their endpoints will have.

    Args:
        objects: The objects.
        open_labels: Labels whose values on these endpoints count as ANYTHING.
    """
    kinds = (modeldeployment.KIND, modelendpoint.KIND)
    unknown = dict.fromkeys(open_labels, ANYTHING)
    return Labelled("endpoints", ((m, _of_server(m, unknown)) for m in objects if m["kind"] in kinds))


def _of_server(manifest: Manifest, unknown: Labels) -> Labels:
    has = labels_of(manifest)
    if manifest["kind"] == modelendpoint.KIND:
        return has
    return {**known_labels.users(has), **unknown, known_labels.DEPLOYMENT: identity(manifest).name}


def labels_of(manifest: Manifest) -> dict[str, str]:
    """Return the labels of an object, which need not be valid."""
    found: Any = dig(manifest, "metadata", "labels")
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, Mapping) else {}
