"""What an AKSCluster composes: references that resolve, and fields that Azure cannot change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from function import registry
from function.clouds.aks import managed, storage
from function.clouds.aks.observe import observe
from function.core import Manifest, Request, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import crossplane
from tests.support.cases import ROOT, answer, documents

KINDS = {(kind.api_version, kind.kind): kind for kind in managed.KINDS}
CASES = sorted(path.parent for path in ROOT.glob("akscluster/*/xr.yaml"))
EVERYTHING = ROOT / "akscluster/everything-is-made"
READY = [{"type": "Synced", "status": "True"}, {"type": "Ready", "status": "True"}]


def references(value: Any) -> Iterator[tuple[str, str]]:
    """Every field that is a reference, with the name in it."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, Mapping):
        for field, child in value.items():
            if field.endswith("Ref"):
                yield field, child["name"]
            elif field.endswith("Refs"):
                yield from ((field, each["name"]) for each in child)
            else:
                yield from references(child)


def test_every_reference_is_declared_and_resolves_to_its_kind() -> None:
    found = set()
    for case in CASES:
        manifests = [plain(resource.manifest) for resource in answer(case).resources.values()]
        by_name = {(m["metadata"]["name"], m["kind"]) for m in manifests}
        for manifest in manifests:
            kind = KINDS.get((manifest["apiVersion"], manifest["kind"]))
            for field, name in references(dig(manifest, "spec", "forProvider") if kind else None):
                assert kind is not None
                assert (name, kind.references[field]) in by_name, (case.name, manifest["kind"], field)
                found.add((kind.kind, field))

    assert found == {(kind.kind, field) for kind in managed.KINDS for field in kind.references}


def test_every_immutable_field_is_composed() -> None:
    """A path that is misspelt would pin nothing."""
    composed = {
        (m["kind"], path)
        for case in CASES
        for m in (plain(resource.manifest) for resource in answer(case).resources.values())
        if (m["apiVersion"], m["kind"]) in KINDS
        for path in KINDS[m["apiVersion"], m["kind"]].immutable
        if dig(m, "spec", "forProvider", *path.split(".")) is not None
    }
    assert composed == {(kind.kind, path) for kind in managed.KINDS for path in kind.immutable}


POOLS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(["h100", "small-a100", "another", "0"]),
            "className": st.just("any"),
            "machine": st.just({"vmSize": "Standard_ND96isr_H100_v5"}),
        },
        optional={
            "nodeCount": st.integers(0, 40),
            "maxNodeCount": st.integers(1, 40),
            "taints": st.just([{"key": "team", "value": "a", "effect": "NoExecute"}]),
            "drivers": st.sampled_from([["gpu.nvidia.com"], ["dra.net", "gpu.nvidia.com"], []]),
            "zones": st.sampled_from([["1"], ["2", "3"]]),
        },
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda pool: pool["name"],
)
EDITS = st.fixed_dictionaries({"nodePools": POOLS}, optional={"kubernetesVersion": st.sampled_from(["1.36", "1.37"])})


def rendered(xr: Mapping[str, Any], observed: Mapping[str, Manifest]) -> dict[str, Manifest]:
    result = settle(registry.compose, Request(xr=xr, observed=observed), documents(EVERYTHING / "required.yaml"))
    return {key: plain(resource.manifest) for key, resource in result.resources.items()}


def made(manifests: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """The same, once Azure has made it all."""
    return {key: {**m, "status": {"conditions": READY, "atProvider": _seen(m)}} for key, m in manifests.items()}


def _seen(manifest: Manifest) -> Mapping[str, Any]:
    return observe(manifest).at_provider if (manifest["apiVersion"], manifest["kind"]) in KINDS else {}


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(EDITS, min_size=2, max_size=4))
def test_no_edit_changes_what_azure_cannot_change(edits: list[dict[str, Any]]) -> None:
    [xr] = documents(EVERYTHING / "xr.yaml")
    there = documents(EVERYTHING / "observed.yaml")
    observed = {m["metadata"]["annotations"][crossplane.COMPOSITION_KEY]: m for m in there}
    for edit in edits:
        before = observed
        observed = made(rendered({**xr, "spec": {**xr["spec"], **edit}}, before))
        for key in before.keys() & observed.keys():
            assert _immutable(observed[key]) == _immutable(before[key]), key


def _immutable(manifest: Manifest) -> dict[str, Any]:
    kind = KINDS.get((manifest["apiVersion"], manifest["kind"]))
    written = dig(manifest, "spec", "forProvider")
    name = dig(manifest, "metadata", "annotations", crossplane.EXTERNAL_NAME)
    return {"name": name, **{path: dig(written, *path.split(".")) for path in (kind.immutable if kind else ())}}


def test_the_class_of_storage_names_the_network_that_is_composed() -> None:
    """By names, not references: the driver of Azure Files looks the subnet up itself."""
    resources = {key: plain(resource.manifest) for key, resource in answer(EVERYTHING).resources.items()}
    parameters = resources["storage"]["spec"]["forProvider"]["manifest"]["parameters"]

    assert [parameters[field] for field in ("vnetResourceGroup", "vnetName", "subnetName")] == [
        resources[key]["metadata"]["name"] for key in ("resource-group", "network", "subnet-nodes")
    ]
    assert resources["subnet-nodes"]["spec"]["forProvider"]["serviceEndpoints"] == ["Microsoft.Storage"]
    assert dig(answer(EVERYTHING).status, "cache", "storageClassName") == storage.CLASS


def test_the_role_is_no_wider_than_the_subnet() -> None:
    roles = [
        plain(resource.manifest)["spec"]["forProvider"]
        for case in CASES
        for key, resource in answer(case).resources.items()
        if key == "role-network"
    ]
    assert roles
    assert {role["roleDefinitionName"] for role in roles} == {"Network Contributor"}
    assert all("/Subnet/" in role["scope"] for role in roles)
