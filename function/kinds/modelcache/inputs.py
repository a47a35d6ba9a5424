"""What a ModelCache reads of the fleet: the clusters that its selector selects, and those that hold it already.

Clusters are looked up in stages:

1. The clusters with the labels of the selector; all of them if there is no selector.
2. By name, each cluster that is among the composed resources or in the status and was not found by its labels. A
   cluster whose labels change keeps its weights.
3. All clusters, if none was found although something is composed: a fleet without clusters is an error of the look-up,
   a fleet of other clusters is not.

A cluster that any of the look-ups finds exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from function.api import inferencecluster
from function.api.modelcache import Spec, parse
from function.core import InvalidSpec, Manifest, Missing, NotYet, Request, Requirement, dig, identity
from function.fleet import clusters as published
from function.fleet.values import mappings
from function.kinds.modelcache import copied, keys, mounts
from function.scheduling import Taint
from function.vocabulary import conditions as c

CLUSTERS = Requirement("clusters", inferencecluster.API_VERSION, inferencecluster.KIND)
"""All clusters, if there is no selector."""


def requirements(request: Request) -> tuple[Requirement, ...]:
    """Require the clusters, the replicas that mount the cache, and the Secrets and ConfigMaps that are copied.

    A spec that is refused needs no clusters: nothing is decided by it.
    """
    try:
        look_ups = _look_ups(request, parse(request.xr))
    except InvalidSpec:
        look_ups = ()
    return (*look_ups, *mounts.requirements(request), *copied.requirements(request.xr))


def _look_ups(request: Request, spec: Spec) -> tuple[Requirement, ...]:
    """Return the look-ups of clusters, up to the first stage that is not answered."""
    selected = replace(CLUSTERS, match_labels=_selector(spec))
    found = request.resolved(selected)
    if found is None or not selected.match_labels:
        return (selected,)
    missing = _holders(request) - {identity(m).name for m in found}
    named = [replace(CLUSTERS, name=f"cluster-{name}", match_name=name) for name in sorted(missing)]
    is_lost = not found and bool(request.observed) and all(request.resolved(each) == () for each in named)
    return (selected, *named, *([replace(CLUSTERS, name="all-clusters")] if is_lost else []))


def _selector(spec: Spec) -> Mapping[str, str]:
    return spec.clusterSelector.matchLabels if spec.clusterSelector else {}


def _holders(request: Request) -> set[str]:
    """Return the clusters that may have weights, or anything else of the cache."""
    stated = (status.get("name") for status in mappings(dig(request.xr, "status", "clusters")))
    return {name for name in stated if isinstance(name, str) and name} | keys.clusters_of(request)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a cache needs to know of a cluster."""

    name: str
    labels: Mapping[str, str]
    matches: bool
    leaving: bool
    """Whether it is being deleted, or a Usage has refused its deletion."""
    provider_config: str | None
    storage_class: str | None
    taints: tuple[Taint, ...]
    """The taints of all its pools."""


def clusters(request: Request, spec: Spec) -> dict[str, Cluster]:
    """Return the clusters by name.

    Raises NotYet if they are not resolved, or if none is left although something is observed.
    """
    found = {identity(m).name: m for m in _found(request, spec)}
    if not found and request.observed:
        raise Missing(c.NO_CLUSTERS_MATCHED(why="There is no InferenceCluster; what is staged is kept"))
    return {name: _cluster(found[name], _selector(spec)) for name in sorted(found)}


def _found(request: Request, spec: Spec) -> Iterator[Manifest]:
    for look_up in _look_ups(request, spec):
        found = request.resolved(look_up)
        if found is None:
            raise NotYet(c.NO_CLUSTERS_MATCHED(why="Crossplane has not looked up the InferenceClusters yet"))
        yield from found


def _cluster(manifest: Manifest, selector: Mapping[str, str]) -> Cluster:
    metadata = manifest["metadata"]
    has = dict(metadata.get("labels") or {})
    return Cluster(
        name=metadata["name"],
        labels=has,
        matches=selector.items() <= has.items(),
        leaving=published.is_being_deleted(manifest),
        provider_config=published.provider_config(manifest),
        storage_class=published.storage_class(manifest),
        taints=tuple(sorted({taint for taints in published.pool_taints(manifest).values() for taint in taints})),
    )
