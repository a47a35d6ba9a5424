"""A Kubernetes object as plain data, and the questions that everyone asks of it.

A manifest may be a dict, or a mapping that decodes itself only where it is read. Ask for `Mapping` and `Sequence`,
never for `dict` and `list`; `plain` turns either into dicts and lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Manifest = Mapping[str, Any]
_MAPPINGS = dict, Mapping
"""Dicts first: the abstract class is slow to ask."""


class NamespacedName(NamedTuple):
    """Who an object is among its kind. A name alone is no identity: tenants may choose the same."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def identity(manifest: Manifest) -> NamespacedName:
    metadata = manifest["metadata"]
    return NamespacedName(metadata.get("namespace") or "", metadata["name"])


def controller(metadata: Manifest) -> Manifest | None:
    """The owner reference of an object's controller, from its metadata; None where nobody controls it."""
    references: Any = metadata.get("ownerReferences")
    for reference in references if is_list(references) else ():
        if isinstance(reference, _MAPPINGS) and reference.get("controller") is True:
            return reference
    return None


def is_controlled_by(metadata: Manifest, api_version: str, kind: str) -> bool:
    """Whether an object's controller is of a kind, in any version of its group."""
    owner = controller(metadata)
    if owner is None or owner.get("kind") != kind:
        return False
    return str(owner.get("apiVersion") or "").rpartition("/")[0] == api_version.rpartition("/")[0]


def dig(value: Any, *path: str | int) -> Any:
    """What stands at a path; None where it ends early: nothing in another's object can be taken for granted."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, _MAPPINGS) else None
        else:
            value = value[step] if is_list(value) and len(value) > step else None
        if value is None:
            return None
    return value


def is_list(value: Any) -> bool:
    return type(value) is list or (isinstance(value, Sequence) and not isinstance(value, str | bytes))


def condition(manifest: Manifest, type_: str) -> Manifest | None:
    """A condition of an object, or None where it was never said."""
    conditions = dig(manifest, "status", "conditions")
    if not is_list(conditions):
        return None
    return next((c for c in conditions if isinstance(c, Mapping) and c.get("type") == type_), None)


def condition_true(manifest: Manifest, type_: str) -> bool:
    """Whether a condition is True, of whatever generation: an edit by itself changes nothing that stands."""
    return bool(dig(condition(manifest, type_), "status") == "True")


def condition_current(manifest: Manifest, type_: str) -> bool:
    """Whether a condition is True, and was said of the generation that stands."""
    found = condition(manifest, type_)
    if found is None or found.get("status") != "True":
        return False
    generation = dig(manifest, "metadata", "generation") or 0
    seen = found.get("observedGeneration")
    return seen is None or seen >= generation


def is_ready(manifest: Manifest) -> bool:
    """Whether its Ready condition is True, and was said of the generation that stands."""
    return condition_current(manifest, "Ready")


def serves(manifest: Manifest, otherwise: str) -> bool:
    """Whether what runs behind an object of ours takes traffic: its `status.serving`.

    An object that was last written before there was such a field is judged by its condition `otherwise`.
    """
    told = dig(manifest, "status", "serving")
    return told if isinstance(told, bool) else condition_true(manifest, otherwise)


_SCALARS = frozenset({str, int, float, bool, type(None)})


def plain(value: Any) -> Any:
    """The same data as dicts and lists, copied: what a caller does to it stays with the caller."""
    if type(value) in _SCALARS:  # by far the most; the abstract classes below are slow to ask
        return value
    if isinstance(value, _MAPPINGS):
        return {key: plain(child) for key, child in value.items()}
    if type(value) is list or is_list(value):
        return [plain(child) for child in value]
    return value


def may_mention(manifest: Manifest, key: str, text: str) -> bool:
    """Whether a text may stand somewhere under a key. A no is certain; it spares a look at what is encoded."""
    ask = getattr(manifest, "mentions", None)
    return ask is None or bool(ask(key, text))
