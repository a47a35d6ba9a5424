"""Conditions and status of a ModelService."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from function.api.modelservice import Spec
from function.core import Condition, HoldDecision, Request, dig, dig_texts, enumerate_names, identity
from function.core.manifest import is_list
from function.fleet import served_names, upstreams
from function.kinds.modelservice import acceptance, changeover, compose, members, proxy, reads
from function.kinds.modelservice.admitted import MOST, Admitted
from function.kinds.modelservice.changeover import Change
from function.kinds.modelservice.decide import Decision
from function.kinds.modelservice.inputs import Endpoint
from function.kinds.modelservice.members import Members
from function.manifests import running
from function.vocabulary import conditions as c


def resolved(request: Request, change: Change) -> Condition:
    decision = change.decision
    if not decision.matched:
        where = request.identity.namespace
        return c.NO_ENDPOINTS(why=f"No ModelEndpoint in namespace {where} matches a selector of spec.endpoints")
    remark = "" if change.needs else _names(decision.matched)
    return c.RESOLVED(ready=decision.ready, matched=len(decision.matched), remark=remark)


def _names(endpoints: Iterable[Endpoint]) -> str:
    """Return a remark if no model name is answered by all endpoints whose names are known."""
    differing = served_names.differing((e.name, e.served) for e in sorted(endpoints, key=lambda e: e.name))
    return (
        f"; no model name is answered by all of them, so a part of the requests fails: {differing}" if differing else ""
    )


def routing_ready(request: Request, spec: Spec, change: Change, address: str) -> Condition:
    decision = change.decision
    fault = acceptance.fault(request.observed.get(compose.ROUTE))
    if fault:
        return c.CONFIGURING(why=fault)
    if change.needs and not change.is_proxied:
        return c.WAITING_FOR_BACKEND(why=_no_proxy(request, change, address))
    if change.is_proxied and not changeover.leads(request):
        return c.CONFIGURING(why="Waiting for the route to lead to the service's proxy")
    if not decision.chosen:
        return c.WAITING_FOR_BACKEND(why=f"{address} answers 503: {_no_backend(decision)}")
    if change.is_proxied and not _is_written(request, decision):
        return c.CONFIGURING(why="Waiting for the proxy's configuration to have an endpoint that is ready")
    if decision.left_out:
        return c.TOO_MANY_ENDPOINTS(why=_too_many(address, change))
    if _is_closed(spec, change):
        return c.NO_CALLERS(why=f"{address} answers 401 to everybody: {_nobody(spec, change.admitted)}")
    return c.ROUTE_CONFIGURED(address=address, remark="".join(f"; {r}" for r in _remarks(request, spec, change)))


def _is_written(request: Request, decision: Decision) -> bool:
    """Return whether the configuration, as it is observed, has an endpoint that gets traffic."""
    recorded = members.record(request.observed.get(proxy.CONFIG))
    return any(endpoint.name in recorded for endpoint, _ in decision.chosen)


def routed(request: Request, endpoints: Iterable[Endpoint], change: Change) -> dict[str, list[str]]:
    """Return the endpoints that may still get traffic: by the route, by the proxy, or by what either was before.

    A deployment deletes an endpoint only after this list drops it.
    """
    route = request.observed.get(compose.ROUTE)
    is_late = acceptance.is_behind(route) or changeover.is_late(request)
    before = dig_texts(request.xr, "status", "routed") if is_late else ()
    lingering = frozenset(before) | proxy.lingering(request).keys()
    there, proxied = compose.routed(route), members.record(request.observed.get(proxy.CONFIG))
    chosen = {endpoint.name for endpoint, _ in change.decision.chosen}
    names = sorted(e.name for e in endpoints if e.name in chosen | lingering | proxied.keys() or e.service in there)
    return {"routed": names} if names else {}


def proxied(request: Request, change: Change) -> dict[str, Any]:
    """Return what the proxy leads to, once the gateway has accepted the route to it, and which priority answers."""
    decision = change.decision
    priority: dict[str, Any] = {} if decision.priority is None or not change.needs else {"priority": decision.priority}
    route = request.observed.get(compose.ROUTE)
    if not changeover.leads(request) or acceptance.fault(route) is not None:
        return priority
    recorded = members.record(request.observed.get(proxy.CONFIG))
    revisions = {name: found.revision for name, one in recorded.items() if (found := upstreams.of_published(one))}
    return {**priority, **({"proxied": revisions} if revisions else {})}


def held(request: Request) -> HoldDecision:
    """Return what is known during a hold: the gateway's objections to the route, which stays as it is.

    While there is no gateway, nothing is routed to endpoints that are gone.
    """
    fault = acceptance.fault(request.observed.get(compose.ROUTE))
    return HoldDecision((c.CONFIGURING(why=fault),) if fault else (), status=_still_routed(request))


def _still_routed(request: Request) -> dict[str, list[str]]:
    is_unknown = request.resolved(reads.GATEWAY) != () or reads.pending(request, reads.endpoints(request))
    if is_unknown or not is_list(dig(request.xr, "status", "routed")):
        return {}
    there = {identity(manifest).name for _, manifest in reads.selected(request)}
    return {"routed": [name for name in dig_texts(request.xr, "status", "routed") if name in there]}


def _no_backend(decision: Decision) -> str:
    if not decision.matched:
        return "no endpoint matches"
    return f"no matching endpoint is ready (0 of {len(decision.matched)})"


def _no_proxy(request: Request, change: Change, address: str) -> str:
    has_nobody = change.members is not None and not change.members.members and not change.direct.chosen
    if has_nobody and proxy.PODS not in request.observed:
        return f"{address} answers 503: {_nobody_to_ask(change)}; the service's proxy starts with its first endpoint"
    fault = running.fault(request.observed.get(proxy.PODS))
    waits = f"No proxy is available yet{fault}; the service needs one for {enumerate_names(change.needs)}"
    if not change.direct.chosen:
        return f"{waits}; until then {address} answers 503"
    names = _named(one for one, _ in change.direct.chosen)
    return f"{waits}; until then requests go from the gateway to {names}"


def _nobody_to_ask(change: Change) -> str:
    if change.decision.chosen:
        return "no ready endpoint has published in status.routing how it is reached"
    return _no_backend(change.decision)


def _too_many(address: str, change: Change) -> str:
    decision = change.decision
    total, room = len(decision.chosen) + len(decision.left_out), len(decision.chosen)
    left_out, what = _named(decision.left_out), "a proxy" if change.needs else "a route"
    routed = f"{address} is routed to {room} of {total} endpoints, the most that {what} can have"
    return f"{routed}; no traffic goes to {left_out}"


def _remarks(request: Request, spec: Spec, change: Change) -> Iterable[str]:
    decision = change.decision
    yield from _callers(spec, change.admitted)
    if decision.priority:
        yield f"priority {decision.priority} answers, because no endpoint of a lower one serves"
    for i in decision.idle:
        yield _idle(spec, decision, i)
    if decision.withdrawn:
        faults = ", ".join(sorted({str(e.lost) for e in decision.withdrawn}))
        yield f"no traffic goes to {_named(decision.withdrawn)}, whose clusters do not answer ({faults})"
    if decision.is_lost:
        yield "no cluster answers, so the route is unchanged"
    if change.members:
        yield from _waiting(change.members)
    if changeover.is_rolling(request) and not (change.members and change.members.unmounted):
        fault = running.fault(request.observed.get(proxy.PODS))
        yield f"the proxy's pods are being replaced one by one{fault}"


def _waiting(of: Members) -> Iterable[str]:
    if of.unpublished:
        yield f"{_named(of.unpublished)} get no requests until they publish in status.routing how they are reached"
    if of.unmounted:
        yield f"the proxy's pods are replaced one by one to mount the Secrets of {_named(of.unmounted)}"


def _is_closed(spec: Spec, change: Change) -> bool:
    """Return whether nobody can call."""
    return spec.callers is not None and spec.callers.required and not (change.admitted and change.admitted.callers)


def _nobody(spec: Spec, admitted: Admitted | None) -> str:
    if admitted and admitted.pending:
        return f"no ModelCaller has a key yet ({enumerate_names(admitted.pending)})"
    is_selected = spec.callers is not None and spec.callers.selector is not None
    return "no ModelCaller matches spec.callers.selector" if is_selected else "the namespace has no ModelCaller"


def _callers(spec: Spec, admitted: Admitted | None) -> Iterable[str]:
    if admitted is None:
        yield "requests are not authenticated"
        return
    names = enumerate_names([one.name for one in admitted.callers])
    if spec.callers is not None and spec.callers.required:
        yield f"requests need a key of {names}"
    else:
        yield f"requests without a key of {names or 'a ModelCaller'} pass as nobody's"
    if admitted.callers and admitted.pending:
        yield f"{enumerate_names(admitted.pending)} cannot call yet, because no key is accepted as theirs"
    if admitted.left_out:
        yield f"{enumerate_names(admitted.left_out)} cannot call, because a service knows {MOST} callers at most"
    if admitted.unlimited:
        yield f"the limits of {enumerate_names(admitted.unlimited)} are not kept, because there is no rate-limit server"


def _idle(spec: Spec, decision: Decision, index: int) -> str:
    entry = spec.endpoints[index]
    there = any(spec.endpoints[e.entry].priority == entry.priority for e, _ in decision.chosen)
    others = ", so the others get its traffic" if there else f", and it is alone at priority {entry.priority}"
    return f"spec.endpoints[{index}] (weight {entry.parts}) has no ready endpoint{others}"


def _named(endpoints: Iterable[Endpoint]) -> str:
    return enumerate_names(sorted(e.name for e in endpoints))
