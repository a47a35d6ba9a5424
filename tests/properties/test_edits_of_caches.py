"""Whatever is edited, what a ModelCache wrote to a cluster is never asked to become what it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function import registry
from function.core import Request, Result, dig, plain
from function.kinds.modelcache.compose import gibibytes
from function.sandbox.settle import settle
from function.vocabulary import versions
from tests.support import arrivals, replicas

patterns = st.lists(st.sampled_from(["*.gguf", "*.json"]), unique=True)
endpoints = st.sampled_from(["https://a.example.org", "https://b.example.org"])
repositories = st.fixed_dictionaries(
    {
        "repo": st.sampled_from(["Qwen/Qwen3-8B", "Qwen/Qwen3-32B"]),
        "revision": st.sampled_from(["main", "v1.1"]),
        "sizeGiB": st.integers(1, 200),
    },
    optional={
        "authSecret": st.sampled_from([{"name": "hub"}, {"name": "hub", "key": "other"}]),
        "include": patterns,
        "endpoint": endpoints,
    },
)
buckets = st.fixed_dictionaries(
    {"bucket": st.sampled_from(["models", "others"]), "sizeGiB": st.integers(1, 200)},
    optional={
        "prefix": st.sampled_from(["main", "qwen3/8b"]),
        "authSecret": st.just({"name": "hub"}),
        "exclude": patterns,
        "endpoint": endpoints,
        "servedModelName": st.just("qwen3"),
    },
)
entries = st.fixed_dictionaries(
    {"claimName": st.sampled_from(["weights", "others"])},
    optional={
        "subPath": st.sampled_from(["main", "qwen3/8b"]),
        "clusterSelector": st.sampled_from([{}, {"matchLabels": {"site": "a"}}, {"matchLabels": {"site": "b"}}]),
    },
)
claims = st.fixed_dictionaries({"claims": st.lists(entries, min_size=1, max_size=2)})
proxies = st.none() | st.sampled_from(
    [
        {"httpsProxy": "http://proxy.example.org:3128"},
        {"secretRef": {"name": "hub"}},
        {"caBundle": {"configMapRef": {"name": "authorities"}}},
    ]
)
downloads = st.one_of(
    st.tuples(st.just("HuggingFace"), st.just("huggingFace"), repositories, proxies),
    st.tuples(st.just("S3"), st.just("s3"), buckets, proxies),
)
provided = st.tuples(st.just("PersistentVolumeClaim"), st.just("persistentVolumeClaim"), claims, st.none())
sources = st.one_of(downloads, provided).map(
    lambda made: {"source": made[0], made[1]: made[2], **({"proxy": made[3]} if made[3] else {})}
)
"""The specs of all sources."""
tokens = st.dictionaries(
    st.sampled_from(["HF_TOKEN", "other", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY"]),
    st.sampled_from(["YQ==", "Yg=="]),
)
classes = st.none() | st.sampled_from(["efs", "filestore"])
taints = st.lists(st.sampled_from(["dedicated", "spot"]), unique=True)
moments = st.tuples(sources, tokens, classes, taints)
"""A spec, what is in the Secret, and the cluster's storage class and taints."""

Moment = tuple[dict[str, Any], dict[str, str], str | None, list[str]]


@given(moments, moments)
def test_an_edit_never_changes_what_is_immutable(first: Moment, second: Moment) -> None:
    """A claim keeps its class and never shrinks, a Job its pods, a Secret its values: for every key that both have."""
    before = _composed(Request(xr=_cache(first[0])), first)
    there = {k: dig(r.manifest, "spec", "forProvider", "manifest") for k, r in before.resources.items()}
    request = arrivals.edited(arrivals.again(Request(xr=_cache(first[0])), before, lambda _: {}), _cache(second[0]))

    after = _composed(request, second)

    for key, manifest in there.items():
        composed = after.resources.get(key)
        if composed is not None:
            wanted = dig(composed.manifest, "spec", "forProvider", "manifest")
            assert _fixed(manifest) == _fixed(wanted), key
            assert _size(manifest) <= _size(wanted), key


