"""How a ModelService interprets what it reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from function import gateways
from function.api import inferencegateway, modeldeployment
from function.core import (
    Manifest,
    Missing,
    NotYet,
    Request,
    Requirement,
    dig,
    dig_text,
    enumerate_names,
    identity,
    is_controlled_by,
    plain,
)
from function.fleet import served_names, upstreams
from function.gateways import Implementation
from function.kinds.modelservice import reads
from function.manifests import reached
from function.vocabulary import conditions as c
from function.vocabulary import hosts, names
from function.vocabulary.egress import Policy


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
    unseen: str = ""
    """The requirement that found no probe, or no Object of the replica, so that it is open whether the cluster answers.
    Empty if it is known."""
    upstream: Mapping[str, Any] | None = None
    """How the service's own proxy reaches it, as it published it. None if it has not."""
    is_outside: bool = False
    """Whether only a proxy can reach it."""
    is_replicas: bool = False
    """Whether a ModelDeployment composed it, so that it leads to the gateway that a cluster published."""


def policy(request: Request) -> Policy:
    """Return where tenants' traffic may go. The gateway must be looked up."""
    found = request.resolved(reads.GATEWAY)
    return inferencegateway.policy(found[0] if found else None)


def gateway(request: Request) -> Gateway:
    """Return the gateway.

    Raises Missing if it has no address: until then, it is not even known whether routes can be written.
    """
    _check_answered(request, [reads.GATEWAY])
    found = request.resolved(reads.GATEWAY)
    if not found:
        raise Missing(c.WAITING_FOR_GATEWAY(why=f"InferenceGateway {inferencegateway.NAME} does not exist"))
    address = dig_text(found[0], "status", "address")
    if not address:
        why = f"InferenceGateway {inferencegateway.NAME} has no address yet"
        raise Missing(c.WAITING_FOR_GATEWAY(why=why))
    tls = dig_text(found[0], "spec", "tls", "hostname")
    published = dig_text(found[0], "status", "url")  # the gateway's spec may have been refused since
    base = published or (f"https://{tls}" if tls else f"http://{hosts.in_url(address)}")
    return Gateway(base=base, implementation=gateways.of(found[0]))


def endpoints(request: Request) -> tuple[Endpoint, ...]:
    """Return the selected endpoints by entry and name. Raises NotYet while a stage of `reads` is not answered."""
    _check_answered(request, reads.requirements(request))
    sight = _sight(request)
    return tuple(_endpoint(manifest, entry, sight) for entry, manifest in reads.selected(request))


def _endpoint(manifest: Manifest, entry: int, sight: _Sight) -> Endpoint:
    routing = dig(manifest, "status", "routing")
    upstream = dig(routing, "upstream")
    return Endpoint(
        name=identity(manifest).name,
        entry=entry,
        cluster=reads.cluster(manifest),
        ready=reads.is_ready(manifest),
        leaving=reads.is_leaving(manifest),
        lost=_lost(manifest, sight),
        service=dig_text(routing, "backendName") or "",
        rewrite_path=dig_text(routing, "rewritePath") or "/",
        hostname=dig_text(routing, "hostname"),
        served=served_names.of_endpoint(manifest),
        unseen=_unseen(manifest, sight) if reads.is_candidate(manifest) else "",
        upstream=plain(upstream) if upstreams.of_endpoint(manifest) else None,
        is_outside=dig(routing, "backendName") == names.egress(identity(manifest)),
        is_replicas=is_controlled_by(manifest["metadata"], modeldeployment.API_VERSION, modeldeployment.KIND),
    )


@dataclass(frozen=True, slots=True)
class _Sight:
    """What probes and Objects show, as far as they were found."""

    clusters: Mapping[str, str | None]
    """The error that the probe of a cluster reports, or None if the cluster answers."""
    replicas: Mapping[tuple[str, ...], bool]
    """Whether an Object of a replica reports that its cluster does not answer."""


def _sight(request: Request) -> _Sight:
    found = reads.candidates(request)
    clusters = reads.probed(request, found)
    replicas: dict[tuple[str, ...], bool] = {}
    for requirement in reads.objects(found, clusters, request.identity.namespace):
        for manifest in request.resolved(requirement) or ():
            who = reads.replica(manifest)
            replicas[who] = replicas.get(who, False) or reached.lost(manifest) is not None
    return _Sight(clusters, replicas)


def _lost(endpoint: Manifest, sight: _Sight) -> str | None:
    """Return the error if the probe and an Object of the replica both report that the cluster does not answer.

    One of them alone may be out of date, or may have a fault of its own.
    """
    is_seen_lost = sight.replicas.get(reads.replica(endpoint), False)
    return sight.clusters.get(reads.cluster(endpoint)) if is_seen_lost else None


def _unseen(endpoint: Manifest, sight: _Sight) -> str:
    cluster = reads.cluster(endpoint)
    if cluster not in sight.clusters:
        return reads.probe(cluster).name
    if sight.clusters[cluster] and reads.replica(endpoint) not in sight.replicas:
        return reads.objects_name(reads.group(endpoint))
    return ""


def vanished(
    request: Request, found: Collection[Endpoint], routed: frozenset[str], proxied: Collection[str]
) -> tuple[str, ...]:
    """Return the names of the entries' requirements that found nothing, if traffic goes to endpoints not found.

    `routed` are the Services of the route, and `proxied` the endpoints of the proxy.
    """
    is_gone = routed - {endpoint.service for endpoint in found} or set(proxied) - {one.name for one in found}
    if not is_gone:
        return ()
    return tuple(r.name for r in reads.endpoints(request) if not request.resolved(r))


def _check_answered(request: Request, required: Iterable[Requirement]) -> None:
    pending = reads.pending(request, required)
    if pending:
        missing = enumerate_names([*map(reads.said, pending)])
        raise NotYet(c.CONFIGURING(why=f"Crossplane has not looked up {missing} yet"))
