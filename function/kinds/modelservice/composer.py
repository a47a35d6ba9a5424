"""Compose a ModelService: find its endpoints, divide the traffic among them, write the route, and the proxy if it needs
one."""

from __future__ import annotations

from collections.abc import Collection

from function.api import tenancy
from function.api.modelservice import API_VERSION, KIND, parse
from function.core import ComposedResource, Composer, NotYet, Request, Result, doubt, enumerate_names
from function.kinds.modelservice import admitted, changeover, compose, decide, inputs, members, proxy, reads, status
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    spec = parse(request.xr)
    gateway = inputs.gateway(request)
    endpoints = inputs.endpoints(request)
    to_services = compose.routed(request.observed.get(compose.ROUTE)) - {compose.placeholder(request.identity)}
    recorded = members.record(request.observed.get(proxy.CONFIG))
    routed = to_services | {one.service for one in endpoints if one.name in recorded}
    most = gateway.implementation.most_backends
    change = changeover.of(request, spec, endpoints, most=most, routed=routed)
    if change.needs and proxy.PODS not in request.observed:
        tenancy.check(request.identity, c.INVALID_SERVICE)  # its pods could mount Secrets of the infrastructure
    vanished = inputs.vanished(request, endpoints, to_services - {changeover.backend(request)}, recorded)
    nobody = admitted.vanished(request, admitted.record(request.observed.get(proxy.CONFIG)))
    _check_found(request, (*vanished, *decide.doubtful(change.decision, routed), *nobody))
    address = f"{gateway.base}{compose.path(request.identity)}"
    reported = (status.resolved(request, change), status.routing_ready(request, spec, change, address))
    is_served = all(condition.status == "True" for condition in reported)
    return Result(
        ready=is_served,
        conditions=reported,
        resources={
            key: ComposedResource(manifest, key in request.observed and (key != compose.ROUTE or is_served))
            for key, manifest in changeover.manifests(request, spec, change).items()
        },
        status={
            "address": address,
            "endpoints": {"matched": len(change.decision.matched), "ready": change.decision.ready},
            **status.routed(request, endpoints, change),
            **status.proxied(request, change),
        },
        waiting=True,  # new, removed and lost endpoints must be noticed soon, however large the fleet is
    )


def _check_found(request: Request, empty: Collection[str]) -> None:
    """Raise NotYet if one of the requirements that would move traffic has not found anything for the first time."""
    doubted = [name for name in empty if not doubt.is_believed(request, name, compose.ROUTE)]
    if doubted:
        asked = {required.name: reads.said(required) for required in reads.requirements(request)}
        found = f"look-ups that found nothing ({enumerate_names([asked[name] for name in doubted])})"
        why = f"The route contradicts {found}; it stays until a second look-up confirms them"
        only_callers = {*doubted} <= {one.name for one in reads.callers(request)}
        unsure = c.CONFIGURING(why=why.replace("route", "proxy")) if only_callers else c.NO_ENDPOINTS(why=why)
        raise NotYet(unsure, decided=doubt.keep(request, compose.ROUTE, *empty))


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.ENDPOINTS_RESOLVED, c.ROUTING_READY),
    invalid=c.INVALID_SERVICE,
    requirements=reads.requirements,
    compose=_compose,
    held=status.held,
    addresses=(("address",),),
)
