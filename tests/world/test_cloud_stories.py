"""A cluster that a cloud makes, told on the embedded control plane for every cloud: made, edited, failed, deleted.

A cloud takes one step of each resource in a round, and reconciles come in any order. Every story runs for one cloud by
default, and for all clouds among the slow tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from function import clouds
from function.clouds import Source
from function.contracts.cloud.composition import pool_key
from function.contracts.cloud.site import Site
from function.core import dig, is_ready, plain
from function.planning.faults import CreationFault
from function.sandbox.store import Ref, ref_of
from function.validation import validate
from function.vocabulary import names, versions
from tests.support import cloud_samples
from tests.support.cloud_worlds import CLUSTER, DEPLOYMENT, NAME, POOLS, CloudWorld, begun, deployment, running, spare
from tests.support.cloud_worlds import provisioner as of

CLOUDS = [source for source in clouds.PROVISIONED if source.provisioner]
BY_DEFAULT = "Nebius"
"""It has what any cloud has, storage and identities among it, in few resources."""
every_cloud = pytest.mark.parametrize(
    "source",
    [pytest.param(one, id=one.name, marks=[pytest.mark.slow] * (one.name != BY_DEFAULT)) for one in CLOUDS],
)
ONE, TWO = map(pool_key, ("one", "two"))
QUOTA = "QuotaExceeded: 8 GPUs asked for, 0 of 0 are left in the region"
DENIED = "AccessDenied: modelplane is not authorized to perform this action"
SOLD_OUT = "InsufficientCapacity: the zone has no machines of this type at the moment"


@cache
def _rests(name: str) -> CloudWorld:
    return running(clouds.BY_NAME[name], deployment())


@pytest.fixture
def world(source: Source) -> CloudWorld:
    """The InferenceCluster runs, and a replica on each of its two pools."""
    return _rests(source.name).copied()


def specs(world: CloudWorld) -> dict[str, Any]:
    return {key: plain(m["spec"]) for key, m in world.managed().items()}


# Samples


def test_every_cloud_that_makes_clusters_has_a_sample() -> None:
    assert {source.name for source in CLOUDS} <= set(cloud_samples.SAMPLES)


@every_cloud
def test_a_sample_is_valid(source: Source) -> None:
    sample = cloud_samples.inference_class(source), cloud_samples.inference_cluster(source, NAME, *POOLS)

    assert [finding.message for finding in validate(sample)] == []


# It is made


@every_cloud
def test_it_is_made_in_steps_and_says_which_are_left(source: Source) -> None:
    world, heard, done = begun(source, slow={ONE: 3, TWO: 6}), [], []
    for _ in world.rounds():
        said = world.says()
        heard += [said] if said not in heard[-1:] else []
        counted = re.search(r"\((\d+) of (\d+) resources are ready\)", said)
        done += [int(counted[1])] if counted else []
        assert "cannot resolve references" not in said, "what is only waited for is not told as an error"
        assert set(world.made()) >= {name for name, nodes in world.published().items() if nodes}

    assert heard[0] in ("Provisioning: The cluster is about to be made", "None: None")
    assert any("is not ready: Waiting for" in said for said in heard)
    assert done == sorted(done)
    assert len(set(done)) > 1
    assert heard[-1] == world.fine(2, "one", "two")
    assert world.errors() == []
    assert is_ready(world.get(CLUSTER))
    assert all(is_ready(m) for m in world.managed().values())


@every_cloud
def test_deployments_wait_for_nodes_that_the_cloud_has_made(source: Source) -> None:
    world = begun(source, deployment())
    for _ in world.rounds():
        assert {pool for _, pool in world.placed()} <= set(world.made())

    assert world.placed() == [(NAME, "one"), (NAME, "two")]
    assert world.serving() == 2


@every_cloud
def test_without_steps_it_is_made_all_the_same(source: Source) -> None:
    world = begun(source, in_steps=False)
    world.settle()

    assert is_ready(world.get(CLUSTER))


# It fails


@every_cloud
@pytest.mark.parametrize("message", [QUOTA, DENIED])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_control_plane_that_fails_is_named_in_the_clouds_words(source: Source, message: str, is_async: bool) -> None:
    fault = CreationFault(message, is_async=is_async)
    world = begun(source, creations={"cluster": fault})
    world.settle()
    failed, resource = world.says(), world.resource("cluster")
    world.control.faults.creations.clear()
    world.settle()

    assert failed.startswith("Provisioning: ")
    assert message in failed
    assert f"{resource['kind']} {resource['metadata']['name']} (cluster)" in failed
    assert is_ready(world.get(CLUSTER))


@every_cloud
def test_a_pool_that_is_out_of_stock_is_named_while_the_others_serve(source: Source) -> None:
    world = begun(source, deployment(), creations={TWO: CreationFault(SOLD_OUT)})
    world.settle()
    failed, published, placed, serving = world.says(), world.published(), world.placed(), world.serving()
    resource = world.resource(TWO)
    world.control.faults.creations.clear()
    world.settle()

    assert failed.startswith("ClusterRunning: 1 nodes, pools: one, two; ")
    assert SOLD_OUT in failed
    assert f"{resource['kind']} {resource['metadata']['name']} ({TWO})" in failed
    assert (published, placed, serving) == ({"one": 1, "two": 0}, [(NAME, "one")], 1)
    assert world.says() == world.fine(2, "one", "two")
    assert (world.placed(), world.serving()) == ([(NAME, "one"), (NAME, "two")], 2)


@pytest.mark.slow
@every_cloud
def test_whatever_is_refused_is_named_and_recovers(source: Source) -> None:
    """Once for each kind of managed resource."""
    for kind in sorted({m["kind"] for m in _rests(source.name).managed().values()}):
        world = begun(source, in_steps=False, creations={kind: CreationFault(DENIED)})
        world.settle()
        failed, ready = world.says(), is_ready(world.get(CLUSTER))
        world.control.faults.creations.clear()
        world.settle()

        assert DENIED in failed, kind
        assert re.search(rf"\b{kind} {NAME}-[a-z0-9-]+ \([a-z0-9-]+\): ", failed), kind
        assert not ready, kind
        assert world.says() == world.fine(2, "one", "two"), kind


@every_cloud
def test_what_fails_once_everywhere_recovers_by_itself(source: Source) -> None:
    kinds = {m["kind"] for m in _rests(source.name).managed().values()}
    world = begun(source, creations={kind: CreationFault(SOLD_OUT, attempts=1) for kind in kinds})
    heard = [world.says() for _ in world.rounds()]

    assert any(SOLD_OUT in said for said in heard)
    assert heard[-1] == world.fine(2, "one", "two")


@every_cloud
def test_what_fails_a_few_times_recovers_by_itself(source: Source) -> None:
    world = begun(source, creations={ONE: CreationFault(SOLD_OUT, attempts=3)}, slow={"cluster": 4})
    heard = [world.says() for _ in world.rounds()]

    assert any(SOLD_OUT in said for said in heard)
    assert heard[-1] == world.fine(2, "one", "two")


@every_cloud
def test_a_pool_that_never_becomes_ready_has_no_nodes(source: Source) -> None:
    world = begun(source, deployment(), never_ready={TWO})
    world.settle()

    assert f"Waiting for {TWO}" in world.says()
    assert world.placed() == [(NAME, "one")]


# Its credentials are missing


@every_cloud
@pytest.mark.parametrize(
    ("missing", "where"),
    [
        ("config", "ClusterProviderConfig default of {group} does not exist"),
        ("secret", f"Secret {names.SYSTEM_NAMESPACE}/{cloud_samples.CREDENTIALS} does not exist"),
        ("key", f"{names.SYSTEM_NAMESPACE}/{cloud_samples.CREDENTIALS} has no key {cloud_samples.CREDENTIALS}"),
    ],
)
def test_credentials_that_are_missing_are_named_and_appear(source: Source, missing: str, where: str) -> None:
    config, secret = cloud_samples.provider_config(of(source)), cloud_samples.credentials()
    there: Mapping[str, list[Any]] = {
        "config": [secret],
        "secret": [config],
        "key": [config, cloud_samples.credentials(key="other")],
    }
    world = CloudWorld(source)
    cluster = cloud_samples.inference_cluster(source, NAME, *POOLS)
    world.load(cloud_samples.inference_class(source), cluster, *there[missing])
    world.settle()
    failed, made = world.says(), world.managed()
    world.load(config, secret)
    world.settle()

    assert where.format(group=of(source).provider.partition("/")[0]) in failed
    assert made == {}
    assert is_ready(world.get(CLUSTER))


@every_cloud
@pytest.mark.parametrize("missing", ["config", "secret"])
def test_credentials_that_vanish_take_nothing_along(world: CloudWorld, missing: str) -> None:
    before, config = specs(world), cloud_samples.provider_config(of(world.source))
    secret = ref_of(cloud_samples.credentials())
    world.control.store.lose(world.config() if missing == "config" else secret)
    world.settle()
    failed = world.says()
    world.load(config, cloud_samples.credentials())
    world.settle()

    assert specs(world) == before
    assert "does not exist" in failed
    assert world.serving() == 2
    assert world.says() == world.fine(2, "one", "two")


# It is edited


@every_cloud
def test_a_pool_that_is_added_gets_nodes_once_it_is_made(world: CloudWorld) -> None:
    before = specs(world)
    world.pools(*POOLS, {"name": "three"})
    world.edit(DEPLOYMENT, lambda m: m["spec"].update(replicas=3))
    for _ in world.rounds():
        assert world.serving() >= 2
        assert {pool for _, pool in world.placed()} <= set(world.made())

    after = specs(world)
    assert world.errors() == []
    assert {key: after[key] for key in before} == before
    assert world.placed() == [(NAME, "one"), (NAME, "three"), (NAME, "two")]


@every_cloud
def test_a_pool_that_grows_changes_nothing_but_its_size(world: CloudWorld) -> None:
    before = specs(world)
    world.pools({"name": "one", "nodeCount": 3}, POOLS[1])
    world.settle()

    after = specs(world)
    assert world.errors() == []
    assert after != before
    assert [key for key in before if after[key] != before[key]] == [ONE]
    assert world.published() == {"one": 3, "two": 1}
    assert world.says() == world.fine(4, "one", "two")


@every_cloud
def test_a_pool_shrinks_once_no_replica_is_on_it(source: Source) -> None:
    """Of two nodes, one is free: the cloud would choose which one it deletes."""
    world = begun(source, deployment())
    world.pools({"name": "one", "nodeCount": 2})
    world.settle()
    wide = specs(world)[ONE]
    told = "pool one keeps 2 nodes while replicas are on it"

    world.pools({"name": "one", "nodeCount": 1})
    for _ in world.rounds():
        assert world.serving() == 2
    assert (specs(world)[ONE], world.published()) == (wide, {"one": 1})
    world.edit(DEPLOYMENT, lambda m: m["spec"].update(replicas=1))
    world.settle()
    assert (specs(world)[ONE], world.serving()) == (wide, 1)
    assert told in world.says()
    world.edit(DEPLOYMENT, lambda m: m["spec"].update(replicas=0))
    world.settle()

    assert world.errors() == []
    assert specs(world)[ONE] != wide
    assert world.says() == world.fine(1, "one")


@every_cloud
def test_a_pool_that_is_scaled_from_now_on_loses_only_free_nodes(source: Source) -> None:
    world = begun(source, deployment(replicas=1))
    world.pools({"name": "one", "nodeCount": 3})
    world.settle()

    world.pools({"name": "one", "maxNodeCount": 1})
    for _ in world.rounds():
        assert world.serving() == 1
    [asked] = dig(world.composite(), "spec", "nodePools")

    assert world.errors() == []
    assert asked["maxNodeCount"] == 3
    assert world.published() == {"one": 1}
    assert "pool one keeps a maximum of 3 nodes while replicas are on it" in world.says()


@every_cloud
def test_a_pool_that_is_removed_stays_until_the_replicas_have_moved(world: CloudWorld) -> None:
    world.pools(POOLS[0], {"name": "three"})
    for _ in world.rounds():
        assert world.serving() >= 2
        if (NAME, "two") in world.placed():
            assert TWO in world.managed()
            assert "deletionTimestamp" not in world.resource(TWO)["metadata"]

    assert TWO not in world.managed()
    assert world.placed() == [(NAME, "one"), (NAME, "three")]
    assert (world.refusals(), world.errors()) == ([], [])
    assert len(world.in_cloud()) == len(world.managed())


@every_cloud
def test_a_class_that_vanishes_changes_nothing(world: CloudWorld) -> None:
    before = specs(world)
    class_name = cloud_samples.SAMPLES[world.source.name].class_name
    world.delete(Ref(versions.MODELPLANE, "InferenceClass", "", class_name))
    world.settle()

    assert specs(world) == before
    assert world.says().startswith("WaitingForClasses: ")
    assert world.serving() == 2


# It is deleted


@every_cloud
def test_it_stays_while_replicas_are_on_it_and_leaves_nothing_behind(source: Source) -> None:
    world = _rests(source.name).copied()
    accepted = world.delete(CLUSTER)
    world.settle()
    drained = world.says(), world.serving()
    world.load(spare(cloud_samples.SAMPLES[source.name].class_name, nodes=2))
    for _ in world.rounds():
        assert world.serving() >= 2

    world.delete(world.config())

    assert not accepted
    assert world.get(world.config()) is None
    assert "to be deleted once these have left: " in drained[0]
    assert drained[1] == 2
    assert world.placed() == [("spare", "spare")] * 2
    assert world.get(CLUSTER) is None
    assert (world.refusals(), world.in_cloud(), world.left()) == ([], [], [])


@every_cloud
@pytest.mark.parametrize("rounds", [0, 1, 2, 4, 6, 8, 11, 14, 17, 20, 25, 30])
def test_it_is_deleted_whenever_while_it_is_made(source: Source, rounds: int) -> None:
    world = begun(source)
    for count in range(rounds):
        world.control.loop.round(count)
    world.delete(CLUSTER)
    world.settle()

    assert world.get(CLUSTER) is None
    assert (world.refusals(), world.in_cloud(), world.left()) == ([], [], [])


@every_cloud
def test_it_is_deleted_after_it_has_failed(source: Source) -> None:
    world = begun(source, creations={TWO: CreationFault(SOLD_OUT)})
    world.settle()
    world.delete(CLUSTER)
    world.settle()

    assert world.get(CLUSTER) is None
    assert (world.refusals(), world.in_cloud(), world.left()) == ([], [], [])


# A release with other defaults


@every_cloud
def test_another_default_is_for_new_clusters_only(world: CloudWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    before = specs(world)
    newer = Site.kubernetes_version

    def version(site: Site, key: str, wanted: str | None, _default: str, *path: str) -> str:
        return newer(site, key, wanted, "1.99", *path)

    monkeypatch.setattr(Site, "kubernetes_version", version)
    monkeypatch.setattr(Site, "resource", _otherwise(Site.resource))
    world.control.loop.resync()
    world.settle()

    assert specs(world) == before
    assert is_ready(world.get(CLUSTER))
    world.load(cloud_samples.inference_cluster(world.source, "new", {"name": "one"}))
    world.settle()
    assert "1.99" in repr([m["spec"] for m in world.managed("new").values()])


def _otherwise(resource: Callable[..., Any]) -> Callable[..., Any]:
    """`Site.resource` of a release that wants another value wherever the cloud does not change one that exists."""

    def changed(site: Site, key: str, kind: Any, for_provider: Mapping[str, Any], **more: Any) -> Any:
        wanted = plain(for_provider)
        for path in kind.immutable:
            *steps, last = path.split(".")
            block = dig(wanted, *steps) if steps else wanted
            if isinstance(block, dict) and isinstance(block.get(last), str):
                block[last] += "-other"
        return resource(site, key, kind, wanted, **more)

    return changed