answers = st.sampled_from(["complete", "failed", "nothing"])


@pytest.mark.slow
@given(st.lists(st.tuples(moments, answers), min_size=2, max_size=4))
def test_no_edit_takes_a_mount_away_from_a_replica(steps: list[tuple[Moment, str]]) -> None:
    """Once weights are published for a cluster, each further status publishes some that can be mounted there: a claim
    of others, or the cache's own while its volume is composed."""
    request, is_published = Request(xr=_cache(steps[0][0][0])), False
    for moment, how in steps:
        request = arrivals.edited(request, _cache(moment[0]))
        for _ in range(3):
            result = _composed(request, moment, MOUNTS)
            found = next((s for s in result.status.get("clusters", ()) if s["name"] == "east"), {})
            assert not is_published or found.get("claimName") or found.get("staged")
            is_published = is_published or bool(found.get("claimName") or found.get("staged"))
            if found.get("staged") and not found.get("claimName"):
                assert "claim-east" in result.resources
            request = _again(request, result, how)


MOUNTS = {
    "apiVersion": versions.MODELPLANE,
    "kind": "ModelReplica",
    "metadata": {"name": "chat", "namespace": "ml"},
    "spec": {"clusterName": "east", "modelCacheRef": {"name": "weights"}},
}


def _again(request: Request, result: Result, how: str) -> Request:
    """The next pass, once everything is there and Jobs have ended in that way."""
    objects = {key: r for key, r in result.resources.items() if r.manifest["kind"] == "Object"}
    after = arrivals.again(request, replace(result, resources=objects), lambda manifest: _ended(manifest, how))
    others = {key: plain(r.manifest) for key, r in result.resources.items() if key not in objects}
    return replace(after, observed={**after.observed, **others})


def _ended(manifest: dict[str, Any], how: str) -> dict[str, Any]:
    if manifest["kind"] == "PersistentVolumeClaim":
        return {"phase": "Bound" if how == "complete" else "Lost"}
    if manifest["kind"] == "Job" and how != "nothing":
        return {"conditions": [{"type": how.capitalize(), "status": "True", "reason": "BackoffLimitExceeded"}]}
    return {}


def _composed(request: Request, moment: Moment, *objects: dict[str, Any]) -> Any:
    _, token, storage_class, tainted = moment
    cluster = {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "east", "labels": {"site": "a"}},
        "spec": {"cluster": {"source": "Existing"}},
        "status": {
            "providerConfigRef": {"name": "east-0f6b2f5e"},
            "gpuPools": [
                {"name": "gpu", "nodes": 1, "taints": [{"key": key, "effect": "NoSchedule"} for key in tainted]}
            ],
            **({"cache": {"storageClassName": storage_class}} if storage_class else {}),
        },
    }
    secret = [replicas.secret("hub", **token)] if token else []
    return settle(registry.compose, request, [cluster, AUTHORITIES, *secret, *objects])


AUTHORITIES = {
    "apiVersion": versions.CORE,
    "kind": "ConfigMap",
    "metadata": {"name": "authorities", "namespace": "ml"},
    "data": {"ca.crt": "-----BEGIN CERTIFICATE-----"},
}


def _cache(spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "ml"},
        "spec": spec,
    }


def _fixed(manifest: dict[str, Any]) -> Any:
    """What no update may change: name, kind, and of a spec what its API server holds fast."""
    identity = manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"]
    if manifest["kind"] == "PersistentVolumeClaim":
        return identity, {key: value for key, value in manifest.get("spec", {}).items() if key != "resources"}
    if manifest["kind"] == "Job":
        return identity, manifest["spec"]["template"], manifest["spec"].get("selector")
    if manifest.get("immutable"):
        return identity, manifest["type"], manifest["data"]
    return identity


def _size(manifest: dict[str, Any]) -> int:
    return gibibytes(dig(manifest, "spec", "resources", "requests", "storage"))
