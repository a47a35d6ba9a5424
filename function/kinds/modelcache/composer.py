"""Compose a ModelCache: bring weights to every matching cluster, and keep them as long as replicas need them."""

from __future__ import annotations

from function.api import tenancy
from function.api.modelcache import API_VERSION, KIND, parse
from function.api.weights import PersistentVolumeClaim
from function.core import Composer, Request, Result
from function.kinds.modelcache import compose, copied, inputs, provided, sources, staging, status
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    tenancy.check(request.identity, c.INVALID_CACHE)
    spec = parse(request.xr)
    fleet = inputs.clusters(request, spec)
    block, source = spec.block, None
    if isinstance(block, PersistentVolumeClaim):
        sites = provided.sites(request, block, fleet)
        resources = {
            **compose.own_volumes(request, sites),
            **provided.resources(request, sites),
            **compose.protection(request),
        }
    else:
        source = sources.source(block, spec, copied.read(request, spec))
        sites = staging.sites(request, spec, source, fleet)
        resources = compose.staged(request, spec, source, sites)
    ready = bool(sites) and all(site.is_ready for site in sites)
    return Result(
        ready=ready,
        conditions=status.conditions(request, spec, sites, source),
        resources=resources,
        status=status.status(sites),
        waiting=not ready or inputs.is_doubted(request),
    )


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.CLUSTERS_MATCHED, c.ARTIFACT_READY),
    invalid=c.INVALID_CACHE,
    requirements=lambda request: inputs.requirements(request.xr),
    compose=_compose,
    held=status.held,
)
