"""What users desire of an object: what is compared between two states, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Manifest
from function.planning import desired
from function.planning.control_plane import kinds
from function.publish.catalog import KINDS
from function.schema import Audience

SERVED = kinds()
OWNER = {"apiVersion": "a/v1", "kind": "A", "name": "a", "uid": "u"}


def manifest(kind: str = "ModelService", *, spec: Any = None, **metadata: Any) -> dict[str, Any]:
    given = spec if spec is not None else {"endpoints": [{"selector": {"matchLabels": {"a": "b"}}}]}
    found = {"name": "a", "namespace": "team", **metadata}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": kind, "metadata": found, "spec": given}


def secret(**more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "team"}, **more}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (manifest(), manifest() | {"status": {"routed": []}}),
        (manifest(), manifest(uid="u", resourceVersion="1", generation=2, managedFields=[], finalizers=["f"])),
        (manifest(), manifest(labels={}, annotations=None)),
        (manifest(), manifest(labels={"crossplane.io/composite": "a"})),
        (manifest(), manifest(annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"})),
        (manifest(), manifest(annotations={"argocd.argoproj.io/tracking-id": "a"}, labels={"meta.helm.sh/a": "b"})),
        (manifest(), manifest(labels={"kustomize.toolkit.fluxcd.io/name": "a"})),
        (manifest(), manifest(labels={"app.kubernetes.io/instance": "a", "app.kubernetes.io/managed-by": "Helm"})),
        (manifest(), manifest(spec={**manifest()["spec"], "crossplane": {"resourceRefs": []}})),
        (manifest(), manifest(spec={"endpoints": [{"priority": 0, **manifest()["spec"]["endpoints"][0]}]})),
        (manifest(), manifest(spec={**manifest()["spec"], "proxy": None})),
        (secret(stringData={"a": "b"}), secret(data={"a": "Yg=="})),
    ],
)
def test_what_a_cluster_writes_is_no_difference(one: Manifest, other: Manifest) -> None:
    assert (desired.differ(one, other, SERVED), desired.differ(other, one, SERVED)) == (False, False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (manifest(), manifest(labels={"team": "a"})),
        (manifest(), manifest(annotations={"example.org/why": "a"})),
        (manifest(), manifest(labels={"notcrossplane.io/a": "b"})),
        (manifest(), manifest(spec={"endpoints": [{"weight": 2, **manifest()["spec"]["endpoints"][0]}]})),
        (secret(data={"a": "Yg=="}), secret(data={"a": "Yw=="})),
        (secret(data={"a": "Yg=="}), secret()),
    ],
)
def test_what_users_write_is_a_difference(one: Manifest, other: Manifest) -> None:
    assert (desired.differ(one, other, SERVED), desired.differ(other, one, SERVED)) == (True, True)


def test_a_comparison_changes_nothing() -> None:
    one, other = secret(stringData={"a": "b"}), secret(data={"a": "Yg=="})

    desired.differ(one, other, SERVED)

    assert (one, other) == (secret(stringData={"a": "b"}), secret(data={"a": "Yg=="}))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
def test_kinds_that_only_crossplane_writes_are_no_part_of_a_state(kind: Any) -> None:
    found = {**manifest(kind.kind), "apiVersion": kind.api_version}

    assert desired.is_authored(found) == desired.is_deletable(found) == (kind.audience is not Audience.INTERNAL)


@pytest.mark.parametrize(
    "metadata",
    [
        {"ownerReferences": [{**OWNER, "controller": True}]},
        {"annotations": {"crossplane.io/composition-resource-name": "endpoint-a"}},
    ],
)
def test_a_composed_object_is_no_part_of_a_state_whatever_its_kind(metadata: dict[str, Any]) -> None:
    """Users write ModelEndpoints, and ModelDeployments compose some."""
    found = manifest("ModelEndpoint", **metadata)

    assert (desired.is_authored(found), desired.is_deletable(found)) == (False, False)


def test_an_owner_that_is_no_controller_composes_nothing() -> None:
    assert desired.is_deletable(manifest(ownerReferences=[OWNER]))


def test_objects_of_other_kinds_are_never_deleted_by_their_absence() -> None:
    assert (desired.is_authored(secret()), desired.is_deletable(secret())) == (True, False)


def test_objects_are_the_same_whatever_their_version_and_their_unstated_namespace() -> None:
    stated = manifest(namespace="your-namespace")
    unstated = {**manifest(), "metadata": {"name": "a"}, "apiVersion": "modelplane.ai/v1beta1"}
    cluster = {**manifest("InferenceCluster"), "metadata": {"name": "a"}}

    assert desired.key(stated, SERVED) == desired.key(unstated, SERVED)
    assert desired.key(cluster, SERVED) == ("modelplane.ai", "InferenceCluster", "", "a")


def test_what_tools_wrote_stays_when_an_object_is_replaced() -> None:
    old = manifest(labels={"kustomize.toolkit.fluxcd.io/name": "a", "team": "b"}, annotations={"crossplane.io/x": "y"})

    got = desired.replacing(old, manifest(labels={"tier": "c"}))

    want = manifest(labels={"kustomize.toolkit.fluxcd.io/name": "a", "tier": "c"}, annotations={"crossplane.io/x": "y"})
    assert got == want


def test_an_edit_has_nothing_of_what_a_cluster_wrote() -> None:
    found = manifest(uid="u", finalizers=["f"], ownerReferences=[OWNER], labels={"a": "b"}) | {"status": {"routed": []}}
    found["spec"]["crossplane"] = {"resourceRefs": []}

    assert desired.authored(found) == manifest(labels={"a": "b"})
    assert desired.is_deletion(desired.deletion(found))
    assert desired.deletion(found)["metadata"].keys() == {"name", "namespace", "deletionTimestamp"}
