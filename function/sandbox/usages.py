"""Crossplane's Usages: they block deletion of objects in use (crossplane v2.4, internal/controller/protection).

`refuses` is the webhook, a `DeleteGuard`; `UsageReconciler` is the controller. Both look Usages up by the object that
is used or that uses it, and a pass of the controller reads only those that a change concerns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from function.core import Condition, Manifest, dig
from function.sandbox import fields
from function.sandbox.conditions import with_conditions
from function.sandbox.store import Change, Ref, Store, ref_of
from function.vocabulary import crossplane, versions

FINALIZER = "usage.apiextensions.crossplane.io"
_AVAILABLE = Condition("Ready", "True", "Available")


def refuses(store: Store, ref: Ref, policy: str) -> bool:
    """Whether a Usage blocks the deletion of an object. Records the attempt in an annotation."""
    if ref.kind in fields.USAGES or not _is_used(store, ref):
        return False

    def note(manifest: dict[str, Any]) -> None:
        manifest["metadata"].setdefault("annotations", {})[crossplane.DELETION_ATTEMPT] = policy

    store.update(ref, note, status=True)
    return True


@dataclass(slots=True)
class UsageReconciler:
    """Deletes Usages whose user is gone, and repeats blocked deletions of objects that are no longer used."""

    store: Store
    _changes: list[Change] = field(init=False)

    def __post_init__(self) -> None:
        self._changes = self.store.feed()

    def copied(self, store: Store) -> UsageReconciler:
        """A reconciler at the same point, for a copy of the store."""
        other = UsageReconciler(store)
        other._changes.extend(self._changes)
        return other

    def __call__(self) -> None:
        """One pass, if anything changed."""
        if not self._changes:
            return
        concerned = {ref for change in self._changes for ref in self._concerned(change.ref)}
        self._changes.clear()
        for ref in sorted(concerned):
            self._reconcile(ref)
        for manifest in self.store.having(fields.ATTEMPTED, ""):
            if not _is_used(self.store, ref_of(manifest)) and not dig(manifest, "metadata", "deletionTimestamp"):
                policy = manifest["metadata"]["annotations"][crossplane.DELETION_ATTEMPT]
                self.store.delete(ref_of(manifest), foreground=policy == "Foreground")

    def _concerned(self, ref: Ref) -> Iterator[Ref]:
        """The Usages that a changed object concerns."""
        if ref.kind in fields.USAGES and ref.api_version == versions.PROTECTION:
            yield ref
        yield from (ref_of(usage) for usage in _with(self.store, fields.USER, ref))

    def _reconcile(self, ref: Ref) -> None:
        """Reconcile one Usage. A composed one outlives its composite as long as its user exists."""
        usage, store = self.store.get(ref), self.store
        if usage is None:
            return
        by = fields.user(usage)
        is_in_use = by is not None and store.get(Ref(*by)) is not None
        is_composed = bool(dig(usage, "metadata", "labels", crossplane.COMPOSITE))
        if dig(usage, "metadata", "deletionTimestamp"):
            if not is_in_use or not is_composed:
                store.remove_finalizer(ref, FINALIZER)
        elif by is None or is_in_use or is_composed:  # its composite owns it, too: it waits for its user
            store.add_finalizer(ref, FINALIZER)
            if by is None or is_in_use:
                _set_ready(store, ref)
        else:
            store.delete(ref)
            store.remove_finalizer(ref, FINALIZER)


def _set_ready(store: Store, ref: Ref) -> None:
    def write(manifest: dict[str, Any]) -> None:
        status = manifest.setdefault("status", {})
        status["conditions"] = with_conditions(status.get("conditions") or [], (_AVAILABLE,), None)

    store.update(ref, write, status=True)


def _is_used(store: Store, ref: Ref) -> bool:
    return bool(_with(store, fields.USED, ref))


def _with(store: Store, field_: str, ref: Ref) -> list[Manifest]:
    """The Usages with an object in a field."""
    value = fields.spelled(*ref)
    return [m for kind in fields.USAGES for m in store.of_kind_having(versions.PROTECTION, kind, field_, value)]
