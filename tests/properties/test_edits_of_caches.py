"""Whatever is edited, what a ModelCache wrote to a cluster is never asked to become what it cannot."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from function import registry
from function.core import Request, dig
from function.kinds.modelcache.compose import gibibytes
from function.sandbox.settle import settle
from function.vocabulary import versions
from tests.support import arrivals, replicas

sources = st.fixed_dictionaries(
    {
        "repo": st.sampled_from(["Qwen/Qwen3-8B", "Qwen/Qwen3-32B"]),
        "revision": st.sampled_from(["main", "v1.1"]),
        "sizeGiB": st.integers(1, 200),
    },
    optional={"authSecret": st.sampled_from([{"name": "hub"}, {"name": "hub", "key": "other"}])},
)
tokens = st.dictionaries(st.sampled_from(["HF_TOKEN", "other"]), st.sampled_from(["YQ==", "Yg=="]))
classes = st.none() | st.sampled_from(["efs", "filestore"])
taints = st.lists(st.sampled_from(["dedicated", "spot"]), unique=True)
moments = st.tuples(sources, tokens, classes, taints)
"""A spec, what is in the token's Secret, and the cluster's storage class and taints."""

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


def _composed(request: Request, moment: Moment) -> Any:
    _, token, storage_class, tainted = moment
    cluster = {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "east"},
        "spec": {"cluster": {"source": "Existing"}},
        "status": {
            "providerConfigRef": {"name": "east-0f6b2f5e"},
            "gpuPools": [
                {"name": "gpu", "nodes": 1, "taints": [{"key": key, "effect": "NoSchedule"} for key in tainted]}
            ],
            **({"cache": {"storageClassName": storage_class}} if storage_class else {}),
        },
    }
    return settle(registry.compose, request, [cluster, *([replicas.secret("hub", **token)] if token else [])])


def _cache(source: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": "ml"},
        "spec": {"source": "HuggingFace", "huggingFace": source},
    }


def _fixed(manifest: dict[str, Any]) -> Any:
    """What no update may change: name, kind, and of a spec what its API server holds fast."""
    identity = manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"]
    if manifest["kind"] == "PersistentVolumeClaim":
        return identity, {key: value for key, value in manifest["spec"].items() if key != "resources"}
    if manifest["kind"] == "Job":
        return identity, manifest["spec"]["template"], manifest["spec"].get("selector")
    if manifest.get("immutable"):
        return identity, manifest["type"], manifest["data"]
    return identity


def _size(manifest: dict[str, Any]) -> int:
    return gibibytes(dig(manifest, "spec", "resources", "requests", "storage"))
