"""Clusters that clouds make, from the first managed resource to the last one that is deleted.

Crossplane and the API server are real, and so are the schemas and rules of every provider's kinds. The providers and
the clouds are played (played_clouds.py).
"""

import functools
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from function import clouds
from function.clouds import Source
from function.core import dig
from function.vocabulary import versions
from tests.e2e import control, objects
from tests.e2e.cloud_kinds import kinds
from tests.e2e.kube import Api, Object, condition
from tests.e2e.played_clouds import NAMESPACE, Clouds
from tests.e2e.programs import Site
from tests.e2e.team import ready, title
from tests.e2e.waiting import until
from tests.support import cloud_samples

WATCHES = "v2.4.0"
each_cloud = pytest.mark.parametrize("source", clouds.PROVISIONED, ids=lambda source: source.name)
COMPOSED = (
    *dict.fromkeys(each[:2] for each in kinds()),
    (versions.PROVIDER_KUBERNETES, "Object"),
    (versions.PROVIDER_HELM, "Release"),
    (versions.PROTECTION, "Usage"),
    (versions.INFRASTRUCTURE, "ServingStack"),
    *((model.API_VERSION, model.KIND) for model in clouds.kinds()),
)


@pytest.fixture(scope="module")
def world(crossplane: str, site: Site, store: int) -> Iterator[Clouds]:
    """A control cluster with the kinds of every cloud's provider, and the clouds."""
    before = tuple(site.processes.running)
    try:
        started = control.without_provider(site, store, crossplane, f"clouds-{crossplane}")
        played = Clouds(started)
        started.api.apply(objects.namespace(NAMESPACE))
        played.open()
        started.api.apply(*(cloud_samples.inference_class(source) for source in clouds.PROVISIONED))
        yield played
    finally:
        site.processes.stop(*(one for one in site.processes.running if one not in before))


@pytest.fixture(scope="module")
def stories(world: Clouds) -> Iterator[Mapping[str, Future[None]]]:
    """What becomes of a cluster of each cloud. All go on at once, since most of a story is waiting."""
    with ThreadPoolExecutor(len(clouds.PROVISIONED)) as tellers:
        yield {source.name: tellers.submit(tell, world, source) for source in clouds.PROVISIONED}


@each_cloud
@pytest.mark.parametrize("crossplane", [WATCHES], scope="module")
def test_a_cluster_is_made_edited_and_deleted(stories: Mapping[str, Future[None]], source: Source) -> None:
    """Each resource is admitted, a pool comes and goes, and in the end nothing is left.

    No cloud would have refused a deletion: what another resource needs is deleted after it.
    """
    stories[source.name].result()


def tell(world: Clouds, source: Source) -> None:
    api, name = world.api.as_user(world.api.token), source.block
    make = functools.partial(cloud_samples.inference_cluster, source, name)
    first, second = {"name": "one", "nodeCount": 1}, {"name": "two", "nodeCount": 1, "maxNodeCount": 3}

    cluster = make(first)
    api.apply(cluster)
    await_ready(api, cluster)
    made = names(world, name)

    cluster = make(first, second)
    api.apply(cluster)
    await_ready(api, cluster)
    until(lambda: pools(api, cluster), "the second pool to be offered", holds=lambda seen: seen == {"one": 1, "two": 3})
    assert made < names(world, name)

    cluster = make(first)
    api.apply(cluster)
    until(lambda: names(world, name), "the second pool to be deleted", holds=lambda seen: seen == made)
    await_ready(api, cluster)

    api.delete(cluster)
    until(lambda: left(api, name), "nothing to be left", holds=lambda seen: seen == [])
    until(lambda: api.current(cluster), "the InferenceCluster to be gone", holds=lambda seen: seen is None)
    assert [sentence for sentence in world.refused if f" {name}-" in sentence] == []


def await_ready(api: Api, cluster: Object) -> None:
    what = f"{title(cluster)} to be Ready"
    until(functools.partial(api.current, cluster), what, holds=lambda seen: ready(seen, cluster))
    current = api.current(cluster)
    assert condition(current, "ClusterReady")["reason"] == "ClusterRunning"


def pools(api: Api, cluster: Object) -> dict[str, int]:
    """The nodes of each pool that the scheduler may use."""
    found = dig(api.current(cluster), "status", "gpuPools") or ()
    return {pool["name"]: pool["nodes"] for pool in found}


def names(world: Clouds, cluster: str) -> set[str]:
    """What has been made for a cluster."""
    return {f"{key[1]} {key[2]}" for key, made in world.made.items() if of_cluster(made, cluster)}


def left(api: Api, cluster: str) -> list[str]:
    """What is still there of a cluster, whatever it is. A Usage has no label, and is told by its name."""
    found = (one for kind in COMPOSED for one in api.list(*kind))
    return sorted(
        title(one) for one in found if of_cluster(one, cluster) or one["metadata"]["name"].startswith(f"{cluster}-")
    )


def of_cluster(target: Object, cluster: str) -> bool:
    return dig(target, "metadata", "labels", "modelplane.ai/cluster") == cluster
