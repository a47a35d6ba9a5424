"""What a case renders, taken apart: Objects, the manifests in them, the pods in those."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from function.core import ComposedResource, dig, plain

Manifest = dict[str, Any]


def remote(resources: Mapping[str, ComposedResource]) -> list[Manifest]:
    """The manifests that Objects carry to a cluster. What they only observe, or delete, is a reference."""
    specs = [dig(plain(r.manifest), "spec") or {} for r in resources.values() if r.manifest.get("kind") == "Object"]
    written = [dig(s, "forProvider", "manifest") for s in specs if "Create" in s.get("managementPolicies", ["Create"])]
    return [manifest for manifest in written if manifest]


def templates(manifest: Manifest) -> Iterator[Manifest]:
    """The pod templates of a workload."""
    gang = dig(manifest, "spec", "leaderWorkerTemplate") or {}
    for template in (dig(manifest, "spec", "template"), gang.get("leaderTemplate"), gang.get("workerTemplate")):
        if template and manifest["kind"] in ("Deployment", "LeaderWorkerSet", "Job"):
            yield template


def containers(template: Manifest) -> list[Manifest]:
    return [*template["spec"].get("initContainers", ()), *template["spec"]["containers"]]


def pod(template: Manifest) -> Manifest:
    """A template as the pod that it makes."""
    metadata = {"name": "pod", "namespace": "default", **template.get("metadata", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
