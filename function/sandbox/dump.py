"""Links the objects of a dump with their owners, in both directions.

An object from Git has no uid, and a composite from Git has no references to what it composed. The dump of what it
composed implies both.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from function.core import Manifest


def linked(manifests: Sequence[dict[str, Any]], elsewhere: dict[tuple[str, str, str], str]) -> Sequence[dict[str, Any]]:
    """Link the objects of a dump with their owners, in both directions. Changes the manifests.

    An owner that is not in the dump is added to `elsewhere`; one that arrives now is removed from there.
    """
    by_name = {_key(m["kind"], m): m for m in manifests}
    for name in list(elsewhere):
        found = by_name.get(name) or by_name.get((name[0], "", name[2]))
        if found:
            found["metadata"].setdefault("uid", elsewhere.pop(name))
    for manifest in manifests:
        for reference in manifest["metadata"].get("ownerReferences") or ():
            reference["uid"] = reference.get("uid") or _derived_uid(reference, manifest)
            owner = _owner(reference, manifest, by_name)
            if owner:
                _link(owner, reference, manifest)
            else:
                elsewhere[_owner_key(reference, manifest)] = reference["uid"]
    return manifests


def _derived_uid(reference: Manifest, owned: Manifest) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "\x00".join(_owner_key(reference, owned))))


def _owner_key(reference: Manifest, owned: Manifest) -> tuple[str, str, str]:
    """An owner's kind, namespace and name, assuming that it is in the namespace of the owned object."""
    namespace = owned["metadata"].get("namespace") or ""
    return str(reference.get("kind") or ""), namespace, str(reference.get("name") or "")


def _key(kind: str, manifest: Manifest) -> tuple[str, str, str]:
    return kind, manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"]


def _owner(
    owner: Manifest, owned: Manifest, by_name: dict[tuple[str, str, str], dict[str, Any]]
) -> dict[str, Any] | None:
    """Find an owner. It is in the namespace of the owned object, or cluster-scoped."""
    namespace = owned["metadata"].get("namespace") or ""
    name = owner.get("name") or ""
    kind = owner.get("kind") or ""
    return by_name.get((kind, namespace, name)) or by_name.get((kind, "", name))


def _link(owner: dict[str, Any], reference: Manifest, owned: Manifest) -> None:
    owner["metadata"].setdefault("uid", reference.get("uid"))
    if not reference.get("controller"):
        return
    refs = owner.setdefault("spec", {}).setdefault("crossplane", {}).setdefault("resourceRefs", [])
    found = {"apiVersion": owned["apiVersion"], "kind": owned["kind"], "name": owned["metadata"]["name"]}
    if owned["metadata"].get("namespace") and not owner["metadata"].get("namespace"):
        found["namespace"] = owned["metadata"]["namespace"]
    if found not in refs:
        refs.append(found)
