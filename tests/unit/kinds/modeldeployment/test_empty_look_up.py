"""An answer that is empty by mistake gives no nodes away, and takes nothing that is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from function import registry
from function.core import Request, Requirement, Result, condition
from function.core.manifest import Manifest
from function.kinds.modeldeployment import stages
from function.sandbox.settle import resolve, settle, settle_with
from tests.support import worlds
from tests.support.cases import ROOT, load

CASE = ROOT / "modeldeployment" / "an-evicting-taint-drains-where-there-is-room"
Find = Callable[[tuple[Requirement, ...]], Mapping[str, tuple[Manifest, ...]]]


def finding_none(objects: list[Manifest], *names: str) -> Find:
    def find(asked: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
        return {name: () if name in names else found for name, found in resolve(asked, objects).items()}

    return find


def scheduled(result: Result) -> list[tuple[str, str]]:
    return [(c.reason, c.message) for c in result.conditions if c.type == "ReplicasScheduled"]


def test_a_settled_deployment_goes_on_without_it() -> None:
    """Right after the first replicas are made, a look-up may not know them yet."""
    request, objects = load(ROOT / "modeldeployment" / "who-serves-gets-an-endpoint")
    settled = settle(registry.compose, request, objects)
    said = [{"type": c.type, "status": c.status, "reason": c.reason} for c in settled.conditions]
    xr = {**request.xr, "status": {"conditions": said}}
    assert condition(xr, "ReplicasScheduled")
    counted = [r.name for r in settled.requirements if r.name.startswith("replicas-on-")]

    result = settle_with(registry.compose, replace(request, xr=xr), finding_none(objects, *counted))

    assert counted
    assert [c.reason for c in result.conditions] == [c.reason for c in settled.conditions]


def test_a_list_without_a_cluster_that_is_there_places_nothing() -> None:
    request, objects = load(CASE)
    assert settle(registry.compose, request, objects).resources.keys() > request.observed.keys()

    result = settle_with(registry.compose, request, finding_none(objects, stages.CLUSTERS.name))

    assert result.resources.keys() == request.observed.keys()
    [(reason, message)] = scheduled(result)
    assert reason == "Scheduling"
    assert message.startswith("Waiting for a list of all InferenceClusters that includes ")


def shared(free: int) -> Manifest:
    """A cluster with one shared node of eight devices and eight cpus, which publishes so many devices as free."""
    found = worlds.cluster("c", a=1)
    found["status"]["gpuPools"][0] |= {"sharing": "Devices", "node": {"cpu": "8"}}
    rows = [{"count": 1, "pods": free}]
    entry = {"name": "gpu", "total": 8, "free": free, "guaranteed": rows}
    found["status"]["allocations"] = [{"pool": "a", "nodes": 1, "free": free // 8, "devices": [entry], "atMost": rows}]
    return found


def placed_on(cluster: Manifest, cpu: str) -> list[str]:
    """The replicas of a deployment that finds no replica on a cluster."""
    xr = worlds.deployment(2)
    container = xr["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": cpu}}
    result = settle(registry.compose, Request(xr=xr), [cluster])
    return sorted(key for key, r in result.resources.items() if r.manifest["kind"] == "ModelReplica")


def test_an_empty_shared_pool_has_the_cpu_of_its_nodes_and_no_more() -> None:
    """What is published of it are bounds, which know of devices only."""
    assert len(placed_on(shared(free=8), cpu="4")) == 2
    assert len(placed_on(shared(free=8), cpu="5")) == 1


def test_a_shared_pool_of_which_something_is_taken_by_nobody_takes_nobody() -> None:
    assert placed_on(shared(free=7), cpu="1") == []
