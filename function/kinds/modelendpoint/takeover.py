"""Whether the proxies of ModelServices have taken over from an endpoint's own egress proxy.

An outside provider begins with an egress proxy of its own, which shows that its Secrets are there and that its name
resolves. Each service that selects the endpoint then leads to it by the service's proxy, and says so in
`status.proxied`. Once all of them do, nobody uses the egress proxy any more, and it goes. An edit gets an egress proxy
again, so that the services learn of it only when it works.
"""

from __future__ import annotations

from collections.abc import Mapping

from function.api import modelservice
from function.core import Manifest, Request, Requirement, dig, dig_fields, dig_list
from function.fleet import upstreams
from function.kinds.modelendpoint import compose
from function.vocabulary import names


def requirements(request: Request) -> tuple[Requirement, ...]:
    """Require the namespace's services once the endpoint is routed to by a proxy, whatever its spec."""
    is_proxied = dig(request.xr, "status", "routing", "backendName") == names.egress(request.identity)
    return (services(request),) if is_proxied else ()


def services(request: Request) -> Requirement:
    return Requirement("services", modelservice.API_VERSION, modelservice.KIND, namespace=request.identity.namespace)


def selecting(request: Request) -> list[Manifest] | None:
    """Return the services that select the endpoint; None if they are not looked up yet."""
    found = request.resolved(services(request))
    if found is None:
        return None
    labels = dig_fields(request.xr, "metadata", "labels")
    return [s for s in found if _selects(s, labels) and dig(s, "metadata", "deletionTimestamp") is None]


def is_over(request: Request, revision: str) -> bool:
    """Return whether the egress proxy is not needed for a published state of the endpoint.

    Once it is gone, a service that does not lead to the endpoint yet does not bring it back.
    """
    is_gone = compose.PROXY not in request.observed and compose.PROXY_SERVICE in request.observed
    found = selecting(request)
    if found is None:
        return is_gone
    leading = [s for s in found if dig(s, "status", "proxied", request.identity.name) == revision]
    return bool(leading) and (is_gone or len(leading) == len(found))


def revision(routing: Manifest) -> str:
    """Return what identifies a published state of the endpoint; empty if a service's proxy cannot lead to it."""
    found = upstreams.of_published(dig(routing, "upstream"))
    return found.revision if found else ""


def leading(request: Request) -> list[str]:
    """Return the names of the services whose proxies lead to any state of the endpoint, sorted."""
    found = selecting(request) or []
    who = request.identity.name
    return sorted(str(dig(s, "metadata", "name")) for s in found if dig(s, "status", "proxied", who) is not None)


def _selects(service: Manifest, labels: Mapping[str, object]) -> bool:
    selectors = (dig(entry, "selector", "matchLabels") for entry in dig_list(service, "spec", "endpoints"))
    return any(_matches(selector, labels) for selector in selectors)


def _matches(selector: object, labels: Mapping[str, object]) -> bool:
    """Return whether a selector with labels selects an object."""
    if not isinstance(selector, Mapping) or not selector:
        return False
    return all(labels.get(key) == value for key, value in selector.items())
