"""What is composed of a cloud's resources, in which order it goes, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from function.contracts.cloud import composition, provisioned
from function.contracts.cloud.provisioner import PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site
from function.contracts.cloud.source import KEY, Access, SecretKey
from function.core import NamespacedName, Request, Result, dig, plain
from function.sandbox.settle import settle
from function.vocabulary import crossplane
from tests.support.skycloud import CLUSTER, CONFIG, NET, POOL, Spec, World, composer, made, xr

CIDR = {"cidr": "10.0.0.0/16"}


def usages(result: Result) -> set[str]:
    return {key for key in result.resources if key.startswith("usage-")}


def keys(result: Result) -> set[str]:
    return result.resources.keys() - usages(result)


def said(result: Result) -> str:
    [condition] = result.conditions
    return f"{condition.status} {condition.reason}: {condition.message}"


def net(site: Site, **more: Any) -> Resource:
    return site.resource("net", NET, {**CIDR, **more})


def cluster(site: Site, *after: str) -> Resource:
    return site.resource("cluster", CLUSTER, {"netRef": site.ref("net")}, after=after, has_secret=True)


def pools(site: Site, spec: Spec, **more: Any) -> Iterator[Resource]:
    for pool in spec.nodePools:
        wanted = {"clusterRef": site.ref("cluster"), "size": pool.nodeCount, **more}
        yield site.resource(composition.pool_key(pool.name), POOL, wanted)


def everything(site: Site, spec: Spec) -> Iterator[Resource]:
    """Pools refer to the cluster and to the network; the cluster to the network."""
    yield net(site)
    yield cluster(site)
    yield from pools(site, spec, netRefs=site.refs(["net"]))
    manifest = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "files"}}
    yield site.object("storage", manifest, after=["cluster"])


def pool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "className": "c", **more}


# What is due


def test_what_refers_to_others_is_composed_with_them_and_what_comes_after_others_waits_until_they_are_ready() -> None:
    world = World(composer(everything))

    first = world.step(ready=lambda key: key != "cluster", nodePools=[pool("a")])
    assert keys(first) == {"net", "cluster", "pool-a"}
    second = world.step(ready=lambda key: key != "cluster", nodePools=[pool("a")])
    assert keys(second) == {"net", "cluster", "pool-a"}
    world.step(nodePools=[pool("a")])
    assert keys(world.step(nodePools=[pool("a")])) == {"net", "cluster", "pool-a", "storage"}


def test_what_was_created_stays_when_what_it_came_after_is_no_longer_ready() -> None:
    world = World(composer(everything))
    world.settle()

    world.step(ready=lambda _key: False)
    assert keys(world.step(ready=lambda _key: False)) == {"net", "cluster", "storage"}


def test_what_cannot_be_written_yet_waits_and_what_exists_stays_as_it_is_with_its_usages() -> None:
    def resources(site: Site, _spec: Spec) -> Iterator[Resource]:
        yield net(site)
        id_ = site.seen("net", "id")
        if id_ is None:
            yield site.awaiting("cluster", CLUSTER, "the id of the network")
        else:
            yield site.resource("cluster", CLUSTER, {"netRef": site.ref("net"), "netId": id_})

    world = World(composer(resources))
    assert keys(world.step()) == {"net"}
    waiting = world.step()
    assert keys(waiting) == {"net"}
    assert said(waiting) == (
        "False Provisioning: Waiting for cluster (it needs the id of the network) (1 of 2 resources are ready)"
    )
    world.observed["net"]["status"]["atProvider"] = {"id": "n-1"}
    written = world.asked()
    assert keys(written) == {"net", "cluster"}

    world.observed["cluster"] = made(written.resources["cluster"].manifest)
    world.observed["net"]["status"].pop("atProvider")
    again = world.asked()
    assert plain(again.resources["cluster"].manifest) == plain(written.resources["cluster"].manifest)
    assert usages(again) == usages(written) == {"usage-net-cluster"}


# What is pinned


def pinned(before: dict[str, Any], now: dict[str, Any]) -> Any:
    """What is written for a network that has other parameters than the release of today would write."""
    world = World(composer(lambda site, _spec: [site.resource("net", NET, now)]))
    world.step()
    world.observed["net"]["spec"]["forProvider"] = before
    return plain(world.asked().resources["net"].manifest["spec"]["forProvider"])


@pytest.mark.parametrize(
    ("before", "now", "want"),
    [
        ({"cidr": "a", "size": 1}, {"cidr": "b", "size": 2}, {"cidr": "a", "size": 2}),
        ({"size": 1}, {"cidr": "b", "size": 2}, {"size": 2}),
        ({"cidr": "a", "size": 1}, {"size": 2}, {"cidr": "a", "size": 2}),
        (
            {"options": {"mode": "a", "of": 1}},
            {"options": {"mode": "b", "of": 2}},
            {"options": {"mode": "a", "of": 2}},
        ),
        ({"cidr": "a", "options": {"mode": "a"}}, {"cidr": "a", "size": 2}, {"cidr": "a", "size": 2}),
        (
            {"cidr": "a", "options": {"mode": {"x": [1]}}},
            {"options": {}},
            {"cidr": "a", "options": {"mode": {"x": [1]}}},
        ),
    ],
    ids=["changed", "added", "dropped", "inner-changed", "without-its-block", "inner-dropped"],
)
def test_what_the_cloud_cannot_change_keeps_its_value(
    before: dict[str, Any], now: dict[str, Any], want: dict[str, Any]
) -> None:
    assert pinned(before, now) == want


def test_a_value_that_the_provider_completed_is_not_taken_over() -> None:
    world = World(composer(lambda site, _spec: [site.resource("net", NET, {"size": 1})]))
    world.step()
    owned = {"manager": "apiextensions.crossplane.io/composed/x", "operation": "Apply"}
    fields = {"f:spec": {"f:forProvider": {"f:size": {}}}}
    world.observed["net"]["metadata"]["managedFields"] = [{**owned, "fieldsV1": fields}]
    world.observed["net"]["spec"]["forProvider"]["cidr"] = "10.9.0.0/16"

    assert world.asked().resources["net"].manifest["spec"]["forProvider"] == {"size": 1}


def test_the_clouds_name_is_pinned_where_it_is_written() -> None:
    names = iter(["first", "second", "third"])
    world = World(composer(lambda site, _spec: [site.resource("net", NET, CIDR, external_name=next(names))]))

    def name(result: Result) -> Any:
        return dig(result.resources["net"].manifest, "metadata", "annotations", crossplane.EXTERNAL_NAME)

    assert [name(world.step()), name(world.step())] == ["first", "first"]


def test_a_name_that_the_cloud_gave_is_left_to_the_provider() -> None:
    world = World(composer(lambda site, _spec: [net(site)]))
    world.step()
    world.observed["net"]["metadata"]["annotations"] = {crossplane.EXTERNAL_NAME: "vpc-1"}

    assert "annotations" not in world.asked().resources["net"].manifest["metadata"]


# The order of deletion


def test_a_usage_stands_for_each_dependency_that_others_do_not_imply() -> None:
    world = World(composer(everything))
    assert usages(world.settle(nodePools=[pool("a")])) == {
        "usage-net-cluster",
        "usage-cluster-pool-a",
        "usage-cluster-storage",
    }


def test_dependencies_by_after_and_by_reference_are_reduced_together() -> None:
    def chain(site: Site, _spec: Spec) -> Iterator[Resource]:
        yield net(site)
        yield site.resource("two", NET, CIDR, after=["net"])
        yield site.resource("three", NET, CIDR, after=["two"])
        yield site.resource("four", CLUSTER, {"netRef": site.ref("net")}, after=["three"])

    assert usages(World(composer(chain)).settle()) == {"usage-net-two", "usage-two-three", "usage-three-four"}


def test_a_usage_names_both_ends() -> None:
    world = World(composer(everything))
    result = world.settle()
    usage = plain(result.resources["usage-net-cluster"].manifest)
    ends = {key: result.resources[key].manifest for key in ("net", "cluster")}

    assert usage["metadata"]["namespace"] == "modelplane-system"
    assert usage["spec"]["of"]["resourceRef"]["name"] == ends["net"]["metadata"]["name"]
    assert usage["spec"]["by"]["resourceRef"]["name"] == ends["cluster"]["metadata"]["name"]
    assert (usage["spec"]["of"]["kind"], usage["spec"]["by"]["kind"]) == ("Net", "Cluster")
    assert usage["spec"]["reason"] == "cluster needs net"


def test_a_cycle_of_a_cloud_ends() -> None:
    def cycle(site: Site, _spec: Spec) -> Iterator[Resource]:
        yield site.resource("one", CLUSTER, {"netRef": site.ref("two")})
        yield site.resource("two", CLUSTER, {"netRef": site.ref("one")})

    assert keys(World(composer(cycle)).settle()) == {"one", "two"}


@pytest.mark.parametrize("seed", range(12))
def test_what_is_no_longer_wanted_goes_before_what_it_needs_and_no_delete_is_refused(seed: int) -> None:
    """Without a pool and its network: Crossplane deletes in any order, and stops at the first that is refused."""

    def resources(site: Site, spec: Spec) -> Iterator[Resource]:
        yield net(site)
        yield cluster(site)
        for pool in spec.nodePools:
            yield site.resource(f"net-{pool.name}", NET, CIDR, after=["cluster"])
            wanted = {"clusterRef": site.ref("cluster"), "netRefs": site.refs([f"net-{pool.name}"])}
            yield site.resource(composition.pool_key(pool.name), POOL, wanted)

    world = World(composer(resources), seed=seed)
    world.settle(nodePools=[pool("a"), pool("b")])

    passes = [world.step(nodePools=[pool("a")]) for _ in range(4)]
    assert (world.gone, world.refused) == (["pool-b", "net-b"], [])
    assert [sorted(key for key in result.resources if key.endswith("-b")) for result in passes] == [
        ["net-b", "usage-cluster-net-b", "usage-net-b-pool-b"],
        ["net-b", "usage-cluster-net-b"],
        ["usage-cluster-net-b"],
        [],
    ]
    world.settle(nodePools=[pool("a")])
    assert usages(world.asked(nodePools=[pool("a")])) == world.observed.keys() - {"net", "cluster", "net-a", "pool-a"}


def test_a_resource_that_takes_long_to_go_keeps_what_it_needs() -> None:
    world = World(composer(everything))
    world.settle(nodePools=[pool("a")])
    before = plain(world.observed)

    first = world.step()
    world.observed["pool-a"] = before["pool-a"]
    assert "usage-cluster-pool-a" in first.resources
    second = world.asked()
    assert "pool-a" not in second.resources
    assert {"usage-cluster-pool-a", "cluster"} <= second.resources.keys()
    assert (second.ready, second.ttl < world.settle().ttl) == (True, True)
    assert said(second) == "True ClusterRunning: All 3 resources are ready, node pools: 0; being deleted: pool-a"


def test_what_comes_back_before_it_went_is_composed_again() -> None:
    world = World(composer(everything))
    settled = world.settle(nodePools=[pool("a")])
    world.asked()

    assert world.asked(nodePools=[pool("a")]).resources.keys() == settled.resources.keys()


# What is said


def test_progress_names_what_is_waited_for() -> None:
    world = World(composer(everything))
    first = world.step(ready=lambda key: key == "net", nodePools=[pool("a")])
    assert said(first) == (
        "False Provisioning: Waiting for net, cluster, pool-a and 1 more (0 of 4 resources are ready)"
    )
    again = world.step(nodePools=[pool("a")])
    assert said(again) == "False Provisioning: Waiting for cluster, pool-a (1 of 4 resources are ready)"
    assert not again.ready
    done = world.settle(nodePools=[pool("a")])
    assert said(done) == "True ClusterRunning: All 4 resources are ready, node pools: 1"
    assert done.ready
    assert again.ttl < done.ttl


def failing(world: World, key: str, *, ready: bool = False, **errors: str) -> None:
    world.observed[key] = made(world.observed[key], ready=ready, **errors)


def test_an_error_is_told_in_the_providers_words_with_the_resource() -> None:
    world = World(composer(everything))
    world.settle()
    failing(world, "net", Synced="cannot create: quota exceeded")
    name = world.observed["net"]["metadata"]["name"]

    assert said(world.asked()) == (
        f"False ProvisioningFailed: Net {name} (net): cannot create: quota exceeded (2 of 3 resources are ready)"
    )


def test_an_operation_that_goes_on_tells_more_than_the_reconcile() -> None:
    world = World(composer(everything))
    world.settle()
    failing(world, "net", Synced="observe failed", LastAsyncOperation="async create failed: no stock")

    assert "(net): async create failed: no stock (2 of" in said(world.asked())


def test_an_update_that_fails_is_told_although_the_resource_is_ready() -> None:
    world = World(composer(everything))
    world.settle(nodePools=[pool("a")])
    failing(world, "pool-a", ready=True, LastAsyncOperation="async update failed: quota exceeded")
    result = world.asked(nodePools=[pool("a")])

    assert not result.ready
    assert said(result).startswith("False ProvisioningFailed: Pool ")
    assert "(pool-a): async update failed: quota exceeded (3 of 4 resources are ready)" in said(result)
    assert result.status["pools"] == ["a"]


def test_a_delete_that_fails_is_told() -> None:
    world = World(composer(everything))
    world.settle(nodePools=[pool("a")])
    failing(world, "pool-a", ready=True, Synced="cannot delete: in use")

    result = world.asked()
    assert result.ready
    assert said(result).startswith("True ClusterRunning: Pool ")
    assert "(pool-a): cannot delete: in use (3 of 3 resources are ready)" in said(result)


def test_of_many_errors_three_are_told() -> None:
    many = composer(lambda site, _spec: [site.resource(f"n{i}", NET, CIDR) for i in range(5)])
    world = World(many)
    world.settle()
    for i in range(5):
        failing(world, f"n{i}", Synced=f"error {i}")

    assert "error 2; and 2 more (0 of 5 resources are ready)" in said(world.asked())
    assert "error 3" not in said(world.asked())


# The status


SECRETS = (
    PublishedSecret(type=provisioned.KUBECONFIG, of="cluster", key="kubeconfig"),
    PublishedSecret(type="SkyIdentity", of="net", key="token"),
)


def test_secrets_are_published_once_all_that_write_them_are_ready_and_stay_published() -> None:
    world = World(composer(everything, secrets=SECRETS))
    assert "secrets" not in world.step(ready=lambda key: key != "net").status
    assert "secrets" not in world.step(ready=lambda key: key != "net").status
    world.step()
    names = {key: world.observed[key]["metadata"]["name"] for key in ("cluster", "net")}
    published = world.step().status["secrets"]

    assert published == [
        {"type": "Kubeconfig", "name": names["cluster"], "key": "kubeconfig"},
        {"type": "SkyIdentity", "name": names["net"], "key": "token"},
    ]
    assert dig(world.observed["cluster"], "spec", "writeConnectionSecretToRef", "name") == names["cluster"]
    world.step(ready=lambda _key: False)
    assert world.step(ready=lambda _key: False).status["secrets"] == published


@pytest.mark.parametrize(
    ("namespace", "more"), [("elsewhere", {"namespace": "elsewhere"}), ("modelplane-system", {})], ids=["other", "ours"]
)
def test_a_secret_that_somebody_else_wrote_is_published_with_its_namespace_where_that_is_another(
    namespace: str, more: dict[str, str]
) -> None:
    written = PublishedSecret(type="SkyIdentity", of="cluster", key="token", written=NamespacedName(namespace, "sky"))
    world = World(composer(everything, secrets=(SECRETS[0], written)))
    world.settle()

    _, published = world.status["secrets"]
    assert published == {"type": "SkyIdentity", "name": "sky", "key": "token", **more}
    kubeconfig, identity = (
        world.observed["cluster"]["metadata"]["name"],
        ("SkyIdentity", SecretKey("sky", "token", namespace)),
    )
    composite = {**xr(world.status), "kind": "SkyCluster"}
    assert provisioned.access(None, Request(xr={}, observed={KEY: composite})) == Access(
        SecretKey(kubeconfig, "kubeconfig", "modelplane-system"), identity
    )


def with_text(site: Site, _spec: Spec) -> Iterator[Resource]:
    yield site.plain_secret("text", {"a": "b"})
    yield site.resource("net", NET, CIDR, after=["text"])


def test_a_secret_with_texts_is_ready_once_it_exists() -> None:
    """It has no condition Ready that could be waited for."""
    world = World(composer(with_text))
    assert keys(world.step(ready=lambda _key: False)) == {"text"}
    del world.observed["text"]["status"]

    result = world.asked()
    assert (keys(result), result.resources["text"].ready, result.resources["net"].ready) == (
        {"text", "net"},
        True,
        False,
    )
    assert said(result) == "False Provisioning: Waiting for net (1 of 2 resources are ready)"


def test_a_storage_class_is_published_once_its_object_is_ready_and_stays_published_while_it_is_the_same() -> None:
    world = World(composer(everything, storage=Storage(name="files", of="storage")))
    assert "cache" not in world.step().status
    assert "cache" not in world.step().status
    assert world.step().status["cache"] == {"storageClassName": "files"}
    world.step(ready=lambda key: key != "storage")
    assert world.step().status["cache"] == {"storageClassName": "files"}

    world.observed["storage"] = made(world.observed["storage"], ready=False)
    world.composer = composer(everything, storage=Storage(name="faster", of="storage"))
    assert "cache" not in world.asked().status
    world.composer = composer(everything)
    assert "cache" not in world.asked().status


def test_a_pool_is_published_once_it_is_made_until_it_is_gone() -> None:
    world = World(composer(everything))
    both = [pool("a"), pool("b")]
    world.step(ready=lambda key: key != "pool-b", nodePools=both)
    assert world.step(ready=lambda key: key != "pool-a", nodePools=both).status["pools"] == ["a"]
    assert world.step(nodePools=both).status["pools"] == ["a", "b"]

    lost = plain(world.observed)
    del lost["pool-a"]
    world.observed = lost
    assert world.asked(nodePools=both).status["pools"] == ["b"]
    assert "pools" not in world.asked().status


def test_a_pool_that_the_cloud_gave_up_is_not_published_although_it_exists() -> None:
    """Upjet calls a node group ready that EKS could not make: it can be observed."""
    world = World(composer(everything))
    world.settle()
    world.step(nodePools=[pool("a")])
    failing(world, "pool-a", ready=True, LastAsyncOperation="async create failed: CREATE_FAILED")

    result = world.step(nodePools=[pool("a")])
    assert "pools" not in result.status
    assert "(pool-a): async create failed: CREATE_FAILED" in said(result)
    assert world.asked(nodePools=[pool("a")]).status["pools"] == ["a"]


# What is refused


def test_what_the_cloud_cannot_do_is_refused_and_what_exists_stays() -> None:
    world = World(composer(everything))
    world.settle()
    world.composer = composer(everything, cluster_faults=lambda _block, _pools: [("net", "must be one"), ("b", "too")])
    result = world.asked()

    assert said(result) == "False InvalidSpec: spec.net: must be one; what runs stays as it is"
    assert result.resources.keys() == world.observed.keys()


def test_the_room_of_a_cluster_is_not_asked_for_again_while_replicas_leave_pools() -> None:
    crowded = composer(everything, cluster_faults=lambda _block, pools: [("net", "is too small")] if pools else [])
    assert World(crowded).settle(nodePools=[pool("a"), pool("b")]).ready


def test_a_pool_is_judged_until_it_is_made() -> None:
    """A release may refuse what an earlier one took, and a pool that replicas have not left has more than one may."""
    world = World(composer(everything))
    world.settle(nodePools=[pool("a")])
    world.composer = composer(
        everything, pool_faults=lambda _block, it, _machine: [("zones", f"of {it.name} are wrong")]
    )

    assert world.asked(nodePools=[pool("a")]).ready
    refused = world.asked(nodePools=[pool("a"), pool("b")])
    assert said(refused) == "False InvalidSpec: spec.nodePools[1].zones: of b are wrong; what runs stays as it is"
    assert refused.resources.keys() == world.observed.keys()


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"namespace": "default"}, "metadata.namespace"),
        ({"ownerReferences": []}, "metadata.ownerReferences"),
    ],
)
def test_a_composite_that_no_inference_cluster_composed_makes_nothing(metadata: dict[str, Any], field: str) -> None:
    given = xr()
    given["metadata"] |= metadata
    result = settle(composer(everything), Request(xr=given), [CONFIG])

    assert result.resources == {}
    assert said(result).startswith(f"False InvalidSpec: {field}: must ")


def test_a_composite_for_another_cluster_makes_nothing() -> None:
    result = World(composer(everything)).asked(clusterName="other")

    assert result.resources == {}
    assert said(result).startswith("False InvalidSpec: spec.clusterName: must be prod, ")
