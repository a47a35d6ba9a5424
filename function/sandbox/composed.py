"""What Crossplane adds to each composed resource: a name, an owner reference, a label and an annotation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from function.core import Manifest
from function.sandbox.store import Ref
from function.vocabulary import crossplane

_LONGEST_NAME = 63

_HASH = 12

_NAMES = ("name", "namespace", "generateName")


def decorated(xr: Manifest, key: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """Add the owner reference, the label, the annotation and, if there is none, a name. Changes the manifest."""
    metadata = manifest["metadata"]
    prefix = (xr["metadata"].get("labels") or {}).get(crossplane.COMPOSITE) or xr["metadata"]["name"]
    if not metadata.get("name"):
        metadata.setdefault("generateName", f"{prefix}-")
        metadata["name"] = child_name(metadata["generateName"], xr["metadata"]["uid"], key)
    metadata["labels"] = {**(metadata.get("labels") or {}), crossplane.COMPOSITE: prefix}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), crossplane.COMPOSITION_KEY: key}
    metadata["ownerReferences"] = [owner_reference(xr)]
    return manifest


def keep_name(manifest: dict[str, Any], existing: Manifest | None) -> None:
    """Give a desired resource the name of the one that exists under its key, whatever name the function asked for."""
    metadata = manifest.setdefault("metadata", {})
    if existing is not None:
        kept = {k: v for k, v in existing["metadata"].items() if k in _NAMES}
        manifest["metadata"] = {**{k: v for k, v in metadata.items() if k not in _NAMES}, **kept}


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
    """The name of a composed resource for which the function returned none (crossplane v2.4, internal/names)."""
    suffix = digest(uid + key)[:_HASH]
    parent = prefix if not prefix or prefix.endswith("-") else f"{prefix}-"
    if len(parent + suffix) <= _LONGEST_NAME:
        return parent + suffix
    room = _LONGEST_NAME - _HASH
    return (parent[:room] if parent[room - 1] == "-" else f"{parent[: room - 1]}-") + suffix


def reference_to(xr: Manifest, manifest: Manifest) -> dict[str, str]:
    """The entry for a composed resource in the XR's `resourceRefs`."""
    namespace = "" if xr["metadata"].get("namespace") else manifest["metadata"].get("namespace") or ""
    reference = {"apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "name": manifest["metadata"]["name"]}
    return {**reference, "namespace": namespace} if namespace else reference


def referenced(xr: Manifest, reference: Mapping[str, object]) -> Ref:
    """The object that an entry of the XR's `resourceRefs` names."""
    namespace = xr["metadata"].get("namespace") or reference.get("namespace") or ""
    return Ref(str(reference["apiVersion"]), str(reference["kind"]), str(namespace), str(reference["name"]))


def controller_uid(manifest: Manifest) -> str:
    """The uid of an object's controller; empty if it has none."""
    owners = manifest["metadata"].get("ownerReferences") or ()
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
