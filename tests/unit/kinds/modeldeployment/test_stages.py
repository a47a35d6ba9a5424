"""What a deployment reads in each stage, and how wrong numbers and wrong labels are borne."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from function.core import Manifest, Request, Requirement, Result, dig
from function.kinds.modeldeployment import explain, stages
from function.kinds.modeldeployment.composer import COMPOSER
from function.sandbox.settle import MOST_CALLS, settle_with
from function.vocabulary import labels, names
from tests.support.worlds import NAME, World, cluster, deployment, made, replica


def reads(there: World, *, before: tuple[Requirement, ...] | None = None) -> tuple[Result, list[set[str]]]:
    """The result of a reconcile, and the names of what is required in each call."""
    asked: list[set[str]] = []

    def compose(request: Request) -> Result:
        result = COMPOSER(request)
        asked.append({r.name for r in result.requirements})
        return result

    return settle_with(compose, there.request, there.find, before), asked


def places(result: Result) -> list[str]:
    found = [r.manifest for r in result.resources.values() if r.manifest["kind"] == "ModelReplica"]
    return sorted(manifest["spec"]["clusterName"] for manifest in found)


def scheduled(result: Result) -> tuple[str, str]:
    [found] = [c for c in result.conditions if c.type == "ReplicasScheduled"]
    return found.reason, found.message


def counted(asked: Iterable[set[str]]) -> list[int]:
    """On how many clusters the replicas are read, call by call."""
    return [sum(name.startswith("replicas-on-") for name in names) for names in asked]


def claiming(there: World, **free: Any) -> World:
    """The same world, in which clusters publish other numbers of free nodes in their pool a."""

    def publish(manifest: Manifest) -> Any:
        name = manifest["metadata"]["name"]
        stated = free.get(name, free.get("all"))
        return manifest["status"]["allocations"] if stated is None else [{"pool": "a", "nodes": 1, "free": stated}]

    return there.publishing(publish)


# What is read


def test_a_settled_deployment_reads_its_own_clusters_and_asks_the_same_again() -> None:
    there = made(
        deployment(2), [cluster(n, a=2) for n in ("east", "west", "other")], [replica("east"), replica("west")]
    )
    result, asked = reads(there)
    assert asked == [{"cluster-east", "cluster-west"}] * 2
    assert reads(there, before=result.requirements)[1] == [{"cluster-east", "cluster-west"}]


def test_one_that_has_not_served_reads_its_neighbours_as_well() -> None:
    own = [replica("east"), replica("west", serves=False)]
    _, asked = reads(made(deployment(2), [cluster("east", a=2), cluster("west", a=2)], own))
    assert asked == [{"cluster-east", "cluster-west", "replicas-on-west"}] * 2


def test_a_deployment_without_replicas_reads_nothing_of_the_fleet() -> None:
    _, asked = reads(made(deployment(0), [cluster("east", a=2)]))
    assert asked == [set()]


def test_a_placement_counts_where_it_goes_and_the_next_best() -> None:
    there = made(deployment(1), [cluster(f"c{i:02}", a=1) for i in range(30)])
    result, asked = reads(there)
    assert places(result) == ["c00"]
    assert asked[0] == {"clusters", "own-replicas"}
    assert counted(asked) == [0, 9, 9]
    assert ["clusters" in names for names in asked] == [True, False, False]


def test_what_is_waited_for_is_said_and_not_at_length() -> None:
    there = made(deployment(1), [cluster(f"c{i:02}", a=1) for i in range(30)])
    request, said = there.request, []
    for _ in range(2):
        result = COMPOSER(request)
        said.append(scheduled(result)[1])
        request = replace(request, required=there.find(result.requirements))
    [name, *more] = [f"InferenceCluster c{i:02}" for i in range(5)]
    assert said == [
        f"Waiting for Crossplane to look up ModelReplicas with modelplane.ai/deployment={NAME}, all InferenceClusters",
        f"Waiting for Crossplane to look up {', '.join([name, *more])} and 13 more",
    ]


def test_candidates_of_an_earlier_state_are_ignored() -> None:
    """A placement leaves its candidates to the next reconcile. If more replicas are wanted then, all clusters count."""
    there = made(deployment(1), [cluster(f"c{i:02}", a=1) for i in range(30)])
    placed = reads(there)[0].requirements
    xr = there.request.xr
    more = {**xr, "metadata": {**xr["metadata"], "generation": 2}, "spec": {**xr["spec"], "replicas": 12}}
    scaled = replace(there, request=replace(there.request, xr=more))
    again, asked = reads(scaled, before=placed)
    assert again == reads(scaled)[0]
    assert places(again) == [f"c{i:02}" for i in range(12)]
    assert "clusters" in asked[0]


def test_candidates_that_another_draft_chose_are_kept_beside_all_clusters() -> None:
    """As after a reconcile whose replica was refused: what it asked for is still answered, and others are better now.

    To ask for the better candidates alone would leave the earlier ones answered beside them, and so on.
    """
    clusters = [cluster(name, a=1) for name in ("east", "north", "west")]
    there = made(deployment(1), clusters, others=[replica(c["metadata"]["name"], of="other") for c in clusters])
    asked_before: list[tuple[Requirement, ...]] = []

    def compose(request: Request) -> Result:
        result = COMPOSER(request)
        asked_before.append(result.requirements)
        return result

    earlier = claiming(there, west=1)
    settle_with(compose, earlier.request, earlier.find)
    _, for_candidates, *_ = asked_before
    assert [r.match_name for r in for_candidates if r.name.startswith("candidate-")] == ["west"]

    result, asked = reads(claiming(there, east=1), before=for_candidates)

    assert places(result) == []
    assert all("clusters" in names for names in asked)
    assert len(asked) == 3
    assert counted(asked) == [1, 2, 2]


def test_who_finds_no_place_reads_all_clusters_and_no_replicas() -> None:
    full = [replica(f"c{i}", of="other", namespace="hr") for i in range(9)]
    there = made(deployment(1), [cluster(f"c{i}", a=1) for i in range(9)], others=full)
    result, asked = reads(there)
    assert asked == [{"clusters", "own-replicas"}] * 2
    assert scheduled(result)[0] == "InsufficientCapacity"
    assert "held by" not in str(result.status)


def test_an_explanation_reads_everything_and_names_who_holds_the_nodes() -> None:
    there = made(deployment(1), [cluster("east", a=1)], others=[replica("east", of="other", namespace="hr")])
    request = there.request
    told = explain.explain(replace(request, required=there.find(explain.requirements(request))))
    assert [c.message for c in told.clusters] == ["pool a has 0 nodes free, and a replica needs 1; held by hr/other"]


def test_services_are_read_once_an_endpoint_is_to_be_removed() -> None:
    own = [replica("east"), replica("west")]
    there = made(deployment(2), [cluster("east", a=1), cluster("west", a=1)], own)
    endpoints = {k: r.manifest for k, r in reads(there)[0].resources.items() if r.manifest["kind"] == "ModelEndpoint"}
    scaled = {**there.request.xr, "spec": {**there.request.xr["spec"], "replicas": 1}}
    observed = {**there.request.observed, **endpoints}
    there = replace(there, request=replace(there.request, xr=scaled, observed=observed))
    result, asked = reads(there)
    assert asked == [{"cluster-east", "cluster-west"}, *[{"cluster-east", "cluster-west", "services"}] * 2]
    assert result.resources.keys() == observed.keys()
    assert reads(there, before=result.requirements)[1] == asked[-1:]


# Wrong numbers


@pytest.mark.parametrize("before", [False, True])
def test_a_fleet_that_lies_everywhere_is_read_as_a_whole_within_the_calls_there_are(before: bool) -> None:
    held = [replica(f"c{i:03}", of="other", namespace="hr") for i in range(199)]
    there = made(deployment(1), [cluster(f"c{i:03}", a=1) for i in range(200)], others=held)
    lied = claiming(there, all=1)
    settled = reads(made(deployment(0), [cluster("c000", a=1)]))[0].requirements
    result, asked = reads(lied, before=settled if before else None)
    assert places(result) == ["c199"]
    assert counted(asked) == [0, 9, 9, 37, 37, 37]
    assert ["clusters" in names for names in asked] == [True, False, *[True] * 4]
    assert ["all-replicas" in names for names in asked] == [False] * 4 + [True] * 2
    assert len(asked) == MOST_CALLS


@pytest.mark.slow
def test_where_too_many_would_be_counted_all_are_read() -> None:
    held = [replica(f"c{i:03}", of="other", namespace="hr") for i in range(350)]
    there = made(deployment(100), [cluster(f"c{i:03}", a=1) for i in range(350)], others=held)
    result, asked = reads(claiming(there, all=1))
    assert places(result) == []
    assert counted(asked) == [0, 108, 108, 108, 108]
    assert ["all-replicas" in names for names in asked] == [False] * 3 + [True] * 2


def test_a_place_that_nobody_publishes_is_waited_for() -> None:
    there = claiming(made(deployment(1), [cluster("east", a=1)]), east=0)
    result, _ = reads(there)
    assert places(result) == []
    assert scheduled(result)[0] == "InsufficientCapacity"


@pytest.mark.parametrize(
    "published", [[], None, "free", [{"pool": "a"}], [{"pool": "a", "free": True}], [{"pool": {}}]]
)
def test_numbers_that_are_missing_or_malformed_are_no_reason_for_a_no(published: Any) -> None:
    there = made(deployment(1), [cluster("east", a=1)]).publishing(lambda _: published)
    result, asked = reads(there)
    assert places(result) == ["east"]
    assert "replicas-on-east" in asked[-1]


def test_numbers_of_pools_that_are_gone_and_too_large_ones_give_nothing_away() -> None:
    held = [replica("east", of="other", namespace="hr")]
    there = made(deployment(1), [cluster("east", a=1)], others=held)
    lied = there.publishing(lambda _: [{"pool": "gone", "free": 9}, {"pool": "a", "nodes": 1, "free": 10**9}])
    result, _ = reads(lied)
    assert places(result) == []


def test_a_wrong_number_costs_no_replica_that_serves() -> None:
    there = claiming(made(deployment(1), [cluster("east", a=1)], [replica("east")]), east=-5)
    assert places(reads(there)[0]) == ["east"]


# Empty answers


def without(there: World, *names: str) -> Result:
    """The result of a reconcile in which some requirements find nothing."""

    def find(asked: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
        return {name: () if name in names else found for name, found in there.find(asked).items()}

    return settle_with(COMPOSER, there.request, find)


def test_a_cluster_of_which_no_replica_is_found_has_the_nodes_that_it_publishes() -> None:
    held = [replica("east", i, of="other", namespace="hr") for i in range(2)]
    there = made(deployment(2), [cluster("east", a=3)], others=held)
    result = without(there, "replicas-on-east")
    assert places(result) == ["east"]
    assert scheduled(result)[0] == "InsufficientCapacity"


def test_a_cluster_on_which_not_even_its_own_are_found_gets_no_more() -> None:
    there = made(deployment(2), [cluster("east", a=3)], [replica("east", serves=False)])
    assert places(reads(there)[0]) == ["east", "east"]
    result = without(there, "replicas-on-east")
    assert places(result) == ["east"]
    assert scheduled(result) == (
        "Scheduling",
        "Waiting for a list of the ModelReplicas on east that includes its own",
    )


def test_no_replica_at_all_gives_nothing_away_in_the_last_stage() -> None:
    held = [replica(f"c{i:03}", of="other", namespace="hr") for i in range(199)]
    own = [replica("c200")]
    there = made(deployment(2), [cluster(f"c{i:03}", a=1) for i in range(201)], own, held)
    result = without(claiming(there, all=1), "all-replicas")
    assert places(result) == ["c200"]
    assert scheduled(result)[0] == "Scheduling"


def test_a_cluster_that_its_name_does_not_find_is_looked_for_among_all() -> None:
    there = made(deployment(1), [cluster("east", a=1), cluster("west", a=1)], [replica("east")])
    assert places(without(there, "cluster-east")) == ["east"]
    sick = [replica("east", serves=False), replica("west")]
    there = made(deployment(1), [cluster("east", a=1), cluster("west", a=1)], sick)
    assert places(without(there, "cluster-west")) == places(reads(there)[0]) == ["west"]


def test_a_cluster_that_nobody_finds_is_gone() -> None:
    there = made(deployment(1), [cluster("east", a=1), cluster("west", a=1)], [replica("east")])
    gone = replace(there, clusters=there.clusters[1:])
    result, asked = reads(gone)
    assert places(result) == ["west"]
    assert "clusters" in asked[-1]


@pytest.mark.parametrize("names", [("clusters",), ("clusters", "cluster-east"), ("clusters", "cluster-west")])
def test_a_fleet_that_is_empty_in_a_later_stage_takes_nothing_away(names: tuple[str, ...]) -> None:
    own = [replica("east"), replica("west")]
    there = made(deployment(3), [cluster(n, a=1) for n in ("east", "north", "west")], own)
    result = without(there, *names)
    assert places(result) == ["east", "west"]
    assert scheduled(result)[0] == "Scheduling"


def test_a_list_without_a_cluster_that_is_there_chooses_no_candidates() -> None:
    """Its own cluster has room, but the list would have had a better one."""
    there = made(deployment(2), [cluster("east", a=2), cluster("west", a=1)], [replica("east")])
    assert places(reads(there)[0]) == ["east", "west"]
    result = without(there, "clusters")
    assert places(result) == ["east"]
    assert scheduled(result) == ("Scheduling", "Waiting for a list of all InferenceClusters that includes east")


# Labels that lie


def test_a_label_of_a_cluster_on_which_a_replica_is_not_takes_no_node_there() -> None:
    elsewhere = replica("west", of="other", namespace="hr")
    elsewhere["metadata"]["labels"][labels.CLUSTER] = "east"
    there = made(deployment(1), [cluster("east", a=1)], others=[elsewhere])
    assert places(reads(there)[0]) == ["east"]


def test_a_replica_counts_where_its_spec_says_whatever_its_label_says() -> None:
    elsewhere = replica("west", of="other", namespace="hr")
    elsewhere["metadata"]["labels"][labels.CLUSTER] = "east"
    there = made(deployment(2), [cluster("east", a=1), cluster("west", a=1)], others=[elsewhere])
    assert places(reads(claiming(there, all=1))[0]) == ["east"]


def test_a_label_that_names_nobody_is_written_anew() -> None:
    own = replica("east")
    own["metadata"]["labels"][labels.CLUSTER] = "nobody"
    result, _ = reads(made(deployment(1), [cluster("east", a=1)], [own]))
    [manifest] = [r.manifest for r in result.resources.values() if r.manifest["kind"] == "ModelReplica"]
    assert manifest["metadata"]["labels"][labels.CLUSTER] == "east"


@pytest.mark.parametrize("is_outdated", [False, True])
def test_a_label_that_names_nobody_does_not_stop_a_deployment_that_waits(is_outdated: bool) -> None:
    """Only a replica that the look-up should have found contradicts an empty answer: a hold would keep the label."""
    own = replica("east", serves=False)
    own["metadata"]["labels"][labels.CLUSTER] = "nobody"
    own["metadata"]["annotations"] |= {labels.SPEC_HASH: "old"} if is_outdated else {}
    result, _ = reads(made(deployment(2), [cluster("east", a=1)], [own]))
    [manifest] = [r.manifest for r in result.resources.values() if r.manifest["kind"] == "ModelReplica"]
    assert manifest["metadata"]["labels"][labels.CLUSTER] == "east"
    assert scheduled(result)[0] == "InsufficientCapacity"


def test_a_hold_writes_the_label_of_the_cluster_anew() -> None:
    """Without it the nodes of the replica would seem to be free, as long as its deployment is on hold."""
    own = replica("east")
    own["metadata"]["labels"] |= {labels.CLUSTER: "nobody", "team": "a"}
    refused = deployment(1, engines=[])
    result, _ = reads(made(refused, [cluster("east", a=1)], [own]))
    assert scheduled(result)[0] != "ReplicasCreated"
    [held] = result.resources.values()
    assert held.ready
    assert held.manifest["metadata"]["labels"] == own["metadata"]["labels"] | {labels.CLUSTER: "east"}
    assert held.manifest["spec"] == own["spec"]


def test_a_replica_that_was_orphaned_is_found_by_its_label_and_taken_over() -> None:
    """As after `kubectl delete --cascade=orphan` and a new `kubectl apply`."""
    orphan = replica("east", serves=False)
    del orphan["metadata"]["ownerReferences"]
    there = made(deployment(1), [cluster("east", a=1), cluster("west", a=1)], others=[orphan])
    result, asked = reads(there)
    assert places(result) == ["east"]
    assert dig(next(iter(result.resources.values())).manifest, "metadata", "name") == f"{NAME}-east-0"
    assert "replicas-on-east" in asked[-1]


def left_behind(*, serves: bool) -> World:
    """A deployment that refers to one of its two replicas, and wants one. They are more than their cluster has."""
    return made(deployment(1), [cluster("east", a=1)], [replica("east")], others=[replica("east", 1, serves=serves)])


@pytest.mark.parametrize(
    ("serves", "kinds"),
    [(False, ["ModelReplica"]), (True, ["ModelEndpoint", "ModelReplica"])],
    ids=["starts", "serves"],
)
def test_a_replica_that_is_not_referred_to_is_composed_once_to_be_deleted(serves: bool, kinds: list[str]) -> None:
    there = left_behind(serves=serves)
    index = names.replica_key("east", 1), names.endpoint_key("east", 1)

    result, asked = reads(there)

    left = {key: result.resources[key].manifest for key in index if key in result.resources}
    assert sorted(manifest["kind"] for manifest in left.values()) == kinds
    assert asked[-1] == {"cluster-east", "replicas-on-east"}
    assert left[index[0]]["spec"] == there.replicas[0]["spec"]

    known = {**there.request.observed, **{key: {**there.replicas[0], **dict(one)} for key, one in left.items()}}
    again, _ = reads(replace(there, request=replace(there.request, observed=known)))
    assert (index[0] in again.resources) is serves  # as long as its endpoint is drained


def test_neighbours_are_not_read_on_a_cluster_that_has_what_is_taken() -> None:
    there = made(deployment(1), [cluster("east", a=2)], [replica("east")], others=[replica("east", 1)])
    assert reads(there)[1] == [{"cluster-east"}] * 2


def test_the_first_stage_asks_for_all_clusters_where_replicas_are_missing() -> None:
    there = made(deployment(2), [cluster("east", a=3)], [replica("east")])
    assert stages.first(there.request).whole_fleet
    assert not stages.first(made(deployment(1), [], [replica("east")]).request).whole_fleet
