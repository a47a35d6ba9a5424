"""A composed resource, with what Crossplane puts on each: a name, an owner, a label, an annotation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from function.core import Manifest
from function.sandbox.store import Ref
from function.vocabulary import labels

COMPOSITE = "crossplane.io/composite"
"""Label of what an XR composes and of the XR itself: its name, or that of the XR at the top where XRs are nested."""

_LONGEST_NAME = 63

_HASH = 12


def decorated(xr: Manifest, key: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """A composed resource with what Crossplane puts on each: a name where it has none, an owner, label, annotation."""
    metadata = manifest["metadata"]
    prefix = (xr["metadata"].get("labels") or {}).get(COMPOSITE) or xr["metadata"]["name"]
    if not metadata.get("name"):
        metadata.setdefault("generateName", f"{prefix}-")
        metadata["name"] = child_name(metadata["generateName"], xr["metadata"]["uid"], key)
    metadata["labels"] = {**(metadata.get("labels") or {}), COMPOSITE: prefix}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), labels.COMPOSITION_KEY: key}
    metadata["ownerReferences"] = [owner_reference(xr)]
    return manifest


def owner_reference(xr: Manifest) -> dict[str, Any]:
    return {
        "apiVersion": xr["apiVersion"],
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": xr["kind"],
        "name": xr["metadata"]["name"],
        "uid": xr["metadata"]["uid"],
    }


def child_name(prefix: str, uid: str, key: str) -> str:
    """A composed resource's name where the function gives none (crossplane v2.4, internal/names)."""
    suffix = digest(uid + key)[:_HASH]
    parent = prefix if not prefix or prefix.endswith("-") else f"{prefix}-"
    if len(parent + suffix) <= _LONGEST_NAME:
        return parent + suffix
    room = _LONGEST_NAME - _HASH
    return (parent[:room] if parent[room - 1] == "-" else f"{parent[: room - 1]}-") + suffix


def reference_to(xr: Manifest, manifest: Manifest) -> dict[str, str]:
    namespace = "" if xr["metadata"].get("namespace") else manifest["metadata"].get("namespace") or ""
    reference = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "name": manifest["metadata"]["name"]}
    return {**reference, "namespace": namespace} if namespace else reference


def referenced(xr: Manifest, reference: Mapping[str, str]) -> Ref:
    namespace = xr["metadata"].get("namespace") or reference.get("namespace") or ""
    return Ref(reference["apiVersion"], reference["kind"], namespace, reference["name"])


def controller_uid(manifest: Manifest) -> str:
    owners = manifest["metadata"].get("ownerReferences") or ()
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
