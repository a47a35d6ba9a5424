"""An object as the API server keeps it, and who owns which of its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, dig, plain
from function.sandbox import apply

_SERVER_SET = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields")
IDENTITY: apply.Tree = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {f"f:{k}": {} for k in ("name", "namespace", *_SERVER_SET)},
}


@dataclass(frozen=True, slots=True)
class Intent:
    """What one field manager last applied."""

    manifest: Mapping[str, Any]
    fields: apply.Tree
    edits: int = -1
    """Edits of the object by then."""


@dataclass(slots=True)
class Stored:
    """An object, with its owners."""

    manifest: dict[str, Any]
    intents: dict[str, Intent] = field(default_factory=dict)
    """By field manager; the status has managers of its own."""
    edits: int = 0
    """Counts who wrote more than a controller's status."""


def labels_of(stored: Stored | None) -> Mapping[str, str]:
    return (stored.manifest["metadata"].get("labels") or {}) if stored else {}


def copied(manifest: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """A copy to be changed. Who owns what is written anew anyway, and what is not to be changed need not be copied."""
    metadata = {k: v if k == "managedFields" else plain(v) for k, v in manifest["metadata"].items()}
    rest = {k: plain(v) if whole or k == "status" else v for k, v in manifest.items() if k != "metadata"}
    return {**rest, "metadata": metadata}


def owned(intent: Mapping[str, Any]) -> dict[str, Any]:
    """What an applied object says beyond who it is."""
    body = {k: v for k, v in intent.items() if k not in ("apiVersion", "kind", "metadata")}
    metadata = {k: v for k, v in intent["metadata"].items() if k not in ("name", "namespace", *_SERVER_SET)}
    return {**({"metadata": metadata} if metadata else {}), **body}


def managed(api_version: str, intents: Mapping[str, Intent]) -> list[dict[str, Any]]:
    return [
        {
            "manager": owner.removesuffix("/status"),
            "operation": "Apply",
            "apiVersion": api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": intent.fields,
            **({"subresource": "status"} if owner.endswith("/status") else {}),
        }
        for owner, intent in sorted(intents.items())
    ]


def intents_of(manifest: Manifest) -> dict[str, Intent]:
    """The owners that a dump of an object names."""
    entries: Iterable[Any] = dig(manifest, "metadata", "managedFields") or ()
    return {
        entry["manager"] + ("/status" if entry.get("subresource") else ""): Intent({}, entry.get("fieldsV1") or {})
        for entry in entries
        if entry.get("operation") == "Apply"
    }
