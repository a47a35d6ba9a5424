"""What the gateway says of a service's route."""

from __future__ import annotations

from function.core import Manifest, condition, dig, dig_number, dig_objects, quote_condition
from function.kinds.modelservice import compose


def fault(route: Manifest | None) -> str | None:
    """Return why the gateway does not serve the current route, or None if it does."""
    if route is None:
        return "Waiting for the route to be written"
    status = _gateway_status(route)
    if status is None:
        return "Waiting for the gateway to accept the route"
    generation = dig_number(route, "metadata", "generation")
    for type_ in ("Accepted", "ResolvedRefs"):
        found = condition({"status": status}, type_)
        if found is None or dig_number(found, "observedGeneration", otherwise=generation) < generation:
            return "Waiting for the gateway to accept the current route"
        if found.get("status") != "True":
            reported = quote_condition(found) or "no reason"
            return f"The gateway reports {type_}={found.get('status')} for the route: {reported}"
    return None


def is_behind(route: Manifest | None) -> bool:
    """Return whether the gateway has accepted the route, but not its current generation.

    A route that it never accepted gets no traffic.
    """
    status, generation = _gateway_status(route or {}), dig_number(route, "metadata", "generation")
    accepted = condition({"status": status or {}}, "Accepted")
    return accepted is not None and dig_number(accepted, "observedGeneration", otherwise=generation) < generation


def _gateway_status(route: Manifest) -> Manifest | None:
    """Return our gateway's status of the route. Other gateways may report one as well."""
    for parent in dig_objects(route, "status", "parents"):
        reference = dig(parent, "parentRef")
        if (dig(reference, "namespace"), dig(reference, "name")) == compose.GATEWAY:
            found: Manifest = parent
            return found
    return None
