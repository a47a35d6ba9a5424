"""The observer with a real API server and scheduler, and with no right but those that the serving stack gives it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from function.manifests import observer
from function.vocabulary import labels, names
from function.vocabulary.observation import DECLARED_KEY, OBSERVED_KEY, REASONS_KEY
from tests.e2e import fleet, objects
from tests.e2e.kube import Api, Object, Refused
from tests.e2e.processes import healthy, ports
from tests.e2e.programs import Site
from tests.e2e.waiting import until

CLUSTER = "observed"
NAME = names.OBSERVER
TEAM = "observed-team"
POOL = fleet.Pool(name="observed-h100", hardware=fleet.H100, nodes=2)
FIRST, SECOND = (f"{POOL.name}-{index}" for index in range(POOL.nodes))


@pytest.fixture(scope="module")
def observed(site: Site, cluster: Api) -> Iterator[Api]:
    """The inference cluster with a pool that the observer knows."""
    cluster.apply(objects.namespace(objects.SYSTEM), objects.namespace(TEAM))
    made = [fleet.node(POOL, name) for name in (FIRST, SECOND)]
    made += [fleet.devices(fleet.H100, name) for name in (FIRST, SECOND)]
    cluster.apply(*made, *rights(), declared())
    for name in (FIRST, SECOND):
        cluster.patch(cluster.get("v1", "Node", name), fleet.room(), "status")
    (port,) = ports(1)
    config = site.write("observer.kubeconfig", cluster.as_user(token(cluster)).kubeconfig())
    process = site.processes.start(
        NAME,
        Path(sys.executable).with_name("modelplane"),
        "observe",
        "--follow",
        f"--kubeconfig={config}",
        f"--address=127.0.0.1:{port}",
        serves=healthy(port, "/readyz"),
    )
    try:
        yield cluster
    finally:
        site.processes.stop(process)
        for one in (*made, declared(), objects.namespace(TEAM)):
            cluster.delete(one)


def rights() -> list[Object]:
    """Its service account, with the roles that the serving stack composes."""
    return [
        observer.service_account(),
        observer.cluster_role(),
        observer.role(),
        observer.autoscaler_role(),
        observer.cluster_role_binding(),
        observer.role_binding(),
        observer.autoscaler_role_binding(),
    ]


def token(api: Api) -> str:
    """A token of the service account, as a pod has it."""
    path = f"/api/v1/namespaces/{objects.SYSTEM}/serviceaccounts/{NAME}/token"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    return str(api.send("POST", path, asked)["status"]["token"])


def declared() -> Object:
    device = {
        "name": "gpu",
        "claim": "DRA",
        "driver": fleet.DRIVER,
        "deviceClassName": fleet.DRIVER,
        "count": fleet.H100.gpus,
        "attributes": fleet.H100.attributes,
        "capacity": fleet.H100.capacity,
    }
    content = {"version": 1, "cluster": CLUSTER, "pools": {POOL.name: {"devices": [device]}}}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.declared(CLUSTER),
            "namespace": objects.SYSTEM,
            "labels": {labels.OBSERVATION: labels.DECLARATION},
        },
        "data": {DECLARED_KEY: json.dumps(content)},
    }


def claiming(name: str, count: int, *, workload: str = "") -> list[Object]:
    """A pod of the pool that claims so many devices, and its claim's template."""
    exactly = {"deviceClassName": fleet.DRIVER, "count": count, "allocationMode": "ExactCount"}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": TEAM},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }
    container = {
        "name": "engine",
        "image": "example.org/engine:1",
        "resources": {"claims": [{"name": "gpu"}], "requests": {"cpu": "1", "memory": "1Gi"}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": TEAM, "labels": {labels.WORKLOAD: workload} if workload else {}},
        "spec": {
            "nodeSelector": {labels.POOL: POOL.name},
            "tolerations": [{"operator": "Exists", "key": fleet.GPU_TAINT["key"]}],
            "containers": [container],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}],
        },
    }
    return [template, pod]


def told(api: Api, name: str, key: str) -> Any:
    found = api.find("v1", "ConfigMap", name, objects.SYSTEM)
    return json.loads(found["data"][key]) if found else None


def pool(api: Api) -> Any:
    return (told(api, names.observed(CLUSTER), OBSERVED_KEY) or {}).get("pools", {}).get(POOL.name)


def nodes(api: Api) -> dict[str, Any]:
    """What is told of each node, by its name."""
    return {name: record for record in (pool(api) or {"nodes": []})["nodes"] for name in record["names"]}


def states(api: Api) -> dict[str, str]:
    return {name: record["state"] for name, record in nodes(api).items()}


