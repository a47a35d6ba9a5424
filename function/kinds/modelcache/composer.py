"""How weights get to every cluster that is to serve them, and stay there while anybody needs them."""

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
    there = staging.places(request, spec, source, fleet)
    ready = bool(there) and all(place.is_ready for place in there)
    return Result(
        ready=ready,
        conditions=status.conditions(request, spec, there, token),
        resources=compose.resources(request, spec, source, there),
        status=status.status(there),
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
