"""The fields that objects are looked up by, beside their labels and namespace: an API server calls this a field index.

A *mark* is a key and a value that an object has. The keys of fields start with a dot and that of the namespace is
empty; no label has such a key.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.core import Manifest, dig, dig_fields
from function.vocabulary import crossplane, kubernetes, versions

Identity = tuple[str, str, str, str]
"""An object's apiVersion, kind, namespace and name."""
Marks = frozenset[tuple[str, str]]

NAMESPACE = ""
OWNER = ".metadata.ownerReferences.uid"
FOREGROUND = ".metadata.finalizers.foreground"
"""It is in foreground deletion. The value is empty."""
ATTEMPTED = ".metadata.annotations.deletion-attempt"
"""Its deletion was blocked by a Usage. The value is empty."""
USED, USER = ".spec.of", ".spec.by"
"""Of a Usage: the object that is used, and the one that uses it."""
USAGES = ("ClusterUsage", "Usage")
_FIELDS = ("labels", "ownerReferences", "finalizers", "annotations", "deletionTimestamp")


def marks(manifest: Manifest) -> Marks:
    """Everything that an object can be found by."""
    return frozenset(_marks(manifest))


def are_same(before: Manifest, after: Manifest) -> bool:
    """Whether two states of an object certainly have the same marks."""
    one, other = before["metadata"], after["metadata"]
    return all(one.get(field) == other.get(field) for field in _FIELDS) and (
        after["kind"] not in USAGES or before.get("spec") == after.get("spec")
    )


def spelled(api_version: str, kind: str, namespace: str, name: str) -> str:
    """The identity of an object as the value of a mark."""
    return f"{api_version}\0{kind}\0{namespace}\0{name}"


def _marks(manifest: Manifest) -> Iterator[tuple[str, str]]:
    metadata = manifest["metadata"]
    yield NAMESPACE, metadata.get("namespace") or ""
    yield from (metadata.get("labels") or {}).items()
    for owner in metadata.get("ownerReferences") or ():
        yield OWNER, owner.get("uid") or ""
    if metadata.get("deletionTimestamp") and kubernetes.FOREGROUND in (metadata.get("finalizers") or ()):
        yield FOREGROUND, ""
    if (metadata.get("annotations") or {}).get(crossplane.DELETION_ATTEMPT):
        yield ATTEMPTED, ""
    if manifest["kind"] in USAGES and manifest["apiVersion"] == versions.PROTECTION:
        found = ((USED, _referenced(manifest, "of")), (USER, user(manifest)))
        yield from ((key, spelled(*who)) for key, who in found if who)


def user(usage: Manifest) -> Identity | None:
    """The object that uses what a Usage protects; None if it protects without one."""
    return _referenced(usage, "by")


def _referenced(usage: Manifest, field: str) -> Identity | None:
    """An object that a Usage refers to, which is in the Usage's namespace, if it has one."""
    who = dig_fields(usage, "spec", field)
    namespace = usage["metadata"].get("namespace") or ""
    named = str(who.get("apiVersion")), str(who.get("kind"))
    return (*named, namespace, str(dig(who, "resourceRef", "name"))) if who else None
