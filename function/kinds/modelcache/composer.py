"""Compose a ModelCache: bring weights to every matching cluster, and keep them as long as replicas need them."""

from __future__ import annotations

from function.api import tenancy
from function.api.modelcache import API_VERSION, KIND, parse
from function.core import Composer, Request, Result
from function.kinds.modelcache import compose, inputs, staging, status
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    tenancy.check(request.identity, c.INVALID_CACHE)
    spec = parse(request.xr)
    fleet = inputs.clusters(request, spec)
    token = inputs.token(request, spec)
    source = staging.source(spec, token)
    sites = staging.sites(request, spec, source, fleet)
    ready = bool(sites) and all(site.is_ready for site in sites)
    return Result(
        ready=ready,
        conditions=status.conditions(request, spec, sites, token),
        resources=compose.resources(request, spec, source, sites),
        status=status.status(sites),
        waiting=not ready or compose.is_doubted(request),
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
