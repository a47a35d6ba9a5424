"""What a ModelService reads, and what each answer means."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from function import gateways
from function.api import inferencegateway, modelendpoint
from function.core import Manifest, NotYet, Request, Requirement, dig, identity, serves
from function.core.manifest import is_list
from function.gateways import Implementation
from function.manifests import reached
from function.vocabulary import conditions as c
from function.vocabulary import hosts, labels, names, versions

GATEWAY = Requirement("gateway", inferencegateway.API_VERSION, inferencegateway.KIND, match_name=inferencegateway.NAME)
PROBES = Requirement(
    "probes",
    versions.PROVIDER_KUBERNETES,
    "Object",
    match_labels={labels.PROBE: labels.PROBE_OF_GATEWAY},
    namespace=names.SYSTEM_NAMESPACE,
)
_ENDPOINTS, _OBJECTS = "endpoints-", "objects-"
"""Labels that a replica's endpoint and its Objects have in common."""


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Its endpoints, the Objects of the replicas behind them, and whether their clusters answer."""
    selectors = list(_selectors(xr))
    namespace = identity(xr).namespace
    endpoints = (_endpoints(i, selector, namespace) for i, selector in enumerate(selectors))
    return GATEWAY, PROBES, *endpoints, *_objects(selectors, namespace)


def _endpoints(entry: int, selector: Mapping[str, str], namespace: str) -> Requirement:
    return Requirement(
        f"{_ENDPOINTS}{entry}",
        modelendpoint.API_VERSION,
        modelendpoint.KIND,
        match_labels=selector,
        namespace=namespace,
    )


def _objects(selectors: list[dict[str, str]], namespace: str) -> Iterator[Requirement]:
    """Narrowed by what their labels have in common with the endpoints'; all where an entry selects by other labels."""
    narrowed = {tuple((k, s[k]) for k in labels.OF_REPLICA if k in s) for s in selectors}
    for i, match in enumerate(sorted(narrowed) if () not in narrowed else [()]):
        yield Requirement(
            f"{_OBJECTS}{i}", versions.PROVIDER_KUBERNETES, "Object", match_labels=dict(match), namespace=namespace
        )


def _selectors(xr: Manifest) -> Iterator[dict[str, str]]:
    """Of a spec that may be anything. One that selects all is none."""
    entries = dig(xr, "spec", "endpoints")
    for entry in entries if is_list(entries) else ():
        chosen = dig(entry, "selector", "matchLabels")
        if isinstance(chosen, Mapping) and chosen and all(isinstance(v, str) for v in chosen.values()):
            yield dict(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The control cluster's gateway, where services are reached."""

    base: str
    """The URL of its root, without a slash at the end."""
    implementation: Implementation


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A ModelEndpoint that an entry selects, and that no entry before it selected."""

    name: str
    entry: int
    cluster: str
    """Value of its label; empty for an outside provider."""
    ready: bool
    """Of whatever generation: an edit that is not carried out yet takes no traffic away."""
    leaving: bool
    """Whether its deployment only waits for us to lead nobody to it any more."""
    lost: str | None
    """How the cluster of the replica behind it fails to answer; None where it answers."""
    service: str
    rewrite_path: str
    hostname: str | None


def gateway(request: Request) -> Gateway:
    """Raises NotYet: while no gateway has an address, nothing tells whether routes can be written at all."""
    found = _answered(request, GATEWAY)
    if not found:
        raise NotYet(c.WAITING_FOR_GATEWAY(why=f"There is no InferenceGateway {inferencegateway.NAME}"))
    address = dig(found[0], "status", "address")
    if not isinstance(address, str) or not address:
        why = f"InferenceGateway {inferencegateway.NAME} has no address yet"
        raise NotYet(c.WAITING_FOR_GATEWAY(why=why))
    tls = dig(found[0], "spec", "tls", "hostname")
    published = dig(found[0], "status", "url")  # its spec may have been refused since
    base = published or (f"https://{tls}" if tls else f"http://{hosts.in_url(address)}")
    return Gateway(base=base, implementation=gateways.of(found[0]))


def endpoints(request: Request) -> tuple[Endpoint, ...]:
    """Sorted by entry and name. Raises NotYet while Crossplane has yet to look."""
    lost = _lost(request)
    found: dict[str, Endpoint] = {}
    for i, selector in enumerate(_selectors(request.xr)):
        requirement = _endpoints(i, selector, request.identity.namespace)
        for manifest in sorted(_answered(request, requirement), key=identity):
            who = identity(manifest)
            if who.namespace == request.identity.namespace and not _is_going(manifest):
                found.setdefault(who.name, _endpoint(manifest, i, lost))
    return tuple(found.values())


def _is_going(manifest: Manifest) -> bool:
    return dig(manifest, "metadata", "deletionTimestamp") is not None


def _endpoint(manifest: Manifest, entry: int, lost: Mapping[tuple[str, ...], str]) -> Endpoint:
    routing = dig(manifest, "status", "routing")
    return Endpoint(
        name=identity(manifest).name,
        entry=entry,
        cluster=dig(manifest, "metadata", "labels", labels.CLUSTER) or "",
        ready=serves(manifest, "Ready") and bool(dig(routing, "backendName")),
        leaving=dig(manifest, "metadata", "annotations", labels.LEAVING) is not None,
        lost=lost.get(_replica(manifest)),
        service=dig(routing, "backendName") or "",
        rewrite_path=dig(routing, "rewritePath") or "/",
        hostname=dig(routing, "hostname"),
    )


def _lost(request: Request) -> dict[tuple[str, ...], str]:
    """The replicas of which an Object and the probe of its cluster both say that the cluster does not answer.

    One of the two alone may be a moment old, or a fault of its own.
    """
    clusters = {
        dig(probe, "metadata", "labels", labels.CLUSTER): fault
        for probe in _answered(request, PROBES)
        if (fault := reached.lost(probe))
    }
    objects = (
        o for r in _objects(list(_selectors(request.xr)), request.identity.namespace) for o in _answered(request, r)
    )
    return {
        _replica(o): clusters[cluster]
        for o in objects
        if (cluster := dig(o, "metadata", "labels", labels.CLUSTER)) in clusters and reached.lost(o)
    }


def _replica(manifest: Manifest) -> tuple[str, ...]:
    """Which replica an Object or an endpoint is of."""
    return tuple(str(dig(manifest, "metadata", "labels", label) or "") for label in labels.OF_REPLICA)


def contradicted(
    request: Request, found: Collection[Endpoint], routed: frozenset[str], placeholder: str
) -> tuple[str, ...]:
    """The requirements that found nothing, where the route tells that there was something: by name.

    Endpoints to which it leads may have vanished; and one that it does not lead to may be of a lost cluster, which
    nothing tells where no probe and no Object is found.
    """
    empty = [name for name, objects in sorted(request.required.items()) if not objects]
    gone = routed - {placeholder} - {endpoint.service for endpoint in found}
    vouched = [e for e in found if e.ready and e.cluster and not e.leaving and e.service not in routed]
    return tuple(
        name
        for name in empty
        if (gone and name.startswith(_ENDPOINTS)) or (vouched and name.startswith((_OBJECTS, PROBES.name)))
    )


def _answered(request: Request, requirement: Requirement) -> tuple[Manifest, ...]:
    """Raises NotYet."""
    found = request.resolved(requirement)
    if found is None:
        raise NotYet(c.CONFIGURING(why=f"Crossplane has yet to look up its {requirement.name}"))
    return found