def test_it_tells_what_nodes_publish(observed: Api) -> None:
    got = until(lambda: nodes(observed), "both nodes to be told", holds=lambda seen: len(seen) == POOL.nodes)

    assert {record["devices"]["gpu"] for record in got.values()} == {fleet.H100.gpus}
    assert (pool(observed)["differs"], pool(observed)["counts"]) == ([], [])
    assert "missing" not in told(observed, names.observed(CLUSTER), OBSERVED_KEY)


def test_it_follows_a_cordon_and_a_taint(observed: Api) -> None:
    first, second = (observed.get("v1", "Node", name) for name in (FIRST, SECOND))
    observed.patch(first, {"spec": {"unschedulable": True}})
    observed.patch(second, {"spec": {"taints": [fleet.GPU_TAINT, {"key": "broken", "effect": "NoSchedule"}]}})
    until(
        lambda: states(observed),
        "a cordon and a taint",
        holds=lambda seen: seen == {FIRST: "Cordoned", SECOND: "Tainted"},
    )
    assert nodes(observed)[SECOND]["taint"] == "broken:NoSchedule"

    observed.patch(first, {"spec": {"unschedulable": None}})
    observed.patch(second, {"spec": {"taints": [fleet.GPU_TAINT]}})
    until(
        lambda: states(observed), "both to be ready again", holds=lambda seen: seen == {FIRST: "Ready", SECOND: "Ready"}
    )


def test_it_tells_who_holds_devices_and_why_a_pod_finds_none(observed: Api) -> None:
    """Others hold all devices of one node, an engine most of the other, and a second engine finds no room."""
    create(observed, claiming("notebook", 8))
    until(lambda: held(observed), "a foreign pod to hold devices", holds=lambda seen: "notebook" in seen)
    create(observed, claiming("llama-0", 6, workload="llama"))
    until(lambda: held(observed), "an engine to hold devices", holds=lambda seen: "llama-0" in seen)
    create(observed, claiming("llama-1", 4, workload="llama"))

    until(lambda: told(observed, names.pod_reasons(TEAM), REASONS_KEY), "the reason of the pod that waits", holds=waits)
    got = nodes(observed).values()
    assert [record["foreign"] for record in got if "foreign" in record] == [{"gpu": 8}]
    assert [record["ours"] for record in got if "ours" in record] == [{f"{TEAM}/llama": {"gpu": 6}}]

    for name in ("llama-1", "llama-0", "notebook"):
        observed.delete(observed.get("v1", "Pod", name, TEAM), gracePeriodSeconds="0")
    reasons = lambda: told(observed, names.pod_reasons(TEAM), REASONS_KEY)["workloads"]  # noqa: E731
    until(reasons, "no reason to be left", holds=lambda seen: seen == {})
    until(lambda: [r for r in nodes(observed).values() if "foreign" in r or "ours" in r], "all devices to be free",
          holds=lambda seen: not seen)  # fmt: skip


def create(api: Api, manifests: list[Object]) -> None:
    for one in manifests:
        api.create(one)


def held(api: Api) -> set[str]:
    """The pods whose devices the observation tells."""
    records = nodes(api).values()
    theirs = {"notebook"} if any("foreign" in record for record in records) else set()
    return theirs | ({"llama-0"} if any("ours" in record for record in records) else set())


def waits(reasons: Any) -> bool:
    found = (reasons or {"workloads": {}})["workloads"].get("llama", {"pods": []})["pods"]
    return [(one["name"], one["reason"]) for one in found] == [("llama-1", "Unschedulable")] and (
        "cannot allocate all claims" in found[0]["message"]
    )


def test_it_tells_of_a_driver_that_publishes_something_else(observed: Api) -> None:
    slice_ = fleet.devices(fleet.H100, SECOND)
    spec = slice_["spec"]
    spec["pool"]["generation"] = 2
    for device in spec["devices"]:
        device["capacity"] = {"memory": {"value": "80Gi"}}
    del spec["devices"][-1]
    observed.apply(slice_)

    got = until(lambda: pool(observed), "the difference to be told", holds=lambda seen: seen["differs"])
    assert got["differs"] == [
        {"device": "gpu", "fact": "capacity memory", "declared": "81559Mi", "published": "80Gi", "nodes": 1}
    ]
    assert got["counts"] == [{"device": "gpu", "declared": 8, "published": 7, "nodes": 1}]
    observed.apply(fleet.devices(fleet.H100, SECOND))


def test_it_cannot_read_secrets(observed: Api) -> None:
    itself = observed.as_user(token(observed))

    with pytest.raises(Refused):
        itself.list("v1", "Secret", objects.SYSTEM)
