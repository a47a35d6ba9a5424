"""The garbage collector: deletes objects without owners, and dependents of owners in foreground deletion first.

Terms. An *orphan* has owners, of which none exists. A *suspect* may be one: it was written, or one of its owners is
gone since the last pass. Nothing else can have become an orphan, so a pass reads suspects, and owners that are in
foreground deletion with their dependents; both are few, however large the store is. An orphan whose deletion is blocked
remains a suspect. An orphan that has the finalizer of a foreground deletion already gets one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from function.core import Manifest
from function.sandbox import fields
from function.sandbox.store import Change, Ref, Store, ref_of
from function.vocabulary import kubernetes


@dataclass(slots=True)
class GarbageCollector:
    """Collects the garbage of one store."""

    store: Store
    _changes: list[Change] = field(init=False)
    _suspects: set[Ref] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._changes = self.store.feed()

    def copied(self, store: Store) -> GarbageCollector:
        """A collector at the same point, for a copy of the store."""
        other = GarbageCollector(store)
        other._changes.extend(self._changes)
        other._suspects.update(self._suspects)
        return other

    def __call__(self) -> None:
        """One pass, if anything changed."""
        if not self._changes:
            return
        for change in self._changes:
            self._suspects.update(self._suspected(change))
        self._changes.clear()
        found = {ref: manifest for ref in self._suspects if (manifest := self.store.get(ref)) is not None}
        elsewhere = set(self.store.elsewhere.values())
        orphans = {ref: manifest for ref, manifest in found.items() if self._is_orphan(manifest, elsewhere)}
        self._suspects = set(orphans)
        deleting = {ref_of(m): m for m in self.store.having(fields.FOREGROUND, "")}
        for ref in sorted({*orphans, *deleting}):
            if ref in orphans and not _is_deleted(orphans[ref]):
                self.store.delete(ref, foreground=_asks_for_foreground(orphans[ref]))
            if ref in deleting:
                self._delete_dependents(deleting[ref])

    def _suspected(self, change: Change) -> set[Ref]:
        found = {change.ref} if change.after is not None else set()
        if change.before is not None and not self.store.has_uid(change.before["metadata"]["uid"]):
            found.update(self._dependents(change.before))
        return found

    def _is_orphan(self, manifest: Manifest, elsewhere: set[str]) -> bool:
        uids = [owner["uid"] for owner in manifest["metadata"].get("ownerReferences") or ()]
        return bool(uids) and not any(self.store.has_uid(uid) or uid in elsewhere for uid in uids)

    def _delete_dependents(self, owner: Manifest) -> None:
        """Delete the dependents of an owner in foreground deletion, then the owner. Works bottom-up: a dependent that
        has dependents is deleted in the foreground too."""
        waiting = self._dependents(owner)
        for ref in waiting:
            found = self.store.get(ref)
            self.store.delete(ref, foreground=found is not None and bool(self._dependents(found)))
        if not any(self.store.get(ref) for ref in waiting):
            self.store.remove_finalizer(ref_of(owner), kubernetes.FOREGROUND)

    def _dependents(self, owner: Manifest) -> list[Ref]:
        return [ref_of(m) for m in self.store.having(fields.OWNER, owner["metadata"]["uid"])]


def _is_deleted(manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("deletionTimestamp"))


def _asks_for_foreground(manifest: Manifest) -> bool:
    return kubernetes.FOREGROUND in (manifest["metadata"].get("finalizers") or ())
