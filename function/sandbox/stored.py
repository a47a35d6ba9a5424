"""An object as the API server stores it, with the owners of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, dig_fields, dig_objects, plain
from function.sandbox import apply
from function.sandbox.fields import Marks

_SERVER_SET = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields")
IDENTITY: apply.Tree = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {f"f:{k}": {} for k in ("name", "namespace", *_SERVER_SET)},
}


@dataclass(frozen=True, slots=True)
class Intent:
    """The last apply of one field manager."""

    manifest: Mapping[str, Any]
    fields: apply.Tree
    edits: int = -1
    """The object's `edits` after this apply."""


@dataclass(slots=True)
class Stored:
    """An object, with its field managers."""

    manifest: dict[str, Any]
    intents: dict[str, Intent] = field(default_factory=dict)
    """By field manager. Status managers have the suffix /status."""
    edits: int = 0
    """Counts writes, except those of only the status."""
    marks: Marks = frozenset()
    """What it is found by, once it is stored."""

    def copied(self) -> Stored:
        """A copy with its own intents. Manifests are shared."""
        return Stored(self.manifest, dict(self.intents), self.edits, self.marks)


def copied(manifest: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """A copy to change. `managedFields` are shared, because they are written anew; without `whole`, all but metadata
    and status is shared too."""
    metadata = {k: v if k == "managedFields" else plain(v) for k, v in manifest["metadata"].items()}
    rest = {k: plain(v) if whole or k == "status" else v for k, v in manifest.items() if k != "metadata"}
    return {**rest, "metadata": metadata}


def owned(intent: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an applied object, without its identity and server-set metadata."""
    body = {k: v for k, v in intent.items() if k not in ("apiVersion", "kind", "metadata")}
    metadata = {k: v for k, v in intent["metadata"].items() if k not in ("name", "namespace", *_SERVER_SET)}
    return {**({"metadata": metadata} if metadata else {}), **body}


def managed(api_version: str, intents: Mapping[str, Intent]) -> list[dict[str, Any]]:
    """An object's `metadata.managedFields`."""
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
    """The field managers in a dumped object's `managedFields`."""
    return {
        f"{entry['manager']}{'/status' if entry.get('subresource') else ''}": Intent({}, dig_fields(entry, "fieldsV1"))
        for entry in dig_objects(manifest, "metadata", "managedFields")
        if entry.get("operation") == "Apply"
    }
