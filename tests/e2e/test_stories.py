"""What happens to a deployment, told by real Crossplane, a real provider and a real inference cluster."""

import pytest

from tests.e2e import fleet, objects
from tests.e2e.kube import Refused, condition, says
from tests.e2e.objects import changed
from tests.e2e.team import Team, identities, title
from tests.e2e.waiting import PATIENCE, always, until

SELECTOR = "spec.engines.0.members.0.nodeSelector.devices.0.selectors.0.cel"
IMAGE = "spec.engines.0.members.0.template.spec.containers.0.image"
AT_ONCE = 25.0  # less than 27 s: a deployment that waits asks again after 30 s, give or take a tenth


def test_a_deployment_becomes_replicas_becomes_pods_on_the_pool_that_was_chosen(team: Team) -> None:
    """Each replica is pinned to a cluster and a pool, and real pods with real claims run exactly there."""
    deployment = team.serving(replicas=2)

    replicas = team.replicas()
    assert team.clusters() == ["east", "west"]  # spread before pack
    pools = {engine["members"][0]["nodePoolName"] for one in replicas for engine in one["spec"]["engines"]}
    assert pools == {"east-l4", "west-l4"}
    assert all(says(one, "Synced") and says(one, "Ready") for one in team.objects())
    nodes = {one["spec"]["nodeName"].rpartition("-")[0] for one in team.pods()}
    assert nodes == pools
    claims = team.cluster.list("resource.k8s.io/v1", "ResourceClaim", team.namespace)
    assert [len(one["status"]["allocation"]["devices"]["results"]) for one in claims] == [1, 1]
    status = team.api.current(deployment)["status"]
    assert status["replicas"] == {"total": 2, "ready": 2, "updated": 2}
    assert [(one["cluster"], one["pools"], one["ready"]) for one in status["placements"]] == [
        ("east", ["east-l4"], True),
        ("west", ["west-l4"], True),
    ]


def test_a_replica_that_serves_has_an_endpoint(team: Team) -> None:
    """An endpoint appears with serving, and its URL leads through the cluster's gateway to the replica."""
    team.serving(replicas=1)

    [replica], [endpoint] = team.replicas(), team.endpoints()
    path = f"/{team.namespace}/{replica['metadata']['name']}/"
    assert endpoint["metadata"]["name"] == replica["metadata"]["name"]
    spec = {key: value for key, value in endpoint["spec"].items() if key != "crossplane"}
    assert spec == {"url": f"http://198.18.0.2{path}v1", "rewritePath": path}


def test_a_deployment_is_scaled_up_and_down(team: Team) -> None:
    """`kubectl scale` adds replicas beside those that stand, and takes the surplus away with all that it had."""
    team.serving(replicas=1)
    first = identities(*team.replicas())

    team.control.kubectl("scale", "modeldeployment/qwen", "--replicas=3", f"--namespace={team.namespace}")
    team.await_replicas(3)
    team.await_ready(objects.deployment("qwen", team.namespace, replicas=3))
    assert first < identities(*team.replicas())

    team.control.kubectl("scale", "modeldeployment/qwen", "--replicas=1", f"--namespace={team.namespace}")
    team.await_replicas(1)
    until(lambda: len(team.workloads()), "one workload to be left", holds=lambda count: count == 1)
    until(lambda: len(team.pods()), "one pod to be left", holds=lambda count: count == 1)
    until(lambda: len(team.endpoints()), "one endpoint to be left", holds=lambda count: count == 1)


def test_a_deployment_is_scaled_to_zero_and_back(team: Team) -> None:
    deployment = team.serving(replicas=1)

    team.api.patch(deployment, {"spec": {"replicas": 0}})
    team.await_condition(deployment, "ReplicasScheduled", "ScaledToZero")
    until(team.workloads, "no workload to be left", holds=lambda seen: not seen)
    assert says(team.await_ready(changed(deployment, "spec.replicas", 0)), "ReplicasReady")

    team.api.patch(deployment, {"spec": {"replicas": 1}})
    team.await_ready(deployment)


def test_a_typo_in_a_selector_loses_nothing(team: Team) -> None:
    """A bad edit is said, and what runs stays; the next good edit is carried out."""
    deployment = team.serving(replicas=2)
    before = identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads(), *team.pods())

    team.api.apply(
        changed(deployment, SELECTOR, 'device.capacity["gpu.nvidia.com"].memry.compareTo(quantity("20Gi")) >= 0 &&')
    )
    said = team.await_condition(deployment, "ReplicasScheduled", "InvalidNodeSelector")
    assert "what runs stays as it is" in said["message"]
    always(
        lambda: identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads(), *team.pods()),
        "a typo took something away",
        holds=lambda now: now >= before,  # an endpoint may still have been on its way
        seconds=5,
    )

    team.api.apply(deployment)
    team.await_condition(deployment, "ReplicasScheduled", "ReplicasCreated")
    team.await_ready(deployment)
    assert identities(*team.replicas()) < before


