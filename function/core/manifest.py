"""Kubernetes objects as plain data, and the questions that every module asks about them.

A manifest is a dict, or a mapping that decodes its values on access. Test for `Mapping` and `Sequence`, never for
`dict` and `list`. `plain` converts either into dicts and lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard, TypeVar

V = TypeVar("V")

Manifest = Mapping[str, Any]
_MAPPINGS = dict, Mapping
"""Dicts first: an isinstance test against the abstract class is slow."""


class NamespacedName(NamedTuple):
    """The identity of an object within its kind. A name alone is not enough: two tenants may use the same one."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def identity(manifest: Manifest) -> NamespacedName:
    metadata = manifest["metadata"]
    return NamespacedName(metadata.get("namespace") or "", metadata["name"])


def controller(metadata: Manifest) -> Manifest | None:
    """Return the owner reference of an object's controller, from its metadata, or None if it has no controller."""
    references: Any = metadata.get("ownerReferences")
    for reference in references if is_list(references) else ():
        if isinstance(reference, _MAPPINGS) and reference.get("controller") is True:
            return reference
    return None


def is_controlled_by(metadata: Manifest, api_version: str, kind: str) -> bool:
    """Return whether an object's controller is of a kind, in any version of its API group."""
    owner = controller(metadata)
    if owner is None or owner.get("kind") != kind:
        return False
    return str(owner.get("apiVersion") or "").rpartition("/")[0] == api_version.rpartition("/")[0]


def dig(value: Any, *path: str | int) -> object:
    """Return the value at a path, or None if the path ends early.

    A string step reads a key of a mapping, an integer step an item of a list. A value of another type ends the path: an
    object that we did not write may have any shape. So the value is an `object`, which a type checker lets nobody use
    before its type is tested. The functions below return values of one type.
    """
    for step in path:
        if isinstance(step, str):
            if type(value) in _SCALARS:
                return None
            value = value.get(step) if isinstance(value, _MAPPINGS) else None
        else:
            value = value[step] if is_list(value) and len(value) > step else None
        if value is None:
            return None
    return value


def dig_list(value: Any, *path: str | int) -> Sequence[object]:
    """Return the list at a path, or an empty one if there is none, as `dig` does."""
    found = dig(value, *path)
    return found if is_list(found) else ()


def dig_objects(value: Any, *path: str | int) -> Iterable[Mapping[str, object]]:
    """Return the objects of the list at a path; none if there is no list, as `dig` does."""
    return mappings(dig(value, *path))


def dig_fields(value: Any, *path: str | int) -> Mapping[str, object]:
    """Return the object at a path, or an empty one if there is none, as `dig` does."""
    found = dig(value, *path)
    return found if isinstance(found, Mapping) else {}


def dig_text(value: Any, *path: str | int) -> str | None:
    """Return the text at a path, or None if there is none, as `dig` does."""
    found = dig(value, *path)
    return found if isinstance(found, str) else None


def dig_texts(value: Any, *path: str | int) -> tuple[str, ...]:
    """Return the texts of the list at a path; none if there is no list, as `dig` does."""
    return tuple(item for item in dig_list(value, *path) if isinstance(item, str))


def dig_text_fields(value: Any, *path: str | int) -> dict[str, str]:
    """Return the texts of the object at a path by their keys; none if there is no object, as `dig` does."""
    return {key: text for key, text in dig_fields(value, *path).items() if isinstance(text, str)}


def dig_number(value: Any, *path: str | int, otherwise: float = 0) -> float:
    """Return the number at a path, or another one if there is none, as `dig` does."""
    found = dig(value, *path)
    return found if isinstance(found, int | float) else otherwise


def mappings(value: object) -> Iterable[Mapping[str, object]]:
    """Return the objects of a list; none if the value is not a list."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else ()


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    kind = type(value)
    if kind is list or kind in _NO_LISTS:  # the common cases; the abstract class is slow to test
        return kind is list
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


_SCALARS = frozenset({str, int, float, bool, type(None)})
_NO_LISTS = _SCALARS | {dict}


def condition(manifest: Manifest, type_: str) -> Mapping[str, object] | None:
    """Return a condition of an object, or None if the object does not have it."""
    conditions = dig_list(manifest, "status", "conditions")
    return next((c for c in conditions if isinstance(c, Mapping) and c.get("type") == type_), None)


def condition_true(manifest: Manifest, type_: str) -> bool:
    """Return whether a condition is True, whatever generation it observed: an edit alone stops nothing that runs."""
    return bool(dig(condition(manifest, type_), "status") == "True")


def condition_current(manifest: Manifest, type_: str) -> bool:
    """Return whether a condition is True and has observed the object's current generation."""
    found = condition(manifest, type_)
    if found is None or found.get("status") != "True":
        return False
    generation = dig_number(manifest, "metadata", "generation")
    return dig_number(found, "observedGeneration", otherwise=generation) >= generation


def is_ready(manifest: Manifest) -> bool:
    """Return whether the Ready condition is True and has observed the object's current generation."""
    return condition_current(manifest, "Ready")


def serves(manifest: Manifest, otherwise: str) -> bool:
    """Return whether an object of ours takes traffic, according to its `status.serving`.

    An object last written by a version without this field is judged by its condition `otherwise`.
    """
    serving = dig(manifest, "status", "serving")
    return serving if isinstance(serving, bool) else condition_true(manifest, otherwise)


def plain(value: Any) -> Any:
    """Return a deep copy made of dicts and lists, which the caller may change."""
    kind = type(value)
    if kind in _SCALARS:  # the common cases first; the abstract classes below are slow to test
        return value
    if kind is dict:
        return {key: child if type(child) in _SCALARS else plain(child) for key, child in value.items()}
    if kind is list:
        return [child if type(child) in _SCALARS else plain(child) for child in value]
    if isinstance(value, _MAPPINGS):
        return {key: plain(child) for key, child in value.items()}
    return [plain(child) for child in value] if is_list(value) else value


def derived(manifest: Manifest, key: str, make: Callable[[Manifest], V]) -> V:
    """Return a value that is derived from an object. An object that never changes computes it once."""
    derive = getattr(manifest, "derived", None)
    found: V = make(manifest) if derive is None else derive(key, make)
    return found


def may_mention(manifest: Manifest, key: str, text: str) -> bool:
    """Return whether a text may occur anywhere under a key, without decoding the value. False is certain."""
    ask = getattr(manifest, "mentions", None)
    return ask is None or bool(ask(key, text))
