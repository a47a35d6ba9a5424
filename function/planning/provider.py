"""The rules of provider-kubernetes v1.2.1 for an Object: management policies, readiness, status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import cel
from function.core import Condition, Manifest, dig, dig_fields, dig_objects, dig_texts, plain
from function.sandbox.conditions import with_conditions
from function.sandbox.store import Ref, Store
from function.vocabulary import crossplane

FINALIZER = "finalizer.managedresource.crossplane.io"
"""Finalizer of a managed resource, until what it manages is deleted (crossplane-runtime v2.4)."""

IN_USE = "in-use.crossplane.io"
"""Finalizer of a provider config that something uses (crossplane-runtime v2, providerconfig)."""

SYNCED = Condition("Synced", "True", "ReconcileSuccess")

AVAILABLE = Condition("Ready", "True", "Available")

UNAVAILABLE = Condition("Ready", "False", "Unavailable")


def write_status(store: Store, ref: Ref, at_provider: Mapping[str, Any] | None, *conditions: Condition) -> None:
    """Write a managed resource's conditions, and `status.atProvider` unless it is None.

    Most calls change nothing, and then nothing is copied either.
    """
    found = store.get(ref)
    if found is None:
        return
    status = found.get("status") or {}
    generation = found["metadata"]["generation"]
    merged = with_conditions(status.get("conditions") or [], conditions, generation)
    if merged == status.get("conditions") and at_provider in (None, status.get("atProvider")):
        return

    def write(manifest: dict[str, Any]) -> None:
        written = manifest.setdefault("status", {})
        if at_provider is not None:
            written["atProvider"] = plain(at_provider)
        written["conditions"] = merged

    store.update(ref, write, status=True)


def is_ready(manifest: Manifest, remote: Manifest) -> bool:
    """Whether an Object is ready by its readiness policy, given the remote object."""
    match dig(manifest, "spec", "readiness", "policy"):
        case "DeriveFromCelQuery":
            return _holds(str(dig(manifest, "spec", "readiness", "celQuery")), remote)
        case "DeriveFromObject":
            return any(
                c["type"] == "Ready" and c["status"] == "True" for c in dig_objects(remote, "status", "conditions")
            )
        case "AllTrue":
            return all(c["status"] == "True" for c in dig_objects(remote, "status", "conditions"))
        case _:
            return True


def _holds(query: str, remote: Manifest) -> bool:
    """A query that does not compile or fails is false. The provider does not report more either."""
    try:
        return cel.query(query).evaluate(object=remote)
    except (cel.InvalidSelector, cel.EvaluationFailed):
        return False


def config(manifest: Manifest) -> str:
    """The name of a managed resource's provider config."""
    reference = (manifest.get("spec") or {}).get("providerConfigRef") or {}  # not `dig`: most frequent call
    return str(reference.get("name") or "default")


def carried(manifest: Manifest) -> Manifest:
    """The manifest of the remote object that an Object stands for."""
    return dig_fields(manifest, "spec", "forProvider", "manifest")


def is_paused(manifest: Manifest) -> bool:
    """Whether the provider leaves a managed resource alone, also if it is deleted."""
    return bool(dig(manifest, "metadata", "annotations", crossplane.PAUSED) == "true")


def _policies(manifest: Manifest) -> tuple[str, ...]:
    return dig_texts(manifest, "spec", "managementPolicies") or ("*",)


def may_create(manifest: Manifest) -> bool:
    """Whether the provider makes the remote object. One that it only observes, or deletes, is made by others."""
    return bool({"*", "Create"} & set(_policies(manifest)))


def may_delete(manifest: Manifest) -> bool:
    """Whether the remote object is deleted with the Object."""
    return bool({"*", "Delete"} & set(_policies(manifest)))