def test_a_selector_that_nothing_matches_any_more_keeps_what_serves(team: Team) -> None:
    """After a valid edit that no pool satisfies, the old replica serves on: there is no successor to break for."""
    deployment = team.serving(replicas=1)
    before = identities(*team.replicas(), *team.endpoints(), *team.workloads())

    team.api.apply(changed(deployment, SELECTOR, objects.AT_LEAST_20GI.replace("20Gi", "900Gi")))
    team.await_condition(deployment, "ReplicasScheduled", "InsufficientCapacity")
    always(
        lambda: identities(*team.replicas(), *team.endpoints(), *team.workloads()),
        "an edit took something away",
        holds=lambda now: now == before,
        seconds=5,
    )


def test_a_class_is_deleted_and_nothing_is_lost(team: Team) -> None:
    """The cluster says which class is missing, publishes what it last knew, and what runs on it runs on."""
    deployment = team.serving(replicas=2)
    before = identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads())
    cluster = objects.cluster(fleet.EAST)
    offered = team.api.current(cluster)["status"]["gpuPools"]

    team.api.delete(objects.inference_class(fleet.L4))
    try:
        team.reconcile(cluster)
        said = team.await_condition(cluster, "ClusterReady", "WaitingForClasses")
        assert "l4" in said["message"]
        always(
            lambda: identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads()),
            "a deleted class took something away",
            holds=lambda now: before <= now,
            seconds=5,
        )
        assert team.api.current(cluster)["status"]["gpuPools"] == offered
    finally:
        team.api.apply(objects.inference_class(fleet.L4))
    team.reconcile(cluster)
    team.await_condition(cluster, "ClusterReady", "ClusterRunning")
    team.await_ready(deployment)


def test_two_deployments_of_one_name_in_two_namespaces_share_nothing(team: Team, other: Team) -> None:
    """No object and no workload of two tenants has a name in common, and the end of one is not felt by the other."""
    mine, theirs = team.deploy(replicas=1), other.deploy(replicas=1)
    team.await_ready(mine)
    other.await_ready(theirs)

    assert not {title(one) for one in team.objects()} & {title(one) for one in other.objects()}
    assert not {title(one) for one in team.workloads()} & {title(one) for one in other.workloads()}
    before = identities(*other.replicas(), *other.endpoints(), *other.objects(), *other.workloads(), *other.pods())
    team.api.delete(mine)
    team.await_nothing()
    assert before == identities(
        *other.replicas(), *other.endpoints(), *other.objects(), *other.workloads(), *other.pods()
    )
    other.await_ready(theirs)


def test_the_late_delete_of_a_deployment_takes_nothing_from_its_successor(team: Team) -> None:
    """Deleted and made again at once: once the new one serves, nothing of the old one's end reaches it."""
    deployment = team.serving(replicas=1)
    old = identities(*team.replicas(), *team.workloads())

    team.api.delete(deployment)
    until(lambda: team.api.current(deployment), "the name to be free", holds=lambda seen: seen is None)
    team.api.apply(deployment)
    team.await_ready(deployment)
    new = until(
        lambda: identities(*team.replicas(), *team.workloads()),
        "only the successor to be left",  # the old replica is there until its workload is gone
        holds=lambda seen: len(seen) == len(old) and not seen & old,
    )
    always(
        lambda: identities(*team.replicas(), *team.workloads()),
        "a late delete reached the successor",
        holds=lambda now: now == new,
        seconds=12,  # longer than the provider's poll
    )


def test_freed_capacity_is_noticed(team: Team, other: Team) -> None:
    """Who waits for a full pool is placed when it empties: at once where Crossplane watches, else within the TTL."""
    everything = objects.engine("big", objects.member(objects.HOPPER, count=8), copies=4)
    holder = team.deploy("holder", replicas=1, engines=[everything])
    team.await_ready(holder)
    waiting = other.deploy(
        "waiting", replicas=1, engines=[objects.engine("big", objects.member(objects.HOPPER, count=8))]
    )
    said = other.await_condition(waiting, "ReplicasScheduled", "InsufficientCapacity")
    assert "west" in said["message"] or "full" in said["message"]

    team.api.delete(holder)
    team.await_nothing()
    until(
        lambda: condition(other.api.current(waiting), "ReplicasScheduled").get("reason"),
        "freed capacity to be noticed",
        holds=lambda reason: reason == "ReplicasCreated",
        seconds=AT_ONCE if team.control.watches else PATIENCE,
    )
    other.await_ready(waiting)


