"""What provider-kubernetes makes of an Object (provider-kubernetes v1.2.1): its policies, its readiness, its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import cel
from function.core import Condition, Manifest, dig, plain
from function.sandbox.conditions import with_conditions
from function.sandbox.store import Ref, Store

SYNCED = Condition("Synced", "True", "ReconcileSuccess")

AVAILABLE = Condition("Ready", "True", "Available")

UNAVAILABLE = Condition("Ready", "False", "Unavailable")


def say(store: Store, ref: Ref, at_provider: Mapping[str, Any] | None, *said: Condition) -> None:
    """Most of what is said was said before: then nothing is written."""
    found = store.get(ref)
    if found is None:
        return
    status = found.get("status") or {}
    generation = found["metadata"]["generation"]
    conditions = with_conditions(status.get("conditions") or [], said, generation)
    if conditions == status.get("conditions") and at_provider in (None, status.get("atProvider")):
        return

    def write(manifest: dict[str, Any]) -> None:
        written = manifest.setdefault("status", {})
        if at_provider is not None:
            written["atProvider"] = plain(at_provider)
        written["conditions"] = conditions

    store.update(ref, write, status=True)


def is_ready(manifest: Manifest, remote: Manifest) -> bool:
    readiness = dig(manifest, "spec", "readiness") or {}
    match readiness.get("policy"):
        case "DeriveFromCelQuery":
            return _holds(readiness["celQuery"], remote)
        case "DeriveFromObject":
            return any(
                c["type"] == "Ready" and c["status"] == "True" for c in dig(remote, "status", "conditions") or ()
            )
        case "AllTrue":
            return all(c["status"] == "True" for c in dig(remote, "status", "conditions") or ())
        case _:
            return True


def _holds(query: str, remote: Manifest) -> bool:
    """What does not compile or cannot be evaluated does not hold; the provider says no more either."""
    try:
        return cel.query(query).evaluate(object=remote)
    except (cel.InvalidSelector, cel.EvaluationFailed):
        return False


def config(manifest: Manifest) -> str:
    reference = (manifest.get("spec") or {}).get("providerConfigRef") or {}  # asked more often than anything else
    return str(reference.get("name") or "default")


def _policies(manifest: Manifest) -> tuple[str, ...]:
    return tuple(dig(manifest, "spec", "managementPolicies") or ("*",))


def observes_only(manifest: Manifest) -> bool:
    return _policies(manifest) == ("Observe",)


def may_delete(manifest: Manifest) -> bool:
    return bool({"*", "Delete"} & set(_policies(manifest)))
