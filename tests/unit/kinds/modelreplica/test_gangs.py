"""Gangs whose workers serve, and settings of their LeaderWorkerSets."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Result, dig
from function.engines import reading
from function.vocabulary import labels
from tests.support import replicas

HYBRID = ("--model=m", "--data-parallel-size=16", "--data-parallel-hybrid-lb")


def gang(leader: Any = None, worker: Any = None, **fields: Any) -> dict[str, Any]:
    members = [
        leader or replicas.member(*HYBRID, role="Leader"),
        worker or serving_worker(*HYBRID),
    ]
    return replicas.engine("qwen", *members, **fields)


def serving_worker(*args: str, **fields: Any) -> dict[str, Any]:
    found = replicas.member(*args, role="Worker", **fields)
    return {**found, "worker": {"nodes": 1, "serves": True}}


def composed(*engines: Any, **spec: Any) -> dict[str, Any]:
    return replicas.manifests(replicas.compose(replicas.replica(*engines, **spec)))


def pods(manifests: dict[str, Any], engine: str = "qwen") -> list[dict[str, Any]]:
    group = manifests[f"leaderworkerset-{engine}"]["spec"]["leaderWorkerTemplate"]
    return [group["leaderTemplate"], group["workerTemplate"]]


def container(pod: dict[str, Any]) -> dict[str, Any]:
    return next(c for c in pod["spec"]["containers"] if c["name"] == "engine")


def refused(*engines: Any, **spec: Any) -> str:
    result: Result = replicas.compose(replicas.replica(*engines, **spec))
    said = replicas.said(result, "ModelAccepted")
    assert said.startswith("False InvalidSpec: ")
    return said.removeprefix("False InvalidSpec: ")


def test_every_pod_of_a_gang_that_serves_is_found_and_probed() -> None:
    manifests = composed(gang())
    selector = manifests["service"]["spec"]["selector"]
    for pod in pods(manifests):
        assert pod["metadata"]["labels"].items() >= selector.items()
        assert container(pod)["ports"] == [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]
        assert {"startupProbe", "readinessProbe", "livenessProbe", "lifecycle"} <= container(pod).keys()


@pytest.mark.parametrize("worker", [{"nodes": 1}, {"nodes": 1, "serves": False}])
def test_other_workers_are_neither_found_nor_probed(worker: dict[str, Any]) -> None:
    _, pod = pods(composed(gang(worker={**replicas.member("m", role="Worker"), "worker": worker})))
    assert labels.SERVING not in pod["metadata"]["labels"]
    assert not {"ports", "startupProbe", "readinessProbe", "livenessProbe"} & container(pod).keys()


def test_workers_that_serve_are_told_their_own_model() -> None:
    """What the leader's args say is not what the worker's say."""
    manifests = replicas.manifests(
        replicas.compose(
            replicas.replica(
                gang(replicas.member("--model=/mnt/models", role="Leader"), serving_worker("--max-model-len=1")),
                modelCacheRef={"name": "weights"},
            ),
            replicas.cache(staged="main"),
        )
    )
    leader, worker = (container(pod)["args"] for pod in pods(manifests))
    assert leader == ["--model=/mnt/models"]
    assert worker == ["--max-model-len=1", "--model=/mnt/models", "--served-model-name=Qwen/Qwen3-8B"]


def test_the_service_leads_to_one_port_of_all_pods() -> None:
    """A name that only the leader's port has would find no worker."""
    named = [{"name": "api", "containerPort": 8000}]
    worker = serving_worker(*HYBRID, ports=named)
    assert composed(gang(worker=worker))["service"]["spec"]["ports"][0]["targetPort"] == 8000
    assert composed(gang())["service"]["spec"]["ports"][0]["targetPort"] == "http"


CONTAINER = "spec.engines[0].members[1].template.spec.containers[0]"


@pytest.mark.parametrize(
    ("leader", "worker", "want"),
    [
        ((), ("--port=9000",), f"{CONTAINER}.args: --port is port 9000, but the leader's is 8000: "),
        (("--port=9000",), (), f"{CONTAINER}: listens on port 8000, but the leader's is 9000: "),
    ],
)
def test_workers_that_serve_on_another_port_are_refused(
    leader: tuple[str, ...], worker: tuple[str, ...], want: str
) -> None:
    engine = gang(replicas.member(*HYBRID, *leader, role="Leader"), serving_worker(*HYBRID, *worker))
    assert refused(engine).startswith(want)


def test_workers_that_do_not_serve_may_listen_anywhere() -> None:
    worker = replicas.member("m", "--port=9000", role="Worker")
    assert "leaderworkerset-qwen" in composed(gang(worker=worker))


def test_the_sidecar_and_the_pool_cover_workers_that_serve() -> None:
    decode = {**gang(), "name": "decode", "phase": "Decode"}
    prefill = replicas.engine("prefill", replicas.member("m"), phase="Prefill")
    manifests = composed(serving={"mode": "PrefillDecode"}, engines=[prefill, decode])
    selector = dig(manifests["pool"], "spec", "selector", "matchLabels")
    for pod in pods(manifests, "decode"):
        assert pod["metadata"]["labels"].items() >= selector.items()
        assert pod["metadata"]["labels"][labels.LLMD_ROLE] == "decode"
        [sidecar] = pod["spec"]["initContainers"]
        assert [port["containerPort"] for port in sidecar["ports"]] == [8000]
        assert [port["containerPort"] for port in container(pod)["ports"]] == [8001]


# Settings of the LeaderWorkerSet


def workload(**settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = composed(gang(leaderWorkerSet=settings))["leaderworkerset-qwen"]
    return found


def test_without_settings_it_is_what_it_was() -> None:
    without = composed(gang())["leaderworkerset-qwen"]
    assert workload() == without
    assert without["spec"]["startupPolicy"] == "LeaderCreated"
    assert without["spec"]["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupOnPodRestart"
    assert not {"networkConfig", "subGroupPolicy"} & {*without["spec"], *without["spec"]["leaderWorkerTemplate"]}


def test_settings_are_passed_on() -> None:
    made = workload(
        labels={"kueue.x-k8s.io/queue-name": "serving"},
        annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"},
        startupPolicy="LeaderReady",
        restartPolicy="RecreateGroupAfterStart",
        subGroupPolicy={"subGroupSize": 1},
        networkConfig={"subdomainPolicy": "UniquePerReplica"},
    )
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "serving"
    assert made["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/exclusive-topology"] == "rack"
    assert made["spec"]["startupPolicy"] == "LeaderReady"
    assert made["spec"]["networkConfig"] == {"subdomainPolicy": "UniquePerReplica"}
    group = made["spec"]["leaderWorkerTemplate"]
    assert group["restartPolicy"] == "RecreateGroupAfterStart"
    assert group["subGroupPolicy"] == {"subGroupPolicyType": "LeaderWorker", "subGroupSize": 1}


def test_settings_of_the_workload_are_none_of_its_pods() -> None:
    made = composed(gang(leaderWorkerSet={"labels": {"team": "a"}, "annotations": {"note": "b"}}))
    for pod in pods(made):
        assert "team" not in pod["metadata"]["labels"]
        assert "note" not in pod["metadata"]["annotations"]


def test_every_variable_that_is_set_counts_as_set_where_a_command_is_read() -> None:
    """Otherwise a `$(…)` of it in a command would be taken for a text."""
    there = replicas.manifests(replicas.compose(replicas.replica(replicas.gang())))["leaderworkerset-qwen"]
    [engine] = there["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"]
    assert {one["name"] for one in engine["env"] if one["name"].startswith("MODELPLANE_")} == reading.OURS
