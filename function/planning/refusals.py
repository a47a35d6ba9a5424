"""Specs that conditions refuse: which objects report them, and which of them are due to a change.

A refused edit passes the API server. The function holds what runs and says so in a condition of the object, or of what
the object composes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from function.core import Manifest, Reason, controller, dig_objects
from function.planning import desired
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import conditions

_REFUSALS = frozenset(
    (reason.type, reason.reason)
    for reason in vars(conditions).values()
    if isinstance(reason, Reason) and all(fact in reason.template for fact in ("{field}", "{problem}"))
)
"""Types and reasons of the conditions that name the field that they refuse."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A condition that refuses a spec."""

    ref: Ref
    """The object that users wrote: the one with the condition, or the one that it is composed of."""
    object: Ref
    """The object with the condition."""
    type: str
    reason: str
    message: str

    @property
    def field(self) -> str:
        """The refused field of the object with the condition."""
        return self.message.partition(": ")[0]


def read(store: Store) -> tuple[Refusal, ...]:
    """Every refusal that objects of our kinds report."""
    kinds = store.kinds.composites()
    return tuple(found for kind in kinds for m in store.of_kind(kind.api_version, kind.kind) for found in _of(store, m))


def due(before: Collection[Refusal], after: Collection[Refusal], edited: Collection[Ref]) -> tuple[Refusal, ...]:
    """The refusals afterwards that are due to a change: those of edited objects, and those that were not there before.

    Args:
        before: The refusals before the change.
        after: The refusals after it.
        edited: The objects that the change creates or replaces.
    """
    old = {_same(refusal) for refusal in before}
    return tuple(refusal for refusal in after if refusal.ref in edited or _same(refusal) not in old)


def is_refusal(condition: Manifest) -> bool:
    """Whether a condition refuses a spec."""
    return condition.get("status") == "False" and (condition.get("type"), condition.get("reason")) in _REFUSALS


def _same(refusal: Refusal) -> tuple[Ref, str, str]:
    return refusal.object, refusal.type, refusal.reason


def _of(store: Store, manifest: Manifest) -> Iterator[Refusal]:
    for found in dig_objects(manifest, "status", "conditions"):
        if is_refusal(found):
            told = str(found["type"]), str(found["reason"]), str(found.get("message") or "")
            yield Refusal(_root(store, manifest), ref_of(manifest), *told)


def _root(store: Store, manifest: Manifest) -> Ref:
    """The object at the top of those that an object is composed of."""
    owner = controller(manifest["metadata"])
    if owner is None or desired.is_authored(manifest):
        return ref_of(manifest)
    namespace = manifest["metadata"].get("namespace") or ""
    refs = (Ref(str(owner["apiVersion"]), str(owner["kind"]), where, str(owner["name"])) for where in (namespace, ""))
    found = next((m for m in map(store.get, refs) if m is not None), None)
    return _root(store, found) if found is not None else ref_of(manifest)
