"""Crossplane's Usages: they block deletion of objects in use (crossplane v2.4, internal/controller/protection).

`refuses` is the webhook, a `DeleteGuard`; `reconcile_usages` is the controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from function.core import Condition, Manifest, dig
from function.sandbox.conditions import with_conditions
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import crossplane, versions

_KINDS = ("ClusterUsage", "Usage")
FINALIZER = "usage.apiextensions.crossplane.io"
_AVAILABLE = Condition("Ready", "True", "Available")


def refuses(store: Store, ref: Ref, policy: str) -> bool:
    """Whether a Usage blocks the deletion of an object. Records the attempt in an annotation."""
    if ref.kind in _KINDS or not any(_is_of(usage, ref) for usage in _usages(store)):
        return False

    def note(manifest: dict[str, Any]) -> None:
        manifest["metadata"].setdefault("annotations", {})[crossplane.DELETION_ATTEMPT] = policy

    store.update(ref, note, status=True)
    return True


def concern(store: Store, changed: Iterable[Ref]) -> bool:
    """Whether a change concerns Usages: a changed object is a Usage, the user of one, or has a blocked deletion."""
    users = {_by(usage) for usage in _usages(store)}
    return any(
        ref.kind in _KINDS
        or ref in users
        or dig(store.get(ref), "metadata", "annotations", crossplane.DELETION_ATTEMPT)
        for ref in changed
    )


def reconcile_usages(store: Store) -> None:
    """Delete Usages whose user is gone, and repeat blocked deletions of objects that are no longer used."""
    for usage in list(_usages(store)):
        _reconcile_usage(store, ref_of(usage), _by(usage), usage)
    used = {_of(usage) for usage in _usages(store)}
    for manifest in list(store.all()):
        policy = dig(manifest, "metadata", "annotations", crossplane.DELETION_ATTEMPT)
        if policy and ref_of(manifest) not in used and not dig(manifest, "metadata", "deletionTimestamp"):
            store.delete(ref_of(manifest), foreground=policy == "Foreground")


def _reconcile_usage(store: Store, ref: Ref, by: Ref | None, usage: Manifest) -> None:
    """Reconcile one Usage. A composed one outlives its composite as long as its user exists."""
    is_used = by is not None and store.get(by) is not None
    if dig(usage, "metadata", "deletionTimestamp"):
        if not is_used or not dig(usage, "metadata", "labels", crossplane.COMPOSITE):
            store.remove_finalizer(ref, FINALIZER)
    elif by is None or is_used:
        store.add_finalizer(ref, FINALIZER)
        _set_ready(store, ref)
    else:
        store.delete(ref)
        store.remove_finalizer(ref, FINALIZER)


def _set_ready(store: Store, ref: Ref) -> None:
    def write(manifest: dict[str, Any]) -> None:
        status = manifest.setdefault("status", {})
        status["conditions"] = with_conditions(status.get("conditions") or [], (_AVAILABLE,), None)

    store.update(ref, write, status=True)


def _usages(store: Store) -> Iterator[Manifest]:
    for kind in _KINDS:
        yield from store.of_kind(versions.PROTECTION, kind)


def _is_of(usage: Manifest, ref: Ref) -> bool:
    """Whether a Usage protects an object. Compares names first, since most Usages protect another one."""
    return bool(dig(usage, "spec", "of", "resourceRef", "name") == ref.name) and _of(usage) == ref


def _of(usage: Manifest) -> Ref:
    return _ref(dig(usage, "spec", "of"), usage)


def _by(usage: Manifest) -> Ref | None:
    by = dig(usage, "spec", "by")
    return _ref(by, usage) if by else None


def _ref(who: Manifest, usage: Manifest) -> Ref:
    namespace = usage["metadata"].get("namespace") or ""
    return Ref(who["apiVersion"], who["kind"], namespace, str(dig(who, "resourceRef", "name")))
