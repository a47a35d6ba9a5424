"""The composer of InferenceGateways: install the gateway of the control cluster, and publish its address."""

from __future__ import annotations

from collections.abc import Iterator

from function import gateways
from function.api.inferencegateway import API_VERSION, KIND, Spec, parse
from function.core import (
    Composer,
    Condition,
    InvalidSpec,
    Manifest,
    Request,
    Result,
    condition,
    dig,
    dig_list,
    dig_text,
    quote,
    quote_condition,
)
from function.gateways import Implementation
from function.kinds.inferencegateway import compose, inputs
from function.manifests.parts import describe_pending
from function.vocabulary import conditions as c
from function.vocabulary import hosts


def _compose(request: Request) -> Result:
    spec = parse(request.xr)
    implementation = able(gateways.of(request.xr))
    inputs.await_namespace(request)
    wanted = compose.parts(request, spec, implementation)
    gateway = compose.gateway_parts(spec, implementation)
    unserved = list(inputs.not_served(request))
    waiting = [part.key for part in (*wanted, *gateway) if not compose.is_ready(request, part.key)]
    address = compose.address(request) or dig_text(request.xr, "status", "address")
    is_done = not waiting and not unserved
    return Result(
        ready=is_done,
        conditions=(_gateway_ready(request, spec, unserved or waiting, address),),
        resources=compose.resources(request, wanted, gateway, implementation, is_served=not unserved),
        status={"address": address, "url": _url(spec, address)} if address else {},
        waiting=not is_done,
    )


def _url(spec: Spec, address: str) -> str:
    return f"https://{spec.tls.hostname}" if spec.tls else f"http://{hosts.in_url(address)}"


def able(implementation: Implementation) -> Implementation:
    """Return the implementation. Raises InvalidSpec for one that cannot do what services need."""
    if implementation.lacks:
        problem = f"{implementation.name} cannot {'; '.join(implementation.lacks)}"
        raise InvalidSpec(c.INVALID_GATEWAY(field="spec.backend", problem=problem))
    return implementation


def _gateway_ready(request: Request, spec: Spec, waiting: list[str], address: str | None) -> Condition:
    if waiting:
        return c.GATEWAY_INSTALLING(why=f"Waiting for {', '.join(_waited_for(request, key) for key in waiting)}")
    host = hosts.in_url(str(address))
    named = f", for {spec.tls.hostname} by https" if spec.tls else ""
    return c.GATEWAY_PROGRAMMED(why=f"{spec.backend} answers at {host}{named} (unauthenticated)")


def _waited_for(request: Request, key: str) -> str:
    """A key that is not ready, and the faults that its conditions tell."""
    if key != compose.GATEWAY or key not in request.observed:
        return describe_pending(request, key)
    faults = sorted(set(_faults(request.observed[key])))
    return f"{key} ({quote('; '.join(faults))})" if faults else f"{key} to get an address"


def _faults(gateway: Manifest) -> Iterator[str]:
    """Messages of False conditions of a Gateway and its listeners, such as that a certificate is missing."""
    for holder in (dig(gateway, "status"), *dig_list(gateway, "status", "listeners")):
        for type_ in ("Accepted", "ResolvedRefs", "Programmed"):
            found = condition({"status": holder or {}}, type_)
            if dig(found, "status") == "False":
                yield quote_condition(found)


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.GATEWAY_READY,),
    invalid=c.INVALID_GATEWAY,
    requirements=lambda request: inputs.requirements(request.xr),
    compose=_compose,
    addresses=(("url",),),
)
