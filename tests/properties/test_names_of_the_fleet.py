"""Whatever a cluster or a cache is called, what it composes has legal names that nothing else has."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from function import registry
from function.core import Request, Result, dig
from function.kinds.modelcache.inputs import CLUSTERS
from function.vocabulary import versions
from tests.support import stacks

DNS_1123 = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")

xr_names = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,29}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,29}[a-z0-9])?)?", fullmatch=True)
namespaces = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
repos = st.sampled_from(["Qwen/Qwen3-8B", "a/b", f"{'o' * 96}/{'m' * 96}"])
revisions = st.from_regex(r"[A-Za-z0-9_]([-A-Za-z0-9_./]{0,60}[A-Za-z0-9_])?", fullmatch=True).filter(
    lambda revision: ".." not in revision
)


def cluster(name: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "uid": f"uid of {name}"},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}},
            "nodePools": [{"name": "l4", "className": "l4"}],
        },
        "status": {"cache": {"storageClassName": "nfs"}, "providerConfigRef": {"name": "config"}},
    }


def stack(name: str) -> Result:
    keys = ("inferencepools", "namespace", "node-feature-discovery", "critical-pods", "envoy-gateway", "ai-gateway")
    return stacks.answer({}, dict.fromkeys(keys, stacks.READY), "GKE", cluster=name)


def cached(namespace: str, name: str, repo: str, revision: str, *on: str) -> Result:
    xr = {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelCache",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": repo, "revision": revision, "sizeGiB": 1}},
    }
    return registry.compose(Request(xr=xr, required={CLUSTERS.name: tuple(map(cluster, on))}))


def identities(result: Result) -> set[tuple[str, ...]]:
    """Of what is composed here."""
    return {
        (m["apiVersion"], m["kind"], m["metadata"].get("namespace") or "", m["metadata"]["name"])
        for m in (r.manifest for r in result.resources.values())
    }


def check(result: Result) -> None:
    for key, composed in result.resources.items():
        for manifest in (composed.manifest, dig(composed.manifest, "spec", "forProvider", "manifest") or {}):
            metadata = manifest.get("metadata") or {}
            name = metadata.get("name") or "x"
            assert len(name) <= 63 or manifest["kind"] == "CustomResourceDefinition", key
            assert DNS_1123.fullmatch(name), (key, name)
            assert all(LABEL_VALUE.fullmatch(v) for v in (metadata.get("labels") or {}).values()), key
    assert len(identities(result)) == len(result.resources)


@pytest.mark.slow
@given(xr_names)
def test_what_a_cluster_composes_is_legal(name: str) -> None:
    check(registry.compose(Request(xr=cluster(name))))
    check(stack(name))


@given(xr_names, xr_names)
def test_two_clusters_share_nothing(one: str, other: str) -> None:
    assume(one != other)

    for compose in (lambda name: registry.compose(Request(xr=cluster(name))), stack):
        assert not identities(compose(one)) & identities(compose(other))


@given(namespaces, xr_names, repos, revisions, st.lists(xr_names, min_size=2, max_size=2, unique=True))
def test_what_a_cache_composes_is_legal(namespace: str, name: str, repo: str, revision: str, on: list[str]) -> None:
    result = cached(namespace, name, repo, revision, *on)

    check(result)
    assert len(result.resources) == 6


@given(st.tuples(namespaces, xr_names), st.tuples(namespaces, xr_names))
def test_two_tenants_caches_share_nothing_here_or_there(one: tuple[str, str], other: tuple[str, str]) -> None:
    """But for a namespace that both are in."""
    assume(one != other)

    def there(result: Result) -> set[tuple[str, str, str]]:
        manifests = [dig(r.manifest, "spec", "forProvider", "manifest") for r in result.resources.values()]
        return {
            (m["kind"], m["metadata"].get("namespace") or "", m["metadata"]["name"])
            for m in manifests
            if m["kind"] != "Namespace"
        }

    first, second = (cached(*who, "Qwen/Qwen3-8B", "main", "edge") for who in (one, other))

    assert not identities(first) & identities(second)
    assert not there(first) & there(second)
