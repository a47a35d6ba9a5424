"""Replicas with good defaults, and the cluster that they are pinned to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from function import registry
from function.core import Manifest, Request, Result
from function.sandbox.settle import settle
from function.vocabulary import labels, versions

GPU = {"name": "gpu", "deviceClassName": "gpu.nvidia.com"}
OWNER = {
    "apiVersion": versions.MODELPLANE,
    "kind": "ModelDeployment",
    "name": "qwen",
    "uid": "9f0d8c1e-2f55-4d3c-9a64-5f6f2f0b9d11",
    "controller": True,
}
VLLM = "vllm/vllm-openai:v0.33.0"


def container(*args: str, image: str = VLLM, **fields: Any) -> dict[str, Any]:
    return {"name": "engine", "image": image, **({"args": list(args)} if args else {}), **fields}


def member(
    *args: str, role: str = "Standalone", pool: str = "gpu", claims: Sequence[Any] = (GPU,), **fields: Any
) -> Any:
    pod = {name: fields.pop(name) for name in ("imagePullSecrets", "serviceAccountName") if name in fields}
    metadata = {"metadata": fields.pop("metadata")} if "metadata" in fields else {}
    worker = {"worker": {"nodes": fields.pop("nodes")}} if "nodes" in fields else {}
    template = {**metadata, "spec": {"containers": [container(*args, **fields)], **pod}}
    requests = {"deviceRequests": list(claims)} if claims else {}
    return {"role": role, "nodePoolName": pool, **worker, **requests, "template": template}


def engine(name: str = "qwen", *members: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "members": list(members) or [member("Qwen/Qwen3-8B")], **fields}


def gang(name: str = "qwen", *, nodes: int = 1, **fields: Any) -> dict[str, Any]:
    return engine(name, member(role="Leader"), member(role="Worker", nodes=nodes), **fields)


def split(prefill: Any = None, decode: Any = None, **fields: Any) -> dict[str, Any]:
    """A spec of PrefillDecode, of the given members."""
    engines = [
        engine("prefill", prefill or member("Qwen/Qwen3-8B"), phase="Prefill"),
        engine("decode", decode or member("Qwen/Qwen3-8B"), phase="Decode"),
    ]
    return {"serving": {"mode": "PrefillDecode"}, "engines": engines, **fields}


def replica(*engines: Any, name: str = "qwen-1a2b3c4d", namespace: str = "ml", **spec: Any) -> dict[str, Any]:
    given = {"engines": list(engines)} if engines else {}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelReplica",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {labels.RENDERING: str(versions.RENDERING)},
            "ownerReferences": [OWNER],
        },
        "spec": {"clusterName": "east", "engines": [engine()], **spec, **given},
    }


def cluster(*pools: str, taints: Mapping[str, Any] | None = None) -> dict[str, Any]:
    published = [
        {"name": pool, "nodes": 8, "taints": list((taints or {}).get(pool, ()))} for pool in pools or ("gpu", "cpu")
    ]
    status = {"providerConfigRef": {"name": "east-0f6b2f5e"}, "gpuPools": published}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "east"},
        "status": status,
    }


def secret(name: str, namespace: str = "ml", type_: str = "Opaque", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace},
        "type": type_,
        "data": data,
    }


def cache(*, staged: str | None, repo: str = "Qwen/Qwen3-8B") -> dict[str, Any]:
    weights = {"staged": staged, "repo": repo} if staged else {}
    there = {"name": "east", "phase": "Ready" if staged else "Hydrating", **weights}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "ml"},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": repo, "sizeGiB": 20}},
        "status": {"clusters": [there]},
    }


def compose(request: Request | Manifest, *objects: Manifest) -> Result:
    """The settled answer; the cluster is there unless something else is given for it."""
    asked = request if isinstance(request, Request) else Request(xr=request)
    there = objects if any(o["kind"] == "InferenceCluster" for o in objects) else (*objects, cluster())
    return settle(registry.compose, replace(asked, required={}), list(there))


def manifests(result: Result) -> dict[str, Any]:
    """What the composed Objects carry, by key."""
    return {key: dict(r.manifest["spec"]["forProvider"]["manifest"]) for key, r in result.resources.items()}


def said(result: Result, type_: str) -> str:
    """A condition as `True Reason: message`."""
    found = next(c for c in result.conditions if c.type == type_)
    return f"{found.status} {found.reason}: {found.message}"
