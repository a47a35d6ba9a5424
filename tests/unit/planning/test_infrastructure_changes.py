"""What clouds make, before and after: pairs of resources, and how they are told."""

from __future__ import annotations

import pytest

from function.cli import infrastructure_report
from function.planning import infrastructure_changes
from function.planning.changes import RemovedPool
from function.planning.infrastructure import Infrastructure, MadeResource


def made(*resources: MadeResource, cluster: str = "east", usages: int = 0) -> Infrastructure:
    return Infrastructure(cluster, "EKSCluster", f"{cluster}-1", True, ("gpu",), resources, usages)


def resource(kind: str, name: str = "a", revision: str = "1", *, on_cluster: bool = False) -> MadeResource:
    return MadeResource(kind, name, on_cluster, True, revision)


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        ([], [made(resource("VPC"))], [("new", "1 VPC", "", "")]),
        ([made(resource("VPC"))], [made(resource("VPC"))], [("kept", "", "", "")]),
        ([made(resource("VPC"))], [], [("gone", "", "", "1 VPC")]),
        (
            [made(resource("Subnet"), resource("NodeGroup"), resource("VPC"))],
            [made(resource("Subnet", "b"), resource("NodeGroup", revision="2"), resource("VPC"))],
            [("changed", "1 Subnet", "1 NodeGroup", "1 Subnet")],
        ),
        ([made(usages=1)], [made(usages=2)], [("kept", "", "", "")]),
        (
            [made(cluster="west")],
            [made(cluster="east")],
            [("new", "", "", ""), ("gone", "", "", "")],
        ),
    ],
    ids=["made", "kept", "deleted", "of each", "usages do not count", "two clusters"],
)
def test_every_resource_is_new_changed_gone_or_kept(
    before: list[Infrastructure], after: list[Infrastructure], want: list[tuple[str, str, str, str]]
) -> None:
    found = infrastructure_changes.changes(before, after)

    words = infrastructure_report.words
    assert [(c.what, words(c.created), words(c.changed), words(c.deleted)) for c in found] == want


def test_one_that_only_became_ready_is_kept() -> None:
    [change] = infrastructure_changes.changes(
        [made(MadeResource("VPC", "a", False, False, "1"))], [made(MadeResource("VPC", "a", False, True, "1"))]
    )
    assert change.what == "kept"


def test_kinds_are_counted_with_what_is_on_the_cluster_apart() -> None:
    listed = [
        *(resource(kind, str(at)) for kind, count in COUNTS.items() for at in range(count)),
        resource("StorageClass", on_cluster=True),
        *(resource("Release", str(at), on_cluster=True) for at in range(2)),
    ]

    assert infrastructure_report.words(listed) == (
        "2 Addresses, 1 Cluster, 2 Gateways, 3 Policies, 6 Subnets, 1 VPC; on the cluster: 2 Releases, 1 StorageClass"
    )


COUNTS = {"VPC": 1, "Subnet": 6, "Policy": 3, "Address": 2, "Gateway": 2, "Cluster": 1}


def test_the_headline_counts_what_is_in_clouds() -> None:
    first = [made(resource("VPC"), resource("NodeGroup"), resource("StorageClass", on_cluster=True))]
    then = [made(resource("NodeGroup", revision="2"), resource("EIP"), resource("EIP", "b"))]

    def told(before: list[Infrastructure], after: list[Infrastructure]) -> str:
        return infrastructure_report.headline(infrastructure_changes.changes(before, after))

    assert told(first, then) == "in clouds 2 new, 1 changed, 1 gone"
    assert told(first, first) == ""


@pytest.mark.parametrize(
    ("left", "want"),
    [
        (0, "east: pool gpu is removed under 2 replicas; the cloud deletes it once they have moved"),
        (1, "east: pool gpu is removed under 2 replicas, and stays in the cloud: 1 replica cannot move"),
    ],
)
def test_a_pool_that_is_removed_under_replicas_is_told(left: int, want: str) -> None:
    assert list(infrastructure_report.removed([RemovedPool("east", "gpu", 2, left)])) == [want]
