"""What providers and clusters answer: what comes up, and what does not when a fault is switched on."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Manifest, dig, is_ready
from function.manifests import claims, gateway, provider, workloads
from function.planning.clusters import Clusters
from function.planning.control_plane import kinds
from function.sandbox.store import Ref, Store
from function.vocabulary import names, versions

CLUSTER = "c"
CONFIG = names.provider_config(CLUSTER)
DEVICE = {
    "name": "gpu",
    "claim": "DRA",
    "driver": "gpu.nvidia.com",
    "deviceClassName": "gpu.nvidia.com",
    "count": 2,
    "attributes": {"architecture": {"string": "Ampere"}},
    "capacity": {"memory": {"value": "40Gi"}},
}


def fleet(nodes: int = 2) -> Store:
    """A cluster with one pool of two-GPU nodes, and the way to it."""
    cluster = {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": CLUSTER},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}},
            "nodePools": [{"name": "a100", "className": "x"}],
        },
        "status": {"gpuPools": [{"name": "a100", "nodes": nodes, "devices": [DEVICE]}]},
    }
    config = {"apiVersion": versions.PROVIDER_KUBERNETES, "kind": "ClusterProviderConfig", "metadata": {"name": CONFIG}}
    store = Store(kinds())
    for manifest in (cluster, {**config, "spec": {}}, remote("ns", namespace_manifest())):
        store.load(manifest)
    return store


def namespace_manifest() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


def remote(name: str, manifest: Manifest, **said: Any) -> dict[str, Any]:
    return provider.object_(name=name, namespace="team", provider_config=CONFIG, manifest=manifest, **said)


def claim(count: int = 2, selector: str = "true") -> dict[str, Any]:
    request = claims.device_request(name="gpu", device_class="gpu.nvidia.com", count=count, selectors=[selector])
    return claims.resource_claim_template(name="claim", namespace="team", requests=[request])


def deployment(copies: int = 1, pool: str = "a100", image: str = "engine") -> dict[str, Any]:
    spec = {
        "nodeSelector": {"modelplane.ai/pool": pool},
        "containers": [{"name": "engine", "image": image}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "claim"}],
    }
    return workloads.deployment(
        name="d", namespace="team", copies=copies, selector={}, strategy=workloads.RECREATE, pod={"spec": spec}
    )


def answered(store: Store, clusters: Clusters, *objects: dict[str, Any]) -> Store:
    for manifest in objects:
        store.load(manifest)
    for _ in range(3):
        clusters(store)
    return store


def object_(store: Store, name: str) -> Manifest:
    found = store.get(Ref(versions.PROVIDER_KUBERNETES, "Object", "team", name))
    assert found is not None
    return found


def why_not(store: Store) -> str:
    """What keeps the Deployment from being available; empty when it is."""
    conditions = dig(object_(store, "d"), "status", "atProvider", "manifest", "status", "conditions")
    return str(conditions[0].get("message") or "")


WORKLOAD = remote("d", deployment(), readiness_cel=workloads.DEPLOYMENT_DONE)


def test_a_workload_is_up_once_its_pods_have_nodes_with_the_devices() -> None:
    store = answered(fleet(), Clusters(), remote("claim", claim()), WORKLOAD)

    status = dig(object_(store, "d"), "status", "atProvider", "manifest", "status")
    counts = {k: v for k, v in status.items() if k != "conditions"}
    want = {
        "observedGeneration": 1,
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "unavailableReplicas": 0,
    }
    assert (counts, is_ready(object_(store, "d"))) == (want, True)


@pytest.mark.parametrize(
    ("objects", "want"),
    [
        ((remote("claim", claim()), remote("d", deployment(copies=3))), "no node of pool a100 is free"),
        ((remote("claim", claim(count=3)), WORKLOAD), "no node of pool a100 has the devices that the pod claims"),
        (
            (remote("claim", claim(selector="false")), WORKLOAD),
            "no node of pool a100 has the devices that the pod claims",
        ),
        ((remote("claim", claim()), remote("d", deployment(pool="x"))), "no node has label modelplane.ai/pool=x"),
        ((WORKLOAD,), 'resourceclaimtemplate "claim" not found'),
    ],
)
def test_a_workload_that_does_not_fit_says_why(objects: tuple[dict[str, Any], ...], want: str) -> None:
    store = answered(fleet(), Clusters(), *objects)

    assert (why_not(store), is_ready(object_(store, "d")) and objects[-1] is WORKLOAD) == (want, False)


def test_an_image_that_never_starts() -> None:
    clusters = Clusters()
    clusters.faults.broken_images.add("engine")

    assert why_not(answered(fleet(), clusters, remote("claim", claim()), WORKLOAD)) == "image engine does not start"


def test_a_pool_that_is_lost_takes_what_runs_on_it() -> None:
    clusters = Clusters()
    store = answered(fleet(), clusters, remote("claim", claim()), WORKLOAD)
    before = is_ready(object_(store, "d"))

    clusters.faults.lost_pools.add((CLUSTER, "a100"))
    answered(store, clusters)

    assert (before, is_ready(object_(store, "d")), why_not(store)) == (
        True,
        False,
        "no node has label modelplane.ai/pool=a100",
    )


def test_a_cluster_that_does_not_answer_keeps_what_it_last_said() -> None:
    """As the provider does: Synced says why, and Ready stays."""
    clusters = Clusters()
    store = answered(fleet(), clusters, remote("claim", claim()), WORKLOAD)

    clusters.faults.unreachable.add(CLUSTER)
    answered(store, clusters)

    said = {c["type"]: c["status"] for c in dig(object_(store, "d"), "status", "conditions")}
    assert said == {"Synced": "False", "Ready": "True"}


def test_a_provider_that_cannot_apply_says_what_it_was_told() -> None:
    clusters = Clusters()
    clusters.faults.provider_errors[CLUSTER] = "cannot apply object: forbidden"

    store = answered(fleet(), clusters, WORKLOAD)

    (synced,) = [c for c in dig(object_(store, "d"), "status", "conditions") if c["type"] == "Synced"]
    assert (synced["status"], synced["message"]) == ("False", "cannot apply object: forbidden")


@pytest.mark.parametrize(("faulty", "want"), [(False, True), (True, False)])
def test_a_gateway_has_an_address_unless_it_has_none(faulty: bool, want: bool) -> None:
    clusters = Clusters()
    clusters.faults.without_address.update({CLUSTER} if faulty else set())
    reference = gateway.reference(name=names.CLUSTER_GATEWAY, namespace=names.SYSTEM_NAMESPACE)
    probe = remote("d", reference, management_policies=provider.OBSERVE, readiness_cel=gateway.HAS_ADDRESS)

    assert is_ready(object_(answered(fleet(), clusters, probe), "d")) == want


def test_a_thing_is_taken_away_with_its_object_unless_it_is_to_stay() -> None:
    clusters = Clusters()
    kept = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept", "namespace": "team"}}
    store = answered(
        fleet(), clusters, remote("claim", claim()), remote("kept", kept, management_policies=provider.KEEP_REMOTE)
    )

    for name in ("claim", "kept"):
        store.delete(Ref(versions.PROVIDER_KUBERNETES, "Object", "team", name))
    answered(store, clusters)

    left = sorted(r.name for r in clusters.things[CONFIG] if r.namespace == "team")
    objects = [m["metadata"]["name"] for m in store.of_kind(versions.PROVIDER_KUBERNETES, "Object")]
    assert (left, objects) == (["kept"], ["ns"])


def test_two_objects_of_one_thing_are_noticed() -> None:
    clusters = Clusters()

    answered(fleet(), clusters, remote("one", claim()), remote("two", claim()))

    assert {ref.name for _, ref in clusters.shared} == {"claim"}


def test_nothing_is_asked_of_a_cluster_without_its_namespace() -> None:
    store = fleet()
    store.delete(Ref(versions.PROVIDER_KUBERNETES, "Object", "team", "ns"))

    answered(store, Clusters(), remote("d", claim()))

    (synced,) = [c for c in dig(object_(store, "d"), "status", "conditions") if c["type"] == "Synced"]
    assert synced["message"] == 'cannot create object: namespaces "team" not found'


@pytest.mark.parametrize("is_there", [True, False])
def test_what_must_be_deleted_on_a_cluster_stays_without_its_kubeconfig(is_there: bool) -> None:
    store, clusters = fleet(), Clusters()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "kubeconfig", "namespace": "team"}}
    config = Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", CONFIG)
    named = {"source": "Secret", "secretRef": {"name": "kubeconfig", "namespace": "team", "key": "k"}}
    store.update(config, lambda m: m["spec"].update(credentials=named))
    answered(store, clusters, secret, WORKLOAD)
    if not is_there:
        store.delete(Ref("v1", "Secret", "team", "kubeconfig"))

    store.delete(Ref(versions.PROVIDER_KUBERNETES, "Object", "team", "d"))
    answered(store, clusters)

    left = store.get(Ref(versions.PROVIDER_KUBERNETES, "Object", "team", "d"))
    assert (left is None) is is_there
