"""What a ModelService reads, and how it interprets the results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from function import gateways
from function.api import inferencegateway, modelendpoint
from function.core import Manifest, NotYet, Request, Requirement, dig, identity, serves
from function.core.manifest import is_list
from function.fleet import served_names
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
"""Labels shared by a replica's endpoint and the replica's Objects."""


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Require the gateway, the endpoints, the Objects of the replicas behind them, and the probes of their clusters."""
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
    """Require the Objects with the labels that entries select by.

    If an entry selects by other labels, require all Objects.
    """
    narrowed = {tuple((k, s[k]) for k in labels.OF_REPLICA if k in s) for s in selectors}
    for i, match in enumerate(sorted(narrowed) if () not in narrowed else [()]):
        yield Requirement(
            f"{_OBJECTS}{i}", versions.PROVIDER_KUBERNETES, "Object", match_labels=dict(match), namespace=namespace
        )


def _selectors(xr: Manifest) -> Iterator[dict[str, str]]:
    """Yield the selectors of a spec that may be invalid. A selector without labels is skipped."""
    entries = dig(xr, "spec", "endpoints")
    for entry in entries if is_list(entries) else ():
        chosen = dig(entry, "selector", "matchLabels")
        if isinstance(chosen, Mapping) and chosen and all(isinstance(v, str) for v in chosen.values()):
            yield dict(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The control cluster's gateway, through which services are reached."""

    base: str
    """The URL of its root, without a trailing slash."""
    implementation: Implementation


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A ModelEndpoint, under the first entry that selects it."""

    name: str
    entry: int
    cluster: str
    """The value of its cluster label. Empty for an outside provider."""
    ready: bool
    """Whether it serves, whatever its generation: an edit that is not carried out yet takes no traffic away."""
    leaving: bool
    """Whether its deployment wants to delete it, and waits until we no longer route to it."""
    lost: str | None
    """The error with which the cluster of its replica fails to answer. None if the cluster answers."""
    service: str
    rewrite_path: str
    hostname: str | None
    served: tuple[str, ...] = ()
    """The model names that it answers to, as far as they are known."""


def gateway(request: Request) -> Gateway:
    """Return the gateway.

    Raises NotYet if it has no address: until then, it is not even known whether routes can be written.
    """
    found = _answered(request, GATEWAY)
    if not found:
        raise NotYet(c.WAITING_FOR_GATEWAY(why=f"InferenceGateway {inferencegateway.NAME} does not exist"))
    address = dig(found[0], "status", "address")
    if not isinstance(address, str) or not address:
        why = f"InferenceGateway {inferencegateway.NAME} has no address yet"
        raise NotYet(c.WAITING_FOR_GATEWAY(why=why))
    tls = dig(found[0], "spec", "tls", "hostname")
    published = dig(found[0], "status", "url")  # the gateway's spec may have been refused since
    base = published or (f"https://{tls}" if tls else f"http://{hosts.in_url(address)}")
    return Gateway(base=base, implementation=gateways.of(found[0]))


def endpoints(request: Request) -> tuple[Endpoint, ...]:
    """Return the selected endpoints by entry and name. Raises NotYet until Crossplane has resolved the requirements."""
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
        served=served_names.of_endpoint(manifest),
    )


def _lost(request: Request) -> dict[tuple[str, ...], str]:
    """Return the replicas of lost clusters: both an Object of the replica and its cluster's probe report no answer.

    One of them alone may be out of date, or may have a fault of its own.
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
    """Return the labels that identify the replica of an Object or endpoint."""
    return tuple(str(dig(manifest, "metadata", "labels", label) or "") for label in labels.OF_REPLICA)


def contradicted(
    request: Request, found: Collection[Endpoint], routed: frozenset[str], placeholder: str
) -> tuple[str, ...]:
    """Return the names of the requirements whose empty result contradicts the route.

    Endpoints that the route leads to may have vanished. A ready endpoint that it does not lead to may be of a lost
    cluster: without any probe or Object, nothing shows that.
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
    """Return what a requirement resolved to. Raises NotYet if it is not resolved."""
    found = request.resolved(requirement)
    if found is None:
        raise NotYet(c.CONFIGURING(why=f"Crossplane has not looked up {requirement.name} yet"))
    return found