def test_the_end_of_a_deployment_leaves_nothing_but_the_remote_namespace(team: Team) -> None:
    deployment = team.serving(replicas=2)

    team.api.delete(deployment)
    team.await_nothing()
    assert team.cluster.find("v1", "Namespace", team.namespace)


def test_a_restart_of_the_function_in_the_middle_changes_nothing(team: Team) -> None:
    """While the function is away nothing is lost, an edit waits, and once it is back the edit is carried out."""
    deployment = team.serving(replicas=1)
    before = identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads())

    team.control.stop_function()
    try:
        team.api.patch(deployment, {"spec": {"replicas": 2}})
        always(
            lambda: identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads()),
            "something changed without the function",
            holds=lambda now: now == before,
            seconds=3,
        )
    finally:
        team.control.start_function()
    team.await_ready(changed(deployment, "spec.replicas", 2))
    assert before < identities(*team.replicas(), *team.endpoints(), *team.objects(), *team.workloads())


def test_nothing_is_written_while_nothing_changes(team: Team) -> None:
    """Three more reconciles of the deployment leave the version of everything that it became as it was."""
    deployment = team.serving(replicas=2)
    before = team.settled()

    for _ in range(3):
        team.reconcile(deployment)
    assert team.everything() == before


def test_nothing_is_written_below_a_replica_while_nothing_changes(team: Team) -> None:
    """The same for a replica: its Objects and what they stand for are left alone."""
    team.serving(replicas=1)
    [replica] = team.replicas()

    team.reconcile(replica)
    before = team.settled()
    for _ in range(3):
        team.reconcile(replica)
    written = {name for name, version in team.everything().items() if before[name] != version}
    assert written == {title(replica)}  # which carries the request to be reconciled


def test_an_edited_image_rolls_out_without_another_node(team: Team) -> None:
    """A changed spec reaches the replica in place. Its only copy is replaced, so its endpoint may go and come back."""
    deployment = team.serving(replicas=1)
    before = identities(*team.replicas(), *team.workloads())

    edited = changed(deployment, IMAGE, "vllm/vllm-openai:v0.24.0")
    team.api.apply(edited)
    until(
        lambda: [one["spec"]["containers"][0]["image"] for one in team.pods()],
        "the pod to run the new image",
        holds=lambda images: images == ["vllm/vllm-openai:v0.24.0"],
    )
    team.await_ready(edited)
    assert identities(*team.replicas(), *team.workloads()) == before


def test_a_gang_forms_on_its_pool(team: Team) -> None:
    """Leader and worker become a LeaderWorkerSet whose pods hold whole nodes of one pool."""
    leader = objects.member(objects.HOPPER, count=8, role="Leader")
    worker = objects.member(objects.HOPPER, count=8, role="Worker", worker={"nodes": 1})
    team.serving(replicas=1, engines=[objects.engine("gang", leader, worker)])

    [gang] = team.cluster.list("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", team.namespace)
    assert says(gang, "Available")
    nodes = sorted(one["spec"]["nodeName"] for one in team.pods())
    assert len(set(nodes)) == 2
    assert {node.rpartition("-")[0] for node in nodes} == {"west-h100"}
    variables = [{env["name"]: env for env in one["spec"]["containers"][0]["env"]} for one in team.pods()]
    assert all({"MODELPLANE_LEADER_ADDRESS", "MODELPLANE_RANK", "MODELPLANE_PORT"} <= set(one) for one in variables)


def test_a_cluster_under_replicas_drains_before_it_goes(team: Team) -> None:
    """Its delete is refused while replicas are on it; they move, make-before-break; then the delete goes through."""
    north = objects.cluster(fleet.NORTH, secret=fleet.WEST.name)
    team.api.apply(north)
    team.await_ready(north)
    deployment = team.serving(replicas=3)
    assert team.clusters() == ["east", "north", "west"]
    until(lambda: team.api.list("protection.crossplane.io/v1beta1", "ClusterUsage"), "the cluster to be guarded")

    with pytest.raises(Refused, match="they move first"):
        team.api.delete(north)
    until(lambda: team.api.current(north), "the drained cluster to go", holds=lambda seen: seen is None)
    team.await_ready(deployment)
    assert "north" not in team.clusters()
    assert len(team.replicas()) == 3
