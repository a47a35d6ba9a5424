"""EKSClusters, and what becomes of them when AWS makes whatever is composed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from function import registry
from function.clouds.eks import kinds
from function.clouds.eks.observe import observe
from function.core import Request, Result, plain
from function.sandbox.settle import settle
from function.vocabulary import crossplane, versions

CONFIG = {
    "apiVersion": "aws.m.upbound.io/v1beta1",
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": kinds.ASSUMED_CONFIG,
}
READY = [{"type": type_, "status": "True", "reason": "Available"} for type_ in ("Ready", "Synced")]
L4 = {
    "name": "l4",
    "className": "eks-l4-1x-g6",
    "nodeCount": 2,
    "maxNodeCount": 8,
    "machine": {"instanceType": "g6.2xlarge"},
    "drivers": ["gpu.nvidia.com"],
}
H100 = {
    "name": "h100",
    "className": "eks-h100-8x-p5",
    "nodeCount": 2,
    "zones": ["us-east-1c"],
    "machine": {"instanceType": "p5.48xlarge"},
    "drivers": ["dra.net", "gpu.nvidia.com"],
    "fabric": {"type": "EFA"},
}


def xr(*pools: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    owner = {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "name": "east", "uid": "1"}
    return {
        "apiVersion": versions.INFRASTRUCTURE,
        "kind": "EKSCluster",
        "metadata": {
            "name": "east-0a1b2c3d",
            "namespace": "modelplane-system",
            "uid": "2f6b1d0c",
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {"clusterName": "east", "region": "us-east-1", **spec, "nodePools": [*pools]},
    }


def compose(xr: Mapping[str, Any], observed: Mapping[str, Any] | None = None) -> Result:
    return settle(registry.compose, Request(xr=xr, observed=observed or {}), [CONFIG])


def manifests(result: Result) -> dict[str, Any]:
    """What is composed, without Usages."""
    found = {key: plain(resource.manifest) for key, resource in result.resources.items()}
    return {key: manifest for key, manifest in found.items() if manifest["kind"] != "Usage"}


def parameters(result: Result, key: str) -> Any:
    return manifests(result)[key]["spec"]["forProvider"]


def made(result: Result) -> dict[str, Any]:
    """What is observed once all that is composed has come up."""
    return {key: _made(key, plain(resource.manifest)) for key, resource in result.resources.items()}


def _made(key: str, manifest: dict[str, Any]) -> dict[str, Any]:
    annotations = {**manifest["metadata"].get("annotations", {}), crossplane.COMPOSITION_KEY: key}
    status: dict[str, Any] = {"conditions": READY}
    if ".aws.m." in manifest["apiVersion"]:
        status["atProvider"] = plain(observe(manifest).at_provider)
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}, "status": status}


def rounds(xr: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is observed after each pass, until nothing is added. It is the caller's to change."""
    found: list[dict[str, Any]] = json.loads(_rounds(json.dumps(xr)))
    return found


@cache
def _rounds(xr: str) -> str:
    found: list[dict[str, Any]] = [{}]
    while len(found) == 1 or found[-1] != found[-2]:
        found.append(made(compose(json.loads(xr), found[-1])))
    return json.dumps(found[1:-1])


def running(xr: Mapping[str, Any]) -> dict[str, Any]:
    """What is observed once a cluster runs. It is the caller's to change."""
    return rounds(xr)[-1]
