"""Whatever a user edits, what Nebius cannot change stays, and the nodes of a pool are not replaced."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function import registry
from function.clouds.nebius.facts import CLUSTER, MANAGED, NODE_GROUP
from function.clouds.nebius.observe import observe
from function.core import Manifest, Request, Result, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import names, versions

KINDS = {(kind.api_version, kind.kind): kind for kind in MANAGED}
CONFIG = {
    "apiVersion": "nebius.m.upbound.io/v1beta1",
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {
        "projectID": "project-e00main",
        "identity": {"type": "ServiceAccount"},
        "credentials": {"source": "Secret", "secretRef": {"namespace": "a", "name": "b", "key": "c"}},
    },
}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "a", "name": "b"}, "data": {"c": "e30="}}
OWNER = {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "name": "north", "uid": "1", "controller": True}
MACHINES = {
    "small": {"platform": "gpu-h100-sxm", "preset": "1gpu-16vcpu-200gb"},
    "left": {"platform": "gpu-h200-sxm", "preset": "8gpu-128vcpu-1600gb", "diskSizeGb": 500},
    "right": {"platform": "gpu-h200-sxm", "preset": "8gpu-128vcpu-1600gb", "driversPreset": "cuda12.8"},
}
FABRICS = {"left": "fabric-7", "right": "fabric-6"}


def taints() -> st.SearchStrategy[list[dict[str, str]]]:
    effects = st.sampled_from(["NoSchedule", "NoExecute"])
    taint = st.builds(lambda key, effect: {"key": key, "effect": effect}, st.sampled_from("ab"), effects)
    return st.lists(taint, max_size=2, unique_by=lambda taint: (taint["key"], taint["effect"]))


@st.composite
def pools(draw: st.DrawFn) -> list[dict[str, Any]]:
    """What keeps a pool is not drawn: edits of its machine and its fabric are refused."""
    return [draw(pool(name)) for name in draw(st.permutations(sorted(MACHINES)))[: draw(st.integers(1, 3))]]


@st.composite
def pool(draw: st.DrawFn, name: str) -> dict[str, Any]:
    fabric = {"fabric": {"type": "InfiniBand", "infiniband": {"fabric": FABRICS[name]}}} if name in FABRICS else {}
    most = draw(st.none() | st.integers(1, 8))
    least = draw(st.none() | st.integers(0, most)) if most is not None else None
    sizes = {"nodeCount": draw(st.integers(0, 4)), "maxNodeCount": most, "minNodeCount": least}
    return {
        "name": name,
        "className": "c",
        "drivers": ["gpu.nvidia.com"],
        "machine": MACHINES[name],
        "taints": draw(taints()),
        **fabric,
        **{field: value for field, value in sizes.items() if value is not None},
    }


@st.composite
def blocks(draw: st.DrawFn) -> dict[str, Any]:
    """What may be edited later."""
    return {
        "cache": {"sizeGib": draw(st.integers(64, 4096))},
        "apiServer": {
            "allowedSources": draw(st.lists(st.sampled_from(["192.0.2.0/24", "198.51.100.0/24"]), unique=True))
        },
        **draw(st.sampled_from([{}, {"kubernetesVersion": "1.34"}, {"kubernetesVersion": "1.35"}])),
        "nodePools": draw(pools()),
    }


def compose(spec: dict[str, Any], observed: dict[str, Manifest]) -> Result:
    metadata = {"name": "c", "namespace": names.SYSTEM_NAMESPACE, "uid": "u", "ownerReferences": [OWNER]}
    xr = {"apiVersion": versions.INFRASTRUCTURE, "kind": "NebiusCluster", "metadata": metadata, "spec": spec}
    return settle(registry.compose, Request(xr=xr, observed=observed), [CONFIG, SECRET])


def made(result: Result) -> dict[str, Manifest]:
    """What Crossplane has written, ready and reported."""
    return {key: _made(plain(composed.manifest)) for key, composed in result.resources.items()}


def _made(manifest: dict[str, Any]) -> dict[str, Any]:
    ready = [{"type": "Ready", "status": "True"}]
    is_of_nebius = (manifest["apiVersion"], manifest["kind"]) in KINDS
    seen = {"atProvider": plain(observe(manifest).at_provider)} if is_of_nebius else {}
    return {**manifest, "status": {**seen, "conditions": ready}}


def kept(manifest: Manifest) -> dict[str, Any]:
    kind = KINDS.get((manifest["apiVersion"], manifest["kind"]))
    written = dig(manifest, "spec", "forProvider")
    return {path: dig(written, *path.split(".")) for path in (kind.immutable if kind else ())}


@pytest.mark.slow
@settings(max_examples=60)
@given(blocks(), blocks(), st.sampled_from([{}, {"registries": ["registry-a"]}, {"network": {"cidr": "10.0.0.0/12"}}]))
def test_no_edit_changes_what_nebius_cannot_change(
    before: dict[str, Any], after: dict[str, Any], fixed: dict[str, Any]
) -> None:
    first = compose({"clusterName": "north", **fixed, **before}, {})
    there = made(first)
    there = made(compose({"clusterName": "north", **fixed, **before}, there))

    edited = compose({"clusterName": "north", **fixed, **after}, there)
    for key, composed in edited.resources.items():
        if key in there:
            assert composed.manifest["metadata"]["name"] == there[key]["metadata"]["name"], key
            assert kept(composed.manifest) == kept(there[key]), key


@pytest.mark.slow
@settings(max_examples=60)
@given(blocks(), blocks())
def test_nodes_are_replaced_by_an_upgrade_alone(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Of a template, only labels and taints change without a replacement (mk8s_v1_node_group)."""
    there = made(compose({"clusterName": "north", **before}, {}))
    edited = compose({"clusterName": "north", **after}, there)

    for key in (key for key in edited.resources if key in there and there[key]["kind"] == NODE_GROUP.kind):
        was, now = (dig(m, "spec", "forProvider", "template") for m in (there[key], edited.resources[key].manifest))
        assert {**was, "taints": None} == {**now, "taints": None}


@pytest.mark.slow
@settings(max_examples=60)
@given(blocks(), blocks())
def test_nodes_are_never_newer_than_their_control_plane(before: dict[str, Any], after: dict[str, Any]) -> None:
    there = made(compose({"clusterName": "north", **before}, {}))
    edited = compose({"clusterName": "north", **after}, there)

    running = dig(there["cluster"], "status", "atProvider", "status", "controlPlane", "version")
    versions_ = {
        dig(composed.manifest, "spec", "forProvider", "version")
        for key, composed in edited.resources.items()
        if key in there and there[key]["kind"] == NODE_GROUP.kind
    }
    assert versions_ <= {".".join(running.split(".")[:2])}
    assert there["cluster"]["kind"] == CLUSTER.kind
