"""An InferenceCluster of GKE in the embedded control plane, from nothing until it is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from function.clouds.gke import accelerators, facts
from function.clouds.gke.blocks import Machine
from function.core import condition, dig, plain
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import names, versions
from tests.support import cloud_samples, foreign

REF = Ref(versions.MODELPLANE, "InferenceCluster", "", "iowa.research")
CONFIG = {
    "apiVersion": facts.PROVIDER,
    "kind": "ClusterProviderConfig",
    "metadata": {"name": "default"},
    "spec": {"projectID": "research-1234", "credentials": {"source": "InjectedIdentity"}},
}
MOST_POOLS = 8


def classes() -> list[dict[str, Any]]:
    return cloud_samples.examples("gke")


def cluster(*pools: dict[str, Any], **block: Any) -> dict[str, Any]:
    spec = {"cluster": {"source": "GKE", "gke": {"region": "us-central1", **block}}, "nodePools": list(pools)}
    return {"apiVersion": versions.MODELPLANE, "kind": "InferenceCluster", "metadata": {"name": REF.name}, "spec": spec}


POOLS = (
    {"name": "l4", "className": "gke-l4-1x-g2", "nodeCount": 3},
    {"name": "h100", "className": "gke-h100-8x-a3", "maxNodeCount": 4, "zones": ["us-central1-a", "us-central1-c"]},
)


def settled(*objects: dict[str, Any]) -> ControlPlane:
    control = ControlPlane()
    control.loop.load([*classes(), *objects])
    control.loop.settle()
    return control


@pytest.fixture(scope="module")
def made() -> ControlPlane:
    """A cluster that no test edits."""
    return settled(CONFIG, cluster(*POOLS))


def told(control: ControlPlane, type_: str = "ClusterReady") -> str:
    found = condition(control.store.get(REF) or {}, type_) or {}
    return f"{found['reason']}: {found.get('message', '')}"


def managed(control: ControlPlane) -> list[dict[str, Any]]:
    return [plain(m) for kind in facts.MANAGED for m in control.store.of_kind(kind.api_version, kind.kind)]


def pools(control: ControlPlane) -> dict[str, dict[str, Any]]:
    found = (m["spec"]["forProvider"] for m in managed(control) if m["kind"] == "NodePool")
    return {each["nodeConfig"]["labels"]["modelplane.ai/pool"]: each for each in found}


def test_it_becomes_ready(made: ControlPlane) -> None:
    assert told(made, "Ready") == "Available: "
    assert told(made) == "ClusterRunning: 7 nodes, pools: l4, h100"
    assert dig(made.store.get(REF), "status", "cache") == {"storageClassName": "modelplane-filestore-zonal"}


@pytest.mark.parametrize("some", [classes()[:MOST_POOLS], classes()[MOST_POOLS:]], ids=["first", "last"])
def test_a_pool_of_every_class_of_the_examples_is_made(some: list[dict[str, Any]]) -> None:
    asked = [{"name": f"p{i}", "className": m["metadata"]["name"]} for i, m in enumerate(some)]
    control = settled(CONFIG, cluster(*asked))

    assert told(control, "Ready") == "Available: "
    got = {name: pool["nodeConfig"]["machineType"] for name, pool in pools(control).items()}
    machines = {f"p{i}": m["spec"]["provisioning"]["gke"]["machineType"] for i, m in enumerate(some)}
    assert got == {"system": "e2-standard-4", **machines}


def test_classes_of_the_examples_have_the_devices_of_their_machines() -> None:
    for class_ in classes():
        machine = Machine.model_validate(class_["spec"]["provisioning"]["gke"])
        has, devices = accelerators.accelerator(machine), class_["spec"]["devices"][0]["count"]
        assert (has and has.count) == devices, class_["metadata"]["name"]


def test_google_takes_every_resource(made: ControlPlane) -> None:
    found = managed(made)
    assert {m["kind"] for m in found} == {kind.kind for kind in facts.MANAGED}
    assert [problem for m in found for problem in foreign.problems(m)] == []


def test_names_are_no_longer_than_google_takes(made: ControlPlane) -> None:
    longest = {"ServiceAccount": facts.LONGEST_ACCOUNT, "Cluster": facts.LONGEST_NAME, "NodePool": facts.LONGEST_NAME}
    for m in managed(made):
        name = m["metadata"].get("annotations", {}).get("crossplane.io/external-name", m["metadata"]["name"])
        assert len(name) <= longest.get(m["kind"], names.DNS_LABEL), name
        assert "." not in name


def test_every_pool_goes_to_the_dra_driver(made: ControlPlane) -> None:
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
    labels = {
        "gke-no-default-nvidia-gpu-device-plugin": "true",
        "nvidia.com/gpu.present": "true",
        "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
    }
    for name in ("l4", "h100"):
        config = pools(made)[name]["nodeConfig"]
        assert config["labels"] == {"modelplane.ai/pool": name, **labels}
        assert config["taint"] == [taint]
        [accelerator] = config["guestAccelerator"]
        assert accelerator["gpuDriverInstallationConfig"] == {"gpuDriverVersion": "INSTALLATION_DISABLED"}


def test_the_providers_reach_it_by_the_key_of_an_account(made: ControlPlane) -> None:
    config = made.store.get(
        Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", names.provider_config(REF.name))
    )
    assert dig(config, "spec", "credentials", "secretRef", "key") == "kubeconfig"
    assert dig(config, "spec", "identity", "type") == "GoogleApplicationCredentials"
    assert dig(config, "spec", "identity", "secretRef", "key") == "private_key"


@pytest.mark.parametrize(
    ("pool", "want"),
    [
        (
            {"capacityBlock": {"capacityReservationId": "cr-0123456789abcdef0"}},
            "capacityBlock: GKE cannot take nodes from a reservation; leave it out",
        ),
        ({"fabric": {"type": "EFA"}}, "fabric.type: must be None for GKE, not EFA"),
        ({"fabric": {"type": "InfiniBand"}}, "fabric.type: must be None for GKE, not InfiniBand"),
        ({"zones": ["us-east1-b"]}, "zones: must have zones of region us-central1"),
    ],
    ids=["reservation", "EFA", "InfiniBand", "zone"],
)
def test_what_gke_cannot_do_is_refused_before_anything_is_made(pool: dict[str, Any], want: str) -> None:
    control = settled(CONFIG, cluster({**POOLS[0], **pool}))

    assert told(control).startswith(f"InvalidNodePool: spec.nodePools[0].{want}")
    assert managed(control) == []


def test_a_network_without_room_is_refused_before_anything_is_made() -> None:
    control = settled(CONFIG, cluster(*POOLS, network={"cidr": "10.0.0.0/28"}))

    assert told(control).startswith("InvalidSpec: spec.cluster.gke.network.cidr: must be a /27 or larger")
    assert managed(control) == []


def test_a_bad_edit_changes_nothing() -> None:
    control = settled(CONFIG, cluster(*POOLS))
    before = pools(control)
    control.loop.replace(cluster(POOLS[0], {**POOLS[1], "zones": ["us-central1-f"]}))
    control.loop.settle()

    problem = "spec.nodePools[1].zones: the nodes of a pool keep their zones (us-central1-a, us-central1-c)"
    assert told(control).startswith(f"InvalidNodePool: {problem}")
    assert pools(control) == before


def test_a_pool_grows_in_place() -> None:
    control = settled(CONFIG, cluster(*POOLS))
    before = pools(control)
    control.loop.replace(cluster({**POOLS[0], "nodeCount": 5}, {**POOLS[1], "maxNodeCount": 6}))
    control.loop.settle()

    after = pools(control)
    assert (before["l4"]["nodeCount"], after["l4"]["nodeCount"]) == (3, 5)
    assert after["l4"] == {**before["l4"], "nodeCount": 5}
    assert after["h100"]["autoscaling"] == {**before["h100"]["autoscaling"], "totalMaxNodeCount": 6}


def test_a_provider_config_without_a_project_is_named() -> None:
    control = settled({**CONFIG, "spec": {"credentials": {"source": "InjectedIdentity"}}}, cluster(*POOLS))

    assert told(control).endswith("ClusterProviderConfig default of gcp.m.upbound.io has no spec.projectID")
    assert managed(control) == []


def test_it_is_deleted_and_leaves_nothing() -> None:
    control = settled(CONFIG, cluster(*POOLS))
    control.store.delete(REF)
    control.loop.settle()

    assert managed(control) == []
    assert list(control.store.of_kind(versions.PROTECTION, "Usage")) == []
    assert list(control.store.of_kind(versions.INFRASTRUCTURE, "GKECluster")) == []
