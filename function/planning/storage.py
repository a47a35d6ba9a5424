"""The statuses of volume claims, and of the Jobs that fill them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from function.core import Condition, Manifest, dig, dig_list, dig_text
from function.sandbox.conditions import with_conditions
from function.sandbox.store import Ref
from function.vocabulary import versions

KINDS = ("PersistentVolumeClaim", "Job")
_COMPLETE = (
    Condition("SuccessCriteriaMet", "True", "CompletionsReached"),
    Condition("Complete", "True", "CompletionsReached"),
)


def status(manifest: Manifest, existing: Collection[Ref], exit_code: int = 0) -> dict[str, Any]:
    """Return the status that a controller writes.

    A claim is bound if its StorageClass exists, and so is one that is assumed to be there. A Job ends with `exit_code`
    as soon as its claims exist.
    """
    if manifest["kind"] == "PersistentVolumeClaim":
        return {"phase": "Bound" if "spec" not in manifest or _has_class(manifest, existing) else "Pending"}
    if not all(
        Ref("v1", "PersistentVolumeClaim", _namespace(manifest), name) in existing for name in _claims(manifest)
    ):
        return {"active": 1}
    ended = _COMPLETE if exit_code == 0 else (_failed(manifest, exit_code),)
    return {"conditions": with_conditions([], ended, None)}


def _failed(manifest: Manifest, exit_code: int) -> Condition:
    """The condition that Kubernetes' Job controller writes (v1.34)."""
    final = dig_list(manifest, "spec", "podFailurePolicy", "rules", 1, "onExitCodes", "values")
    if exit_code not in final:
        return Condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    container = dig(manifest, "spec", "template", "spec", "containers", 0, "name")
    pod = f"{_namespace(manifest)}/{manifest['metadata']['name']}-x"
    why = f"Container {container} for pod {pod} failed with exit code {exit_code} matching FailJob rule at index 1"
    return Condition("Failed", "True", "PodFailurePolicy", why)


def _has_class(manifest: Manifest, existing: Collection[Ref]) -> bool:
    name = dig_text(manifest, "spec", "storageClassName") or ""
    return Ref(versions.STORAGE, "StorageClass", "", name) in existing


def _claims(manifest: Manifest) -> list[str]:
    volumes = dig_list(manifest, "spec", "template", "spec", "volumes")
    found = (dig_text(volume, "persistentVolumeClaim", "claimName") for volume in volumes)
    return [name for name in found if name]


def _namespace(manifest: Manifest) -> str:
    return manifest["metadata"].get("namespace") or ""
