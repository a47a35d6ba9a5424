"""The garbage collector: deletes objects without owners, and dependents of owners in foreground deletion first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from function.core import Manifest
from function.sandbox.store import FOREGROUND, Ref, Store, ref_of


def concern(store: Store, changed: Iterable[Ref]) -> bool:
    """Whether a change concerns garbage collection: an object is deleted, being deleted, or has lost its owners."""
    found = [store.get(ref) for ref in changed]
    if any(m is None or m["metadata"].get("deletionTimestamp") for m in found):
        return True
    owned = [m for m in found if m is not None and m["metadata"].get("ownerReferences")]
    uids = _uids(store) if owned else set()
    return any(_is_orphan(m, uids) for m in owned)


def collect(store: Store) -> None:
    """One pass over all objects."""
    dependents = _dependents(store)
    uids = _uids(store)
    for manifest in tuple(store.all()):
        if _is_orphan(manifest, uids):
            store.delete(ref_of(manifest))
        if FOREGROUND in (manifest["metadata"].get("finalizers") or ()):
            _delete_dependents(store, manifest, dependents)


def _uids(store: Store) -> set[str]:
    """The uids of all possible owners, in the store and elsewhere."""
    return {m["metadata"]["uid"] for m in store.all()} | set(store.elsewhere.values())


def _is_orphan(manifest: Manifest, uids: set[str]) -> bool:
    owners = manifest["metadata"].get("ownerReferences") or ()
    gone = bool(owners) and not any(owner["uid"] in uids for owner in owners)
    return gone and not manifest["metadata"].get("deletionTimestamp")


def _delete_dependents(store: Store, owner: Manifest, dependents: Mapping[str, list[Ref]]) -> None:
    """Delete the dependents of an owner in foreground deletion, then the owner. Works bottom-up: a dependent that has
    dependents is deleted in the foreground too."""
    waiting = [ref for ref in dependents.get(owner["metadata"]["uid"], ()) if store.get(ref)]
    for ref in waiting:
        found = store.get(ref)
        store.delete(ref, foreground=found is not None and found["metadata"]["uid"] in dependents)
    if not any(store.get(ref) for ref in waiting):
        store.remove_finalizer(ref_of(owner), FOREGROUND)


def _dependents(store: Store) -> dict[str, list[Ref]]:
    """All dependents by the uid of their owner."""
    found: dict[str, list[Ref]] = {}
    for manifest in store.all():
        for owner in manifest["metadata"].get("ownerReferences") or ():
            found.setdefault(owner["uid"], []).append(ref_of(manifest))
    return found
