"""Which replicas mount a ModelCache, and when that must be known for certain.

A *labelled* replica has the cache's name as the label `modelplane.ai/modelcache`. Its spec names the cache that it
mounts. Replicas that an earlier version of the function composed have no label, and anybody may change one, so labels
only find replicas: specs decide, and a replica that is not labelled may mount the cache all the same.

1. On every pass, the labelled replicas are looked up. They prove that the cache is in use.
2. *Decisive* are the clusters that keep something only as long as a replica mounts the cache there. If the labelled
   replicas do not prove that for all of them, or if they prove no use and there is a Usage, then all replicas of the
   namespace are looked up before anything is let go.

A settled cache thus reads its own replicas and no others. This is deliberately coarse in one respect: as long as there
is no Usage, a replica without a label brings none about. Its deployment labels it on its next reconcile.

The second look-up finds all that the first one found. If it does not, it is out of date, and everything is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from function.api import modelreplica
from function.core import Manifest, NamespacedName, Request, Requirement, dig, doubt, identity
from function.kinds.modelcache.keys import USAGE
from function.vocabulary import labels, names

REPLICAS = "replicas"
"""Name of the look-up of labelled replicas, and of the doubt about a namespace without replicas."""
_ALL_REPLICAS = "all-replicas"


@dataclass(frozen=True, slots=True)
class Mounts:
    """The clusters on which replicas mount the cache, as far as they are known."""

    on: frozenset[str]
    """Clusters with a replica that mounts the cache."""
    is_complete: bool
    """Whether all replicas of the namespace are known. If not, the cache may be mounted on other clusters as well."""
    is_awaited: bool = False
    """Whether the decision needs all of them, and the look-up is not answered or out of date."""
    found_none: bool = False
    """Whether the look-up of all replicas of the namespace found none."""

    def may_be_on(self, cluster: str) -> bool:
        """Return whether a replica mounts the cache on a cluster, as far as is known."""
        return cluster in self.on or not self.is_complete


def requirements(request: Request, decisive: Collection[str] = ()) -> tuple[Requirement, ...]:
    """Return the look-ups for a decision that depends on whether the cache is mounted on some clusters."""
    cache = request.identity
    return (_labelled(cache), *([_all(cache)] if _needs_all(request, decisive) else []))


def read(request: Request, decisive: Collection[str] = ()) -> Mounts:
    """Return the mounts, from the same look-ups as `requirements` returns."""
    cache = request.identity
    labelled = request.resolved(_labelled(cache)) or ()
    needs_all = _needs_all(request, decisive)
    every = request.resolved(_all(cache)) if needs_all else None
    if every is None or not set(map(identity, labelled)) <= set(map(identity, every)):
        return Mounts(_mounted(cache, labelled), is_complete=False, is_awaited=needs_all)
    return Mounts(_mounted(cache, every), is_complete=True, found_none=not every)


def is_doubted(request: Request, mounts: Mounts) -> bool:
    """Return whether the first look-up without replicas is doubted.

    If it were believed, a pending delete would go ahead, and clusters would leave the status that replicas read.
    """
    return mounts.found_none and not doubt.is_believed(request, REPLICAS, USAGE)


def _needs_all(request: Request, decisive: Collection[str]) -> bool:
    found = request.resolved(_labelled(request.identity))
    if found is None:
        return False
    proven = _mounted(request.identity, found)
    return not proven.issuperset(decisive) or (not proven and USAGE in request.observed)


def _mounted(cache: NamespacedName, replicas: Iterable[Manifest]) -> frozenset[str]:
    return frozenset(
        str(dig(replica, "spec", "clusterName"))
        for replica in replicas
        if dig(replica, "spec", "modelCacheRef", "name") == cache.name
    )


def _labelled(cache: NamespacedName) -> Requirement:
    label = {labels.MODELCACHE: names.label_value(cache.name)}
    return Requirement(
        REPLICAS, modelreplica.API_VERSION, modelreplica.KIND, match_labels=label, namespace=cache.namespace
    )


def _all(cache: NamespacedName) -> Requirement:
    return Requirement(_ALL_REPLICAS, modelreplica.API_VERSION, modelreplica.KIND, namespace=cache.namespace)
