"""A ModelCache that reads only what its decision stands on answers as one that reads the whole fleet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function import registry
from function.api.modelcache import parse
from function.core import HoldDecision, Manifest, Request, Requirement, Result, dig, identity, plain
from function.kinds.modelcache import compose, inputs, keys
from function.kinds.modelcache.composer import COMPOSER, decide
from function.kinds.modelcache.inputs import CLUSTERS
from function.kinds.modelcache.mounts import Mounts
from function.sandbox.settle import resolve, settle_with
from function.vocabulary import labels, versions
from tests.support import arrivals

NAMES = ("east", "north", "west")
CACHE = "weights"
SITES: tuple[dict[str, str], ...] = ({"site": "a"}, {"site": "b"}, {})
HUB = {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-8B", "revision": "main", "sizeGiB": 10}}


def claims(**selector: str) -> dict[str, Any]:
    entry = {"claimName": "models", "clusterSelector": {"matchLabels": selector}}
    return {"source": "PersistentVolumeClaim", "persistentVolumeClaim": {"claims": [entry]}}


@dataclass(frozen=True)
class World:
    """A spec, and the clusters and replicas that there are."""

    spec: dict[str, Any]
    clusters: tuple[Manifest, ...] = ()
    replicas: tuple[Manifest, ...] = ()

    @property
    def objects(self) -> list[Manifest]:
        return [*self.clusters, *self.replicas]


def cluster(name: str, site: Mapping[str, str], leaving: bool, storage: bool) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {
            "name": name,
            "labels": dict(site),
            **({"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {}),
        },
        "status": {
            "providerConfigRef": {"name": f"{name}-config"},
            **({"cache": {"storageClassName": "efs"}} if storage else {}),
        },
    }


def replica(index: int, on: str, cache: str | None, label: str | None) -> dict[str, Any]:
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelReplica",
        "metadata": {
            "name": f"chat-{index}",
            "namespace": "ml",
            **({"labels": {labels.MODELCACHE: label}} if label else {}),
        },
        "spec": {"clusterName": on, **({"modelCacheRef": {"name": cache}} if cache else {})},
    }


def fleets(leaving: st.SearchStrategy[bool]) -> st.SearchStrategy[tuple[Manifest, ...]]:
    one = st.tuples(st.sampled_from(NAMES), st.sampled_from(SITES), leaving, st.booleans())
    return st.lists(one, unique_by=lambda made: made[0]).map(lambda many: tuple(cluster(*each) for each in many))


def crowds(labelled: bool = False) -> st.SearchStrategy[tuple[Manifest, ...]]:
    """Replicas of this cache, of another and of none, with labels that are right, lie, or are missing."""
    cache, lie = st.sampled_from([CACHE, CACHE, "others", None]), st.sampled_from([CACHE, CACHE, "others", None])
    one = st.tuples(st.sampled_from(NAMES), cache, lie)
    return st.lists(one, max_size=3).map(
        lambda many: tuple(
            replica(i, on, cache, cache if labelled else label) for i, (on, cache, label) in enumerate(many)
        )
    )


selectors = st.sampled_from([{}, *({"clusterSelector": {"matchLabels": site}} for site in SITES)])
blocks = st.sampled_from([HUB, HUB, claims(), claims(site="a"), {"source": "None"}])
specs = st.tuples(blocks, selectors).map(lambda made: {**made[0], **made[1]})
worlds = st.builds(World, specs, fleets(st.booleans()), crowds())


@dataclass
class Cache:
    """A cache on its way through worlds."""

    request: Request = field(default_factory=lambda: Request(xr={}))
    asked: tuple[Requirement, ...] = ()

    def enter(self, world: World) -> None:
        xr = {
            "apiVersion": versions.MODELPLANE,
            "kind": "ModelCache",
            "metadata": {"name": CACHE, "namespace": "ml"},
            "spec": world.spec,
        }
        self.request = arrivals.edited(self.request, xr)

    def compose(self, world: World, *, without: str = "") -> Result:
        """The answer of a reconcile that begins with the answers to what the last one asked for."""
        find = partial(_found, world.objects, without)
        return settle_with(registry.compose, self.request, find, self.asked or None)

    def apply(self, result: Result) -> None:
        """Everything arrives, and is complete."""
        objects = {key: r for key, r in result.resources.items() if r.manifest["kind"] == "Object"}
        others = {key: plain(r.manifest) for key, r in result.resources.items() if key not in objects}
        after = arrivals.again(self.request, replace(result, resources=objects), _complete)
        self.request = replace(after, observed={**after.observed, **others})
        self.asked = result.requirements


def _found(
    objects: Iterable[Manifest], without: str, asked: tuple[Requirement, ...]
) -> dict[str, tuple[Manifest, ...]]:
    return {name: () if name == without else found for name, found in resolve(asked, objects).items()}


def _complete(manifest: dict[str, Any]) -> dict[str, Any]:
    if manifest["kind"] == "Job":
        return {"conditions": [{"type": "Complete", "status": "True"}]}
    return {"phase": "Bound"} if manifest["kind"] == "PersistentVolumeClaim" else {}


# The answer of a cache that reads everything


def reading_everything(request: Request, world: World) -> Result:
    every = {CLUSTERS.name: world.clusters, "all-clusters": world.clusters}
    by_name = dict.fromkeys((f"cluster-{name}" for name in NAMES), ())
    mounted = Mounts(
        frozenset(r["spec"]["clusterName"] for r in world.replicas if mounts(r)),
        is_complete=True,
        found_none=not world.replicas,
    )
    reference = replace(
        COMPOSER,
        requirements=lambda _: (),
        compose=lambda r: decide(r, parse(r.xr), inputs.clusters(r, parse(r.xr)), mounted),
        held=lambda r: HoldDecision(decided={keys.USAGE: compose.protection(r, mounted).get(keys.USAGE)}),
    )
    return reference(replace(request, required={**by_name, **every}))


def mounts(replica: Manifest) -> bool:
    return bool(dig(replica, "spec", "modelCacheRef", "name") == CACHE)


def proves(replica: Manifest) -> bool:
    return mounts(replica) and dig(replica, "metadata", "labels", labels.MODELCACHE) == CACHE


@pytest.mark.slow
@given(st.lists(worlds, min_size=1, max_size=4), st.integers(1, 3))
def test_a_staged_answer_is_the_one_of_reading_everything(steps: list[World], passes: int) -> None:
    """But for the Usage, which a replica without the label does not bring about."""
    cache = Cache()
    for world in steps:
        cache.enter(world)
        for _ in range(passes):
            staged, want = cache.compose(world), reading_everything(cache.request, world)
            resources = dict(want.resources)
            if keys.USAGE not in cache.request.observed and keys.USAGE not in staged.resources:
                assert not any(map(proves, world.replicas))
                resources.pop(keys.USAGE, None)
            assert replace(staged, requirements=()) == replace(want, resources=resources, requirements=())
            cache.apply(staged)


@given(st.lists(worlds, min_size=1, max_size=3), worlds)
def test_a_look_up_that_finds_nothing_takes_nothing_away(steps: list[World], world: World) -> None:
    """For one pass, whichever it is."""
    cache = Cache()
    for step in [*steps, world]:
        cache.enter(step)
        cache.apply(cache.compose(step))
    if any(dig(m, "metadata", "annotations", labels.FOUND_NOTHING) for m in cache.request.observed.values()):
        return
    decided = cache.compose(world)
    kept = cache.request.observed.keys() & decided.resources.keys()
    for requirement in decided.requirements:
        assert cache.compose(world, without=requirement.name).resources.keys() >= kept, requirement.name


@pytest.mark.slow
@given(
    st.lists(worlds, max_size=3),
    specs.filter(lambda spec: spec["source"] != "None"),
    fleets(st.just(False)),
    crowds(labelled=True),
)
def test_a_settled_cache_reads_its_own_and_asks_the_same(
    before: list[World], spec: dict[str, Any], fleet: tuple[Manifest, ...], crowd: tuple[Manifest, ...]
) -> None:
    cache, world = Cache(), World(spec, fleet, crowd)
    for step in [*before, *[world] * 5]:
        cache.enter(step)
        cache.apply(cache.compose(step))

    asked = cache.compose(world).requirements

    assert asked == cache.asked
    stated = {status["name"] for status in dig(cache.request.xr, "status", "clusters") or ()}
    holders = stated | keys.clusters_of(cache.request)
    is_lost = holders.isdisjoint(identity(m).name for m in fleet)
    own = {CLUSTERS.name, "replicas", *(f"cluster-{name}" for name in holders)}
    assert {r.name for r in asked} <= own | ({"all-clusters"} if is_lost else set())
