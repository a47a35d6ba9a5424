"""Turn observed resources back into desired ones.

Crossplane deletes every composed resource that a response leaves out, so a composer that cannot decide repeats what it
observes. It repeats only the fields that we wrote. Otherwise server-side apply would make us the owner of fields that
controllers and API servers filled in, and would undo their next change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import json_text
from function.core.manifest import Manifest, dig, dig_list, is_list, is_ready, plain
from function.core.result import ComposedResource

_OUR_MANAGER = "apiextensions.crossplane.io/composed/"
"""Prefix of the field manager that applies composed resources (crossplane v2.3, controller/apiextensions/composite)."""
_WRITTEN_METADATA = ("name", "namespace", "labels", "annotations")
_OWNABLE_METADATA = (*_WRITTEN_METADATA, "finalizers")
"""Finalizers are restated only where `managedFields` tells which are ours."""
_OTHERS_PREFIXES = ("crossplane.io/", "kubectl.kubernetes.io/", "usage.crossplane.io/")
_EXTERNAL_NAME = "crossplane.io/external-name"
"""A key of Crossplane's that we set if a remote object has a name of our choice. Without it, it would be another
object."""
_NOT_OURS = ("status", "metadata")


def restate(observed: Manifest) -> dict[str, Any]:
    """Turn an observed resource into a desired one.

    Keep the fields that we own according to `managedFields`. If these do not name us, keep everything except what API
    servers set.
    """
    owned = _owned_fields(observed)
    body = {k: v for k, v in observed.items() if k not in _NOT_OURS}
    metadata = {k: v for k, v in observed["metadata"].items() if k in _WRITTEN_METADATA}
    if owned is not None:
        body = _identity_of(observed) | _only(body, owned)
        named = {k: v for k, v in metadata.items() if k in ("name", "namespace")}
        ownable = {k: v for k, v in observed["metadata"].items() if k in _OWNABLE_METADATA}
        metadata = named | _only(ownable, owned.get("f:metadata", {}))
    body = plain(body)
    if isinstance(body.get("spec"), dict):
        body["spec"].pop("crossplane", None)  # applying an old copy of it would undo a composed XR's own reconcile
    return _without_blanks(body) | {"metadata": _ours(plain(metadata))}


def restate_spec(observed: Manifest) -> dict[str, Any]:
    """Return the spec of an observed resource as we wrote it, or all of it if `managedFields` names none of it."""
    return restate(observed).get("spec") or plain(observed.get("spec")) or {}


def restate_resource(observed: Manifest) -> ComposedResource:
    """Return an observed resource as a composed one: as it is, and as ready as it is."""
    return ComposedResource(restate(observed), is_ready(observed))


def _identity_of(observed: Manifest) -> dict[str, Any]:
    return {"apiVersion": observed["apiVersion"], "kind": observed["kind"]}


def _ours(metadata: dict[str, Any]) -> dict[str, Any]:
    for field in ("labels", "annotations"):
        kept = {k: v for k, v in (metadata.pop(field, None) or {}).items() if _is_ours(k)}
        if kept:
            metadata[field] = kept
    if not metadata.get("finalizers", True):
        del metadata["finalizers"]
    return metadata


def _is_ours(key: str) -> bool:
    return key == _EXTERNAL_NAME or not key.startswith(_OTHERS_PREFIXES)


def _without_blanks(body: dict[str, Any]) -> dict[str, Any]:
    """Drop top-level blocks of which nothing is left."""
    return {k: v for k, v in body.items() if v not in ({}, None)}


def _owned_fields(observed: Manifest) -> Mapping[str, Any] | None:
    """Return the fieldsV1 tree of what we applied, or None if `managedFields` does not name us."""
    for entry in dig_list(observed, "metadata", "managedFields"):
        is_ours = str(dig(entry, "manager") or "").startswith(_OUR_MANAGER) and dig(entry, "operation") == "Apply"
        if is_ours and not dig(entry, "subresource"):
            fields = dig(entry, "fieldsV1")
            return fields if isinstance(fields, Mapping) else None
    return None


def _only(value: Any, owned: Any) -> Any:
    """Return the part of a value that a fieldsV1 tree names. A leaf of the tree owns everything below it."""
    if not isinstance(owned, Mapping) or not any(key != "." for key in owned):
        return value
    if isinstance(value, Mapping):
        return {k: _only(v, owned[f"f:{k}"]) for k, v in value.items() if f"f:{k}" in owned}
    if is_list(value):
        return [_only(item, tree) for item in value if (tree := _tree_of(item, owned)) is not None]
    return value


def _tree_of(item: Any, owned: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the subtree for a list item: by its keys (`k:`), or by its value (`v:`) in a set."""
    for key, tree in owned.items():
        if key.startswith("k:") and isinstance(item, Mapping):
            wanted = _parsed(key)
            if isinstance(wanted, dict) and all(item.get(name) == value for name, value in wanted.items()):
                found: Mapping[str, Any] = tree
                return found
        if key.startswith("v:") and _parsed(key) == item:
            return {}
    return None


def _parsed(key: str) -> Any:
    """Return the value in the key of a fieldsV1 tree, or the key if its value is not JSON."""
    value = json_text.parse(key[2:])
    return key if value is None else value
