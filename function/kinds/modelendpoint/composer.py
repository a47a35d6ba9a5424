"""Compose a ModelEndpoint, a backend that routes can lead to. It never reads the tenant's key, which is not ours.

What an edit replaces stays, and keeps the traffic, until all of its replacement is there. Only then the new state is
published in `status.routing`, by which ModelServices lead to the endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.api import tenancy
from function.api.modelendpoint import API_VERSION, KIND, Spec, parse
from function.core import (
    ComposedResource,
    Composer,
    Condition,
    HoldDecision,
    Manifest,
    Request,
    Result,
    dig,
    dig_fields,
    dig_text,
    enumerate_names,
    identity,
    plain,
    restate,
)
from function.kinds.modelendpoint import compose, permission, takeover, target
from function.kinds.modelendpoint.target import Target
from function.manifests import running
from function.manifests.envoy import egress as configuration
from function.vocabulary import conditions as c
from function.vocabulary import names


def _compose(request: Request) -> Result:
    spec = parse(request.xr)
    check_namespace(request.xr, spec)
    published = dig_fields(request.xr, "status", "routing")
    where = target.parse(spec, dig_text(published, "rewritePath"))
    lists = permission.policy(request, where)
    remark = f"{_former(where)}{permission.remark(request, where, lists)}"
    checked = None if permission.is_replicas(request.xr) else lists
    routing = compose.routing(request.identity, spec, where, is_checked=checked is not None)
    wanted = compose.manifests(request.identity, spec, where, checked)
    if _is_taken_over(request, published, routing):
        return _taken_over(request, wanted, routing, remark)
    routed = _routing_ready(request, spec, where, wanted, remark)
    is_new = routed.status == "True"
    superseded = {} if is_new else {key: m for key, m in request.observed.items() if key not in wanted}
    is_carried_out = is_new and not _is_late(request, wanted)
    current = routing if is_carried_out or not published else published
    return Result(
        ready=is_carried_out,
        conditions=(routed,),
        resources=permission.with_note(
            request,
            where,
            {
                **{key: ComposedResource(restate(m), ready=True) for key, m in superseded.items()},
                **{key: _composed(request, wanted, key) for key in wanted},
            },
        ),
        status={
            **({"routing": plain(current)} if request.observed else {}),
            "serving": _serves(request, current),
        },
        waiting=not is_carried_out,
    )


def _is_taken_over(request: Request, published: Manifest, routing: Manifest) -> bool:
    """Return whether services lead to the endpoint as it is now, so that its own proxy goes."""
    is_proxied = routing["backendName"] == names.egress(request.identity)
    is_published = plain(published) == routing
    return is_proxied and is_published and takeover.is_over(request, takeover.revision(routing))


def _taken_over(request: Request, wanted: Mapping[str, Any], routing: Manifest, remark: str) -> Result:
    """Keep the Service alone: it has no pods, and whoever still knows its name gets 503."""
    key = compose.PROXY_SERVICE
    services = enumerate_names(takeover.leading(request)) or "which are not looked up yet"
    return Result(
        ready=True,
        conditions=(c.LED_BY_SERVICES(services=services, remark=remark),),
        resources={key: ComposedResource(wanted[key], ready=key in request.observed)},
        status={"routing": plain(routing), "serving": True},
    )


def _serves(request: Request, routing: Manifest) -> bool:
    """Return whether requests reach the backend of `routing`.

    It looks at what is observed and at services only, so a refused URL changes nothing.
    """
    backend = dig(routing, "backendName")
    if not backend:
        return False
    if backend == names.egress(request.identity):
        is_led = takeover.is_over(request, takeover.revision(routing))
        return is_led or running.available(request.observed.get(compose.PROXY)) > 0
    return compose.SERVICE in request.observed and any(key.startswith(compose.SLICE) for key in request.observed)


def check_namespace(xr: Manifest, spec: Spec) -> None:
    """Raise InvalidSpec in a reserved namespace, where an egress proxy would run as a pod with a Secret of that
    namespace.

    A replica's endpoint has no key and follows its replica, which may be older than the reservation.
    """
    if spec.auth is not None or not permission.is_replicas(xr):
        tenancy.check(identity(xr), c.INVALID_ENDPOINT)


def _composed(request: Request, wanted: Mapping[str, Any], key: str) -> ComposedResource:
    observed = request.observed.get(key)
    if observed is None:
        return ComposedResource(wanted[key])
    if key != compose.PROXY:
        return ComposedResource(wanted[key], ready=True)
    return ComposedResource(
        restate(observed) if _is_config_late(request, wanted) else wanted[key], ready=running.available(observed) > 0
    )


def _is_config_late(request: Request, wanted: Mapping[str, Any]) -> bool:
    """Return whether new proxies would start with the old configuration. Then the new one is written first."""
    there = request.observed.get(compose.CONFIG)
    return there is not None and _startup(there) != _startup(wanted[compose.CONFIG])


def _startup(config: Manifest) -> Mapping[str, object]:
    return configuration.read_at_startup(dig_fields(config, "data"))


def _routing_ready(request: Request, spec: Spec, where: Target, wanted: Mapping[str, Any], remark: str) -> Condition:
    missing = sorted(key for key in wanted if key not in request.observed)
    if missing:
        return c.WAITING_FOR_BACKEND(why=f"Waiting for {', '.join(missing)}")
    if compose.PROXY not in wanted:
        return c.BACKEND_CONFIGURED(host=where.host, port=where.port, remark=remark)
    proxy = request.observed[compose.PROXY]
    needs = f"{_needed(request, spec, where)}{running.fault(proxy)}"
    if not running.available(proxy):
        return c.WAITING_FOR_BACKEND(why=f"No egress proxy is available yet; it needs {needs}")
    if _is_late(request, wanted):
        return c.BACKEND_UPDATING(host=where.host, port=where.port, remark=remark, needs=needs)
    return c.BACKEND_CONFIGURED(host=where.host, port=where.port, remark=remark)


def _former(where: Target) -> str:
    """Return a remark about an endpoint whose URL meant another path in earlier versions."""
    if not where.is_former:
        return ""
    path = where.rewrite_path
    return (
        f"; requests still go to paths below {path}v1/, as in earlier versions, although the url now means {path}: set"
        f" spec.basePath to {path} for that, or spec.rewritePath to {path} to leave it as it is"
    )


def _is_late(request: Request, wanted: Mapping[str, Any]) -> bool:
    """Return whether proxies still run with the configuration from before a change."""
    if compose.PROXY not in wanted or compose.PROXY not in request.observed:
        return False
    return not running.is_current(request.observed[compose.PROXY]) or _is_config_late(request, wanted)


def _needed(request: Request, spec: Spec, where: Target) -> str:
    """Return what only the proxies can check, since this composer reads no Secrets and resolves no names."""
    parts = []
    if spec.auth:
        secret = spec.auth.secretRef
        parts.append(f"key {secret.key} of Secret {request.identity.namespace}/{secret.name}")
    if spec.tls:
        authority = spec.tls.caSecretRef
        parts.append(f"key {authority.key} of Secret {request.identity.namespace}/{authority.name}")
    if where.is_name:
        parts.append(f"{where.host} to resolve")
    return " and ".join(parts) or "its pods to start"


def _held(request: Request) -> HoldDecision:
    return HoldDecision(status={"serving": _serves(request, dig_fields(request.xr, "status", "routing"))})


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.ROUTING_READY,),
    invalid=c.INVALID_ENDPOINT,
    requirements=lambda request: (*permission.requirements(request), *takeover.requirements(request)),
    compose=_compose,
    held=_held,
)
