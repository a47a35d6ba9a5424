"""Compose a ModelCache: bring weights to every matching cluster, and keep them as long as replicas need them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from function.api import tenancy
from function.api.modelcache import API_VERSION, KIND, Spec, parse
from function.api.weights import PersistentVolumeClaim
from function.core import Composer, Request, Result
from function.kinds.modelcache import compose, copied, inputs, keys, mounts, provided, sources, staging, status
from function.kinds.modelcache.inputs import Cluster
from function.kinds.modelcache.mounts import Mounts
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    tenancy.check(request.identity, c.INVALID_CACHE)
    spec = parse(request.xr)
    fleet = inputs.clusters(request, spec)
    decisive = _decisive(request, spec, fleet)
    result = decide(request, spec, fleet, mounts.read(request, decisive))
    return replace(result, requirements=mounts.requirements(request, decisive))


def _decisive(request: Request, spec: Spec, fleet: Mapping[str, Cluster]) -> set[str]:
    """Return the clusters that keep something only as long as a replica mounts the cache there."""
    if isinstance(spec.block, PersistentVolumeClaim):
        of_an_earlier_source = keys.clusters_with_claim(request)
        return provided.kept_if_mounted(request, spec.block, fleet).union(of_an_earlier_source)
    return staging.kept_if_mounted(request, spec, fleet)


def decide(request: Request, spec: Spec, fleet: Mapping[str, Cluster], mounted: Mounts) -> Result:
    """Return the whole desired state, for a fleet and the mounts of the cache."""
    block, source = spec.block, None
    if isinstance(block, PersistentVolumeClaim):
        sites = provided.sites(request, block, fleet, mounted)
        resources = {
            **compose.own_volumes(request, sites, mounted),
            **provided.resources(request, sites),
            **compose.protection(request, mounted),
        }
    else:
        source = sources.source(block, spec, copied.read(request, spec))
        sites = staging.sites(request, spec, source, fleet, mounted)
        resources = compose.staged(request, spec, source, sites, mounted)
    ready = bool(sites) and all(site.is_ready for site in sites)
    return Result(
        ready=ready,
        conditions=status.conditions(request, spec, sites, source, mounted),
        resources=resources,
        status=status.status(sites),
        waiting=not ready or mounted.is_awaited or mounts.is_doubted(request, mounted),
    )


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.CLUSTERS_MATCHED, c.ARTIFACT_READY),
    invalid=c.INVALID_CACHE,
    requirements=inputs.requirements,
    compose=_compose,
    held=status.held,
)
