"""What a ModelCache reads of the fleet: the clusters, and the replicas that mount the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from function.api import inferencecluster, modelreplica
from function.api.modelcache import Spec
from function.core import Manifest, NotYet, Request, Requirement, dig, doubt, identity
from function.fleet import clusters as published
from function.kinds.modelcache import copied
from function.scheduling import Taint
from function.vocabulary import conditions as c

USAGE = "usage"
"""Key of the Usage for replicas that mount the weights."""
REPLICAS = "replicas"
CLUSTERS = Requirement("clusters", inferencecluster.API_VERSION, inferencecluster.KIND)


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Require all clusters, the namespace's replicas, and the Secrets and ConfigMaps that are copied.

    A cluster that no longer matches may still have the weights.
    """
    return (CLUSTERS, _replicas(identity(xr).namespace), *copied.requirements(xr))


def _replicas(namespace: str) -> Requirement:
    return Requirement(REPLICAS, modelreplica.API_VERSION, modelreplica.KIND, namespace=namespace)


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
    found = request.resolved(CLUSTERS)
    if found is None:
        raise NotYet(c.NO_CLUSTERS_MATCHED(why="Crossplane has not looked up the InferenceClusters yet"))
    if not found and request.observed:
        raise NotYet(c.NO_CLUSTERS_MATCHED(why="There is no InferenceCluster; what is staged is kept"))
    selector = spec.clusterSelector.matchLabels if spec.clusterSelector else {}
    return {identity(m).name: _cluster(m, selector) for m in sorted(found, key=identity)}


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


def mounted_on(request: Request) -> Mapping[str, str] | None:
    """Return the clusters on which replicas mount the cache, each with one such replica. None if that is not known."""
    own = request.identity
    found = request.resolved(_replicas(own.namespace))
    if found is None:
        return None
    return {
        str(dig(r, "spec", "clusterName")): identity(r).name
        for r in sorted(found, key=identity, reverse=True)
        if dig(r, "spec", "modelCacheRef", "name") == own.name
    }


def finds_no_replicas(request: Request) -> bool:
    """Return whether no replica at all was found."""
    return request.resolved(_replicas(request.identity.namespace)) == ()


def is_doubted(request: Request) -> bool:
    """Return whether the first look-up without replicas is doubted.

    If it were believed, a pending delete would go ahead, and clusters would leave the status that replicas read.
    """
    return finds_no_replicas(request) and not doubt.is_believed(request, REPLICAS, USAGE)
