"""The level of Pod Security that a cluster enforces decides which pods are placed there."""

from collections.abc import Iterator

import pytest

from tests.e2e import fleet, objects
from tests.e2e.kube import Object, condition
from tests.e2e.objects import changed
from tests.e2e.team import Team
from tests.e2e.test_workloads import await_pods
from tests.e2e.waiting import until

LEVEL = "spec.podSecurity.enforce"
FIELD = "spec.engines[0].members[0].template.spec.volumes[0].hostPath"


@pytest.fixture
def east(team: Team) -> Iterator[Object]:
    """The cluster whose level a story sets. All clusters enforce baseline by default."""
    cluster = objects.cluster(fleet.EAST)
    yield cluster
    enforce(team, cluster, "baseline")


def test_a_pod_with_a_host_path_goes_only_to_the_cluster_that_allows_it(team: Team, east: Object) -> None:
    """Spread over both clusters otherwise, both replicas are on the privileged one. A lowered level moves neither."""
    deployment = team.deploy(replicas=2, engines=[objects.engine("vllm", with_host_path())])
    said = team.await_condition(deployment, "ReplicasScheduled", "InsufficientCapacity")
    assert f"2 enforcing Pod Security baseline ({FIELD} must not be set)" in said["message"]

    enforce(team, east, "privileged")
    team.await_ready(deployment)
    assert team.clusters() == ["east", "east"]
    assert {one["spec"]["nodeName"].rpartition("-")[0] for one in team.pods()} == {"east-l4"}

    enforce(team, east, "baseline")
    team.reconcile(deployment)
    until(
        lambda: str(condition(team.api.current(deployment), "ReplicasScheduled").get("message")),
        "the replicas that stay to be named",
        holds=lambda seen: "pods that Pod Security baseline does not admit stay" in seen,
    )
    assert team.clusters() == ["east", "east"]
    await_pods(team, count=2)


def test_the_pods_of_a_restricted_cluster_are_hardened(team: Team, east: Object) -> None:
    """The namespace is labelled here, so that Kubernetes' own admission judges what became of the pods."""
    enforce(team, east, "restricted")
    namespace = objects.namespace(team.namespace)
    namespace["metadata"]["labels"] = {"pod-security.kubernetes.io/enforce": "restricted"}
    team.cluster.apply(namespace)
    where = {"matchLabels": dict(fleet.EAST.labels)}
    member = objects.member()
    member["template"]["spec"]["securityContext"] = {"runAsNonRoot": True, "runAsUser": 1000}

    team.serving(replicas=1, clusterSelector=where, engines=[objects.engine("vllm", member)])

    [pod] = team.pods()
    assert pod["spec"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    [engine] = pod["spec"]["containers"]
    assert engine["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def enforce(team: Team, cluster: Object, level: str) -> None:
    """Set the level of a cluster, and wait until the scheduler can read it."""
    team.api.apply(changed(cluster, LEVEL, level))
    until(
        lambda: (team.api.current(cluster) or {}).get("status", {}).get("podSecurity"),
        f"the cluster to publish {level}",
        holds=lambda seen: seen == {"enforce": level},
    )


def with_host_path() -> Object:
    member = objects.member()
    spec = member["template"]["spec"]
    spec["volumes"] = [{"name": "weights", "hostPath": {"path": "/mnt/weights"}}]
    spec["containers"][0]["volumeMounts"] = [{"name": "weights", "mountPath": "/weights"}]
    return member
