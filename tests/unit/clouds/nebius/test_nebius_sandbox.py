"""An InferenceCluster of Nebius in the embedded control plane, from nothing until it is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function.clouds.nebius import facts
from function.contracts.cloud.managedkind import ManagedKind
from function.core import condition, dig, plain
from function.manifests import managed
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import names, versions
from tests.support import cloud_samples, foreign

REF = Ref(versions.MODELPLANE, "InferenceCluster", "", "north")


def classes() -> list[dict[str, Any]]:
    return cloud_samples.examples("nebius")


def cluster(*pools: dict[str, Any], **block: Any) -> dict[str, Any]:
    spec = {"cluster": {"source": "Nebius", "nebius": block}, "nodePools": list(pools)}
    return {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "metadata": {"name": "north"}, "spec": spec}


def pool(name: str, class_name: str, fabric: str = "", **more: Any) -> dict[str, Any]:
    joins = {"fabric": {"type": "InfiniBand", "infiniband": {"fabric": fabric}}} if fabric else {}
    return {"name": name, "className": class_name, **joins, **more}


ONE = pool("one", "nebius-h100-1x", minNodeCount=0, maxNodeCount=3)
LEFT = pool("left", "nebius-h200-8x", "fabric-7", nodeCount=2)
RIGHT = pool("right", "nebius-h200-8x", "fabric-7", maxNodeCount=4)


def settled(*objects: dict[str, Any]) -> ControlPlane:
    control = ControlPlane()
    control.loop.load([*classes(), *objects, *stubs.objects(objects)])
    control.loop.settle()
    return control


@pytest.fixture
def control() -> ControlPlane:
    block = {"network": {"cidr": "10.64.0.0/15"}, "registries": ["registry-e00one"]}
    return settled(cluster(ONE, LEFT, RIGHT, **block))


def told(control: ControlPlane, type_: str = "ClusterReady") -> str:
    found = condition(control.store.get(REF) or {}, type_) or {}
    return f"{found['reason']}: {found.get('message', '')}"


def all_of(control: ControlPlane, kind: ManagedKind) -> list[Any]:
    return [plain(manifest) for manifest in control.store.of_kind(kind.api_version, kind.kind)]


def everything(control: ControlPlane) -> list[Any]:
    return [manifest for kind in facts.MANAGED for manifest in all_of(control, kind)]


def groups(control: ControlPlane) -> dict[str, Any]:
    """Node groups by the label of their nodes."""
    found = (m["spec"]["forProvider"] for m in all_of(control, facts.NODE_GROUP))
    return {each["template"]["metadata"]["labels"]["modelplane.ai/pool"]: each for each in found}


def test_it_becomes_ready_and_publishes_its_pools_and_storage(control: ControlPlane) -> None:
    assert told(control, "Ready") == "Available: "
    assert told(control) == "ClusterRunning: 9 nodes, pools: one, left, right"
    assert dig(control.store.get(REF), "status", "cache", "storageClassName") == "modelplane-files"


def test_every_kind_that_the_provider_must_have_is_composed_and_passes_its_schema(control: ControlPlane) -> None:
    assert {manifest["kind"] for manifest in everything(control)} == {kind.kind for kind in facts.MANAGED}
    assert {m["metadata"]["name"]: foreign.problems(m) for m in everything(control) if foreign.problems(m)} == {}


def test_it_is_reached_with_the_credentials_that_made_it(control: ControlPlane) -> None:
    for api_version in (versions.PROVIDER_KUBERNETES, versions.PROVIDER_HELM):
        config = control.store.get(Ref(api_version, "ClusterProviderConfig", "", names.provider_config("north")))
        kubeconfig, identity = dig(config, "spec", "credentials", "secretRef"), dig(config, "spec", "identity")

        secret = control.store.get(Ref(versions.CORE, "Secret", kubeconfig["namespace"], kubeconfig["name"]))
        assert sorted(dig(secret, "data")) == ["kubeconfig", "kubeconfig.private", "kubeconfig.public"]
        assert plain(identity) == {
            "type": "NebiusServiceAccountCredentials",
            "source": "Secret",
            "secretRef": {"namespace": "crossplane-system", "name": "nebius", "key": "credentials"},
        }


def test_pools_of_one_fabric_share_a_gpu_cluster(control: ControlPlane) -> None:
    [shared] = all_of(control, facts.GPU_CLUSTER)
    joined = {name: dig(each, "template", "gpuCluster", "idRef", "name") for name, each in groups(control).items()}

    assert shared["spec"]["forProvider"]["infinibandFabric"] == "fabric-7"
    assert joined == {
        "left": shared["metadata"]["name"],
        "right": shared["metadata"]["name"],
        "one": None,
        "system": None,
    }


def test_every_node_mounts_the_filesystem_of_the_cluster(control: ControlPlane) -> None:
    [filesystem] = all_of(control, facts.FILESYSTEM)
    templates = [each["template"] for each in groups(control).values()]

    assert len(templates) == 4
    assert [dig(t, "filesystems", 0, "existingFilesystem", "idRef") for t in templates] == [
        {"name": filesystem["metadata"]["name"]}
    ] * 4
    for reference in (template["cloudInitUserDataSecretRef"] for template in templates):
        secret = control.store.get(Ref(versions.CORE, "Secret", names.SYSTEM_NAMESPACE, reference["name"]))
        assert dig(secret, "data", reference["key"])


def test_exactly_one_of_fixed_size_and_scaling_is_asked_for_and_what_is_scaled_is_not_completed(
    control: ControlPlane,
) -> None:
    asked = {name: (each.get("fixedNodeCount"), each.get("autoscaling")) for name, each in groups(control).items()}

    assert asked == {
        "system": (None, {"minNodeCount": 2, "maxNodeCount": 4}),
        "one": (None, {"minNodeCount": 0, "maxNodeCount": 3}),
        "left": (2, None),
        "right": (None, {"minNodeCount": 0, "maxNodeCount": 4}),
    }
    assert {m["kind"] for m in everything(control) if "managementPolicies" in m["spec"]} == {"NodeGroup"}
    assert {tuple(m["spec"]["managementPolicies"]) for m in all_of(control, facts.NODE_GROUP)} == {
        managed.NO_LATE_INITIALIZATION
    }


def references(value: Any, around: str = "") -> Iterator[tuple[str, str, str]]:
    """Each reference: the field, the field around it, and the name that it refers to."""
    if isinstance(value, list):
        for item in value:
            yield from references(item, around)
    if isinstance(value, dict):
        for field, child in value.items():
            if field.endswith("Ref"):
                yield field, around, child["name"]
            yield from references(child, field)


@pytest.mark.slow
@pytest.mark.parametrize("kind", facts.MANAGED, ids=lambda kind: kind.kind)
def test_every_reference_is_declared_and_leads_to_an_object_of_its_kind(
    control: ControlPlane, kind: ManagedKind
) -> None:
    # the connection Secret of a cluster has the name of the cluster, which is what is meant
    by_name = {m["metadata"]["name"]: m["kind"] for m in control.store.of_kind(versions.CORE, "Secret")}
    by_name |= {m["metadata"]["name"]: m["kind"] for m in everything(control)}
    found = [r for manifest in all_of(control, kind) for r in references(manifest["spec"]["forProvider"])]

    used = set()
    for field, around, name in found:
        declared = field if field in kind.references else f"{around}.{field}"
        used.add(declared)
        assert by_name[name] == kind.references[declared], (field, name)
    assert used == set(kind.references)


def test_nodes_may_only_pull_from_the_registries_that_are_named(control: ControlPlane) -> None:
    [group], [member] = all_of(control, facts.GROUP), all_of(control, facts.MEMBERSHIP)
    [account], [permit] = all_of(control, facts.ACCOUNT), all_of(control, facts.PERMIT)

    assert group["spec"]["forProvider"]["parentId"] == "project-assumed"
    assert member["spec"]["forProvider"]["memberIdRef"] == {"name": account["metadata"]["name"]}
    allowed = {k: v for k, v in permit["spec"]["forProvider"].items() if k != "parentIdRef"}
    assert allowed == {"resourceId": "registry-e00one", "role": "viewer"}


def test_without_registries_nodes_have_no_account() -> None:
    control = settled(cluster(ONE))

    kinds = (facts.ACCOUNT, facts.GROUP, facts.MEMBERSHIP, facts.PERMIT, facts.POOL, facts.GPU_CLUSTER)
    assert [all_of(control, kind) for kind in kinds] == [[]] * 6
    assert [name for name, each in groups(control).items() if "serviceAccountIdRef" in each["template"]] == []
    assert told(control, "Ready") == "Available: "


def test_a_fabric_goes_with_its_last_pool(control: ControlPlane) -> None:
    block = control.store.get(REF)["spec"]["cluster"]["nebius"]  # type: ignore[index]
    control.loop.replace(cluster(ONE, LEFT, **plain(block)))
    control.loop.settle()
    assert (sorted(groups(control)), len(all_of(control, facts.GPU_CLUSTER))) == (["left", "one", "system"], 1)

    control.loop.replace(cluster(ONE, **plain(block)))
    control.loop.settle()
    assert (sorted(groups(control)), len(all_of(control, facts.GPU_CLUSTER))) == (["one", "system"], 0)
    assert told(control, "Ready") == "Available: "


@pytest.mark.parametrize(
    ("more", "want"),
    [
        ({"zones": ["a"]}, "zones: Nebius cannot choose the zones of a pool; leave them out"),
        (
            {"capacityBlock": {"capacityReservationId": "cr-0123456789abcdef0"}},
            "capacityBlock: Nebius cannot take nodes from a reservation; leave it out",
        ),
        ({"fabric": {"type": "EFA"}}, "fabric.type: must be None or InfiniBand for Nebius, not EFA"),
        (
            {"fabric": {"type": "InfiniBand", "infiniband": {"fabric": "fabric-7"}}},
            "fabric.type: InfiniBand needs a preset of 8 GPUs",
        ),
    ],
    ids=["zones", "reservation", "efa", "one-gpu"],
)
def test_what_nebius_cannot_do_is_refused_before_anything_is_made(more: dict[str, Any], want: str) -> None:
    control = settled(cluster({**ONE, **more}))

    assert told(control).startswith(f"InvalidNodePool: spec.nodePools[0].{want}")
    assert everything(control) == []


def test_a_network_without_room_is_refused_before_anything_is_made() -> None:
    control = settled(cluster(ONE, network={"cidr": "10.64.0.0/24"}))

    assert told(control).startswith("InvalidSpec: spec.cluster.nebius.network.cidr: must be a /")
    assert everything(control) == []


def test_a_refused_edit_changes_nothing_that_runs(control: ControlPlane) -> None:
    before = everything(control)
    block = plain(control.store.get(REF)["spec"]["cluster"]["nebius"])  # type: ignore[index]
    control.loop.replace(cluster(ONE, {**LEFT, "className": "nebius-h100-1x"}, RIGHT, **block))
    control.loop.settle()

    assert told(control).startswith("InvalidNodePool: spec.nodePools[1].fabric.type: InfiniBand needs a preset of 8")
    assert everything(control) == before


def test_it_is_deleted_and_leaves_nothing(control: ControlPlane) -> None:
    control.store.delete(REF)
    control.loop.settle()

    assert everything(control) == []
    assert list(control.store.of_kind(versions.PROTECTION, "Usage")) == []
    assert [m["metadata"]["name"] for m in control.store.of_kind(versions.CORE, "Secret") if "type" in m] == ["nebius"]
