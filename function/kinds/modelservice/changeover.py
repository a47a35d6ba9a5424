"""Whether requests pass the proxy of a service, or go from the gateway to the endpoints, and how one becomes the other.

| the service  | the route leads to | the proxy can take traffic | the route then leads to                        |
|--------------|--------------------|----------------------------|------------------------------------------------|
| needs one    | endpoints          | no                         | the endpoints of the priority that answers     |
| needs one    | nothing            | no                         | nothing: callers and names are not known there |
| needs one    | either             | yes                        | the proxy                                      |
| needs one    | the proxy          | either                     | the proxy                                      |
| needs none   | the proxy          | either                     | the endpoints; the proxy stays until the       |
|              |                    |                            | gateway has accepted that                      |

A proxy starts only once there is an endpoint to ask. Pods read a changed configuration a minute or two after it is
written, and would take the traffic meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from function.api.modelservice import Spec
from function.core import Request, restate
from function.kinds.modelservice import acceptance, admitted, compose, decide, inputs, members, need, proxy
from function.kinds.modelservice.admitted import Admitted
from function.kinds.modelservice.decide import Decision
from function.kinds.modelservice.inputs import Endpoint
from function.kinds.modelservice.members import Members
from function.kinds.modelservice.proxy import Asked
from function.manifests import running
from function.vocabulary import names


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Where requests go, and where they are about to go."""

    decision: Decision
    direct: Decision
    """The part of the decision that a route can do."""
    needs: tuple[str, ...]
    """Why the service needs a proxy; none if it does not."""
    members: Members | None
    """The endpoints of the proxy, if it is needed."""
    configured: Mapping[str, str]
    """The part of its configuration that may change while it runs."""
    admitted: Admitted | None
    """Who can call. None if everybody can."""
    is_proxied: bool
    """Whether the route leads to the proxy now, as this pass writes it."""


def of(request: Request, spec: Spec, found: Sequence[Endpoint], *, most: int, routed: Collection[str]) -> Change:
    """Decide. `most` is the room of a route for backends, and `routed` are the Services that get traffic so far."""
    callers = admitted.of(request, spec, admitted.record(request.observed.get(proxy.CONFIG)))
    is_led = leads(request)
    needs = need.reasons(spec, found, most=most, is_proxied=is_led)
    if not needs:
        decision = decide.decide(spec, found, most=most, routed=routed)
        return Change(
            decision=decision, direct=decision, needs=(), members=None, configured={}, admitted=None, is_proxied=False
        )
    asked = Asked(request.identity, spec, inputs.policy(request), callers)
    decision, there, configured = _fitting(request, asked, found, routed)
    missing = {one.name for one, _ in decision.chosen} - {one.endpoint.name for one in there.members}
    is_taking = proxy.is_available(request) and not (missing and _is_direct(request))
    return Change(
        decision=decision,
        direct=decide.first(spec, decision, most) if _is_direct(request) else decide.nobody(decision),
        needs=needs,
        members=there,
        configured=configured,
        admitted=callers,
        is_proxied=is_led or is_taking,
    )


def _fitting(
    request: Request, asked: Asked, found: Sequence[Endpoint], routed: Collection[str]
) -> tuple[Decision, Members, Mapping[str, str]]:
    """Return the decision for as many endpoints as a proxy's configuration has room for, and the configuration."""
    record = members.record(request.observed.get(proxy.CONFIG))
    most = proxy.MOST
    while True:
        decision = decide.decide(asked.spec, found, most=most, routed=routed)
        there = members.of(decision, record, request.observed.get(proxy.PODS))
        configured = proxy.data(asked, there)
        if most == 1 or not (there.authorities > proxy.MOST_AUTHORITIES or proxy.is_too_large(configured)):
            return decision, there, configured
        most = max(most * 3 // 4, 1)


def manifests(request: Request, spec: Spec, change: Change) -> dict[str, Mapping[str, Any]]:
    """Return all manifests by key."""
    who = request.identity
    references = compose.to_proxy(who) if change.is_proxied else compose.to_endpoints(change.direct)
    return {**compose.manifests(who, references), **_proxy(request, spec, change)}


def _proxy(request: Request, spec: Spec, change: Change) -> dict[str, Mapping[str, Any]]:
    """Return the proxy, as long as it is needed or may still be asked."""
    if change.members is not None:
        if not change.members.members and proxy.PODS not in request.observed:
            return {}
        asked = Asked(request.identity, spec, inputs.policy(request), change.admitted)
        return {**proxy.manifests(request, asked, change.members, change.configured)}
    is_left = not leads(request) and acceptance.fault(request.observed.get(compose.ROUTE)) is None
    return {} if is_left else {key: restate(found) for key, found in proxy.restated(request).items()}


def is_rolling(request: Request) -> bool:
    """Return whether not all pods of the proxy run its current spec."""
    pods = request.observed.get(proxy.PODS)
    return pods is not None and not running.is_current(pods)


def is_late(request: Request) -> bool:
    """Return whether the proxy still reads a configuration that is not written."""
    return proxy.PODS in request.observed and proxy.CONFIG not in request.observed


def leads(request: Request) -> bool:
    """Return whether the route, as it is observed, leads to the proxy."""
    return backend(request) in compose.routed(request.observed.get(compose.ROUTE))


def backend(request: Request) -> str:
    """Return the name of the Service of the proxy."""
    return names.proxy(request.identity)


def _is_direct(request: Request) -> bool:
    """Return whether the route leads to endpoints."""
    nobody = {backend(request), compose.placeholder(request.identity)}
    return bool(compose.routed(request.observed.get(compose.ROUTE)) - nobody)
