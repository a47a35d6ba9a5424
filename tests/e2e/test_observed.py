"""What nodes really have, from the real API server through the observer and the provider to a placement.

The stories of one cluster follow each other, and each leaves its nodes as it found them.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from function.vocabulary import names
from tests.e2e import fleet, objects
from tests.e2e.conftest import tenant
from tests.e2e.control import Control
from tests.e2e.kube import Api, Object, condition
from tests.e2e.team import Team
from tests.e2e.waiting import until
from tests.e2e.watched import CLUSTER, FIRST, SECOND, Watched

# Only this release of Crossplane watches what a function requires.
pytestmark = pytest.mark.parametrize("crossplane", ["v2.4.0"], indirect=True, scope="session")
WHOLE = [objects.engine("vllm", objects.member(objects.HOPPER, count=8))]


@pytest.fixture(scope="module")
def watched(published: Control, cluster: Api) -> Iterator[Watched]:
    there = Watched(published, cluster)
    try:
        there.bring()
        yield there
    finally:
        there.clear()


@pytest.fixture
def ml(watched: Watched, cluster: Api) -> Iterator[Team]:
    yield from tenant(watched.control, cluster)


def deploy(team: Team, replicas: int, **spec: Any) -> Object:
    """Replicas that take whole nodes of the observed cluster."""
    selector = {"matchLabels": CLUSTER.labels}
    return team.deploy(**({"replicas": replicas, "engines": WHOLE, "clusterSelector": selector} | spec))


def refused(team: Team, manifest: Object, reason: str) -> str:
    """Wait until the rejection of the observed cluster has a reason, and give its message."""

    def rejections() -> list[Object]:
        told = (team.api.current(manifest) or {}).get("status", {}).get("rejections", ())
        return [one for one in told if one["cluster"] == CLUSTER.name]

    seen = until(rejections, f"a rejection {reason}", holds=lambda found: [r["reason"] for r in found] == [reason])
    return str(seen[0]["message"])


def placed_on(team: Team, count: int) -> set[str]:
    """Wait until so many pods are bound, and give their nodes."""
    seen = until(
        lambda: [pod["spec"].get("nodeName") for pod in team.pods()],
        f"{count} pods to be bound",
        holds=lambda found: len(found) == count and all(found),
    )
    return set(map(str, seen))


def test_a_cordoned_node_is_avoided_and_named(watched: Watched, ml: Team) -> None:
    with watched.cordoned(FIRST):
        watched.counts(ready=1, cordoned=1)
        manifest = deploy(ml, 2)
        assert FIRST in refused(ml, manifest, "Cordoned")
        assert placed_on(ml, 1) == {SECOND}
        described = watched.control.kubectl("describe", "modeldeployment", "qwen", "-n", ml.namespace)
        assert "cordoned nodes (1 of watched-h100)" in " ".join(described.split())
    assert placed_on(ml, 2) == {FIRST, SECOND}


def test_what_serves_stays_on_a_node_that_is_tainted(watched: Watched, ml: Team) -> None:
    manifest = deploy(ml, 2)
    ml.await_ready(manifest)
    before = {one["metadata"]["uid"] for one in ml.replicas()}
    node = watched.node(SECOND)
    broken = {"key": "broken", "effect": "NoSchedule"}
    watched.cluster.patch(node, {"spec": {"taints": [fleet.GPU_TAINT, broken]}})
    try:
        watched.counts(ready=1, tainted=1)
        ml.settled()
        assert {one["metadata"]["uid"] for one in ml.replicas()} == before
    finally:
        watched.cluster.patch(node, {"spec": {"taints": [fleet.GPU_TAINT]}})


def test_devices_that_others_hold_are_not_given_away(watched: Watched, ml: Team) -> None:
    watched.cluster.apply(objects.namespace(ml.namespace))
    pods = watched.notebook(ml.namespace, 1)
    for one in pods:
        watched.cluster.create(one)
    watched.counts(foreign=1)
    manifest = deploy(ml, 2)
    assert "pods that Modelplane does not know hold 1 device" in refused(ml, manifest, "TakenByOthers")
    for one in reversed(pods):
        watched.cluster.delete(one, gracePeriodSeconds="0")
    ml.await_ready(manifest)


def test_a_device_that_differs_from_its_class_is_not_promised(watched: Watched, ml: Team) -> None:
    """The class declares 81559Mi, and the driver publishes 79Gi. A model that needs 81559Mi finds none."""
    for name in (FIRST, SECOND):
        publish(watched, name, "79Gi")
    told = watched.says("ClassMatchesNodes", "Differs")
    assert "79Gi" in told
    assert "81559Mi" in told
    needs = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{fleet.H100.memory}")) >= 0'
    manifest = deploy(ml, 1, engines=[objects.engine("vllm", objects.member(needs, count=8))])
    assert "79Gi" in refused(ml, manifest, "DeviceDiffers")
    assert ml.replicas() == []
    for name in (FIRST, SECOND):
        publish(watched, name, fleet.H100.memory)
    ml.await_ready(manifest)


def publish(watched: Watched, node: str, memory: str) -> None:
    """Let the driver publish devices of so much memory on a node."""
    slice_ = fleet.devices(fleet.H100, node)
    for device in slice_["spec"]["devices"]:
        device["capacity"] = {"memory": {"value": memory}}
    watched.cluster.apply(slice_)


def test_the_owner_of_a_model_reads_why_its_pod_does_not_run(watched: Watched, ml: Team) -> None:
    """kwok pulls no images: the status of the pod is written as a kubelet would write it."""
    manifest = deploy(ml, 1)
    placed_on(ml, 1)
    why = 'Back-off pulling image "vllm/vllm-openai:v0.23.0": not found'
    waiting = {"reason": "ImagePullBackOff", "message": why}
    stuck = {
        "name": "engine",
        "ready": False,
        "restartCount": 0,
        "image": "",
        "imageID": "",
        "state": {"waiting": waiting},
    }
    conditions = [{"type": kind, "status": "False"} for kind in ("Ready", "ContainersReady")]
    status = {"phase": "Pending", "containerStatuses": [stuck], "conditions": conditions}

    def told() -> str:
        for pod in ml.pods():
            watched.cluster.patch(pod, {"status": status}, "status")
        return str(condition(ml.api.current(manifest), "ReplicasReady").get("message", ""))

    message = until(told, "the reason of the pod", holds=lambda said: "ImagePullBackOff" in said)
    assert why in message
    for pod in ml.pods():
        watched.cluster.delete(pod, gracePeriodSeconds="0")
    ml.await_ready(manifest)


def test_without_the_observer_what_is_declared_counts_and_nothing_moves(watched: Watched, ml: Team) -> None:
    """It is the availability of its Deployment that tells that it is gone."""
    manifest = deploy(ml, 1)
    ml.await_ready(manifest)
    before = {one["metadata"]["uid"] for one in ml.replicas()}
    watched.stop()
    deployment = watched.cluster.get("apps/v1", "Deployment", names.OBSERVER, objects.SYSTEM)
    with watched.cordoned(FIRST), watched.cordoned("system-0"):
        for pod in watched.cluster.list("v1", "Pod", objects.SYSTEM, deployment["spec"]["selector"]["matchLabels"]):
            watched.cluster.delete(pod, gracePeriodSeconds="0")
        watched.says("CapacityObserved", "ObserverUnavailable")
        ml.api.apply({**manifest, "spec": {**manifest["spec"], "replicas": 2}})
        ml.await_replicas(2)
        assert before < {one["metadata"]["uid"] for one in ml.replicas()}
    watched.start()
    watched.says("CapacityObserved", "Observed")
