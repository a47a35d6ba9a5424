"""Conditions and status of a ModelService."""

from __future__ import annotations

from collections.abc import Iterable

from function.api.modelservice import Spec
from function.core import Condition, HoldDecision, Manifest, Request, condition, dig, enumerate_names, quote_condition
from function.core.manifest import is_list
from function.fleet import served_names
from function.kinds.modelservice import compose
from function.kinds.modelservice.decide import Decision
from function.kinds.modelservice.inputs import Endpoint
from function.vocabulary import conditions as c


def resolved(request: Request, decision: Decision) -> Condition:
    if not decision.matched:
        where = request.identity.namespace
        return c.NO_ENDPOINTS(why=f"No ModelEndpoint in namespace {where} matches a selector of spec.endpoints")
    return c.RESOLVED(ready=decision.ready, matched=len(decision.matched), remark=_names(decision.matched))


def _names(endpoints: Iterable[Endpoint]) -> str:
    """Return a remark if no model name is answered by all endpoints whose names are known."""
    differing = served_names.differing((e.name, e.served) for e in sorted(endpoints, key=lambda e: e.name))
    return (
        f"; no model name is answered by all of them, so a part of the requests fails: {differing}" if differing else ""
    )


def routing_ready(request: Request, spec: Spec, decision: Decision, address: str) -> Condition:
    route = request.observed.get(compose.ROUTE)
    fault = _fault(route)
    if fault:
        return c.CONFIGURING(why=fault)
    if not decision.chosen:
        return c.WAITING_FOR_BACKEND(why=f"{address} answers 503: {_no_backend(decision)}")
    if decision.left_out:
        return c.TOO_MANY_ENDPOINTS(why=_too_many(address, decision))
    return c.ROUTE_CONFIGURED(address=address, remark="".join(f"; {r}" for r in _remarks(spec, decision)))


def routed(request: Request, endpoints: Iterable[Endpoint], decision: Decision) -> dict[str, list[str]]:
    """Return the endpoints that may still get traffic.

    A deployment deletes an endpoint only after this list drops it.
    """
    route = request.observed.get(compose.ROUTE)
    before = dig(request.xr, "status", "routed")
    lingering = frozenset(before if is_list(before) and _is_behind(route) else ())
    there = compose.routed(route)
    chosen = {endpoint.name for endpoint, _ in decision.chosen}
    names = sorted(e.name for e in endpoints if e.name in chosen | lingering or e.service in there)
    return {"routed": names} if names else {}


def held(request: Request) -> HoldDecision:
    """Return what is known during a hold: the gateway's objections to the route, which stays as it is."""
    fault = _fault(request.observed.get(compose.ROUTE))
    return HoldDecision((c.CONFIGURING(why=fault),) if fault else ())


def _no_backend(decision: Decision) -> str:
    if not decision.matched:
        return "no endpoint matches"
    return f"no matching endpoint is ready (0 of {len(decision.matched)})"


def _too_many(address: str, decision: Decision) -> str:
    total, room = len(decision.chosen) + len(decision.left_out), len(decision.chosen)
    left_out = _named(decision.left_out)
    routed = f"{address} is routed to {room} of {total} endpoints, the most that a route can have"
    return f"{routed}; no traffic goes to {left_out}"


def _remarks(spec: Spec, decision: Decision) -> Iterable[str]:
    for i in decision.idle:
        weight = spec.endpoints[i].weight
        yield f"spec.endpoints[{i}] (weight {weight}) has no ready endpoint, so the others get its traffic"
    if decision.withdrawn:
        faults = ", ".join(sorted({str(e.lost) for e in decision.withdrawn}))
        yield f"no traffic goes to {_named(decision.withdrawn)}, whose clusters do not answer ({faults})"
    if decision.is_lost:
        yield "no cluster answers, so the route is unchanged"


def _named(endpoints: Iterable[Endpoint]) -> str:
    return enumerate_names(sorted(e.name for e in endpoints))


# The route


def _fault(route: Manifest | None) -> str | None:
    """Return why the gateway does not serve the current route, or None if it does."""
    if route is None:
        return "Waiting for the route to be written"
    status = _gateway_status(route)
    if status is None:
        return "Waiting for the gateway to accept the route"
    generation = dig(route, "metadata", "generation") or 0
    for type_ in ("Accepted", "ResolvedRefs"):
        found = condition({"status": status}, type_)
        if found is None or (found.get("observedGeneration") or generation) < generation:
            return "Waiting for the gateway to accept the current route"
        if found.get("status") != "True":
            reported = quote_condition(found) or "no reason"
            return f"The gateway reports {type_}={found.get('status')} for the route: {reported}"
    return None


def _is_behind(route: Manifest | None) -> bool:
    """Return whether the gateway has accepted the route, but not its current generation.

    A route that it never accepted gets no traffic.
    """
    status, generation = _gateway_status(route or {}), dig(route, "metadata", "generation") or 0
    accepted = condition({"status": status or {}}, "Accepted")
    return accepted is not None and (accepted.get("observedGeneration") or generation) < generation


def _gateway_status(route: Manifest) -> Manifest | None:
    """Return our gateway's status of the route. Other gateways may report one as well."""
    parents = dig(route, "status", "parents")
    for parent in parents if is_list(parents) else ():
        reference = dig(parent, "parentRef")
        if (dig(reference, "namespace"), dig(reference, "name")) == compose.GATEWAY:
            found: Manifest = parent
            return found
    return None
