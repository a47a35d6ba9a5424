"""What an InferenceCluster says of itself."""

from __future__ import annotations

from typing import Any

from function import conditions as c
from function import names
from function.core import Condition, Held, Request, condition, dig, listed, plain
from function.kinds.inferencecluster import compose, inputs, likeness
from function.kinds.inferencecluster import probe as probes
from function.kinds.inferencecluster.allocations import allocations
from function.kinds.inferencecluster.model import Spec
from function.kinds.inferencecluster.pools import Offer
from function.kinds.inferencecluster.probe import GATEWAY, Probe
from function.kinds.inferencecluster.sources import Access
from function.kinds.servingstack.model import is_public

_MOST_NAMED = 5


def status(request: Request, spec: Spec, offer: Offer, probe: Probe) -> dict[str, Any]:
    """Published once it exists, and kept until something else takes its place."""
    address = probe.address or dig(request.xr, "status", "gateway", "address")
    config = names.provider_config(request.identity.name) if compose.CONFIG in request.observed else None
    storage_class = _storage_class(request, spec)
    cluster_id = likeness.cluster_id(request)
    return {
        "namespace": names.SYSTEM_NAMESPACE,
        **({"providerConfigRef": {"name": config}} if config else {}),
        **({"clusterID": cluster_id} if cluster_id else {}),
        **({"gateway": {"address": address}} if address else {}),
        **({"cache": {"storageClassName": storage_class}} if storage_class else {}),
        **({"nodes": offer.nodes, "gpuPools": list(offer.pools)} if offer.pools else {}),
        **_allocations(request, offer),
    }


def _storage_class(request: Request, spec: Spec) -> str | None:
    """The class once it was seen; the one before it until then, for caches are on it."""
    wanted = compose.storage_class(spec)
    if wanted is None:
        return None
    seen = dig(request.observed.get(compose.storage_class_key(wanted)), "status", "atProvider", "manifest", "metadata")
    published: str | None = dig(request.xr, "status", "cache", "storageClassName")
    return wanted if seen else published


def _allocations(request: Request, offer: Offer) -> dict[str, Any]:
    replicas = inputs.replicas(request)
    if replicas is None:
        last = plain(dig(request.xr, "status", "allocations"))
        return {"allocations": last} if last else {}
    taken = allocations(offer.pools, replicas)
    return {"allocations": taken} if taken else {}


def conditions(request: Request, spec: Spec, access: Access, offer: Offer, probe: Probe) -> tuple[Condition, ...]:
    return _cluster_ready(request, spec, access, offer, probe), _backend_ready(request, probe, spec)


def _cluster_ready(request: Request, spec: Spec, access: Access, offer: Offer, probe: Probe) -> Condition:
    if offer.invalid:
        first = offer.invalid[0]
        more = f" ({len(offer.invalid) - 1} more)" if len(offer.invalid) > 1 else ""
        return c.INVALID_NODE_POOL(field=first.field, problem=f"{first.problem}{more}")
    if offer.waiting:
        return c.WAITING_FOR_CLASSES(why="; ".join((*map(str, offer.waiting), *access.missing)))
    if access.missing:
        return c.PROVISIONING(why="; ".join(access.missing))
    if compose.CONFIG not in request.observed:
        return c.PROVISIONING(why="Waiting for the provider's configuration")
    if probe.lost:
        return c.PROVISIONING(why=f"The cluster does not answer: {probe.lost}")
    if not probe.answered:
        return c.PROVISIONING(why="Waiting for the cluster's first answer")
    if not likeness.is_settled(request):
        return c.PROVISIONING(why="Waiting to see which cluster it is, by namespace kube-system")
    pools = ", ".join(pool["name"] for pool in offer.pools) or "none"
    remarks = _unstaged(request, spec), _draining(request)
    return c.CLUSTER_RUNNING(why="; ".join((f"{offer.nodes} nodes, pools: {pools}", *filter(None, remarks))))


def _unstaged(request: Request, spec: Spec) -> str:
    """Why no weights can be staged, where someone wants them to be."""
    wanted = compose.storage_class(spec)
    if wanted is None or _storage_class(request, spec) == wanted:
        return ""
    return f"StorageClass {wanted} was not found on it"


def _draining(request: Request) -> str:
    """Whom a refused delete waits for."""
    who = inputs.on_it(request) or ()
    if not who or not inputs.is_being_deleted(request.xr):
        return ""
    return f"to be deleted once these have left: {listed(who, _MOST_NAMED)}"


def _backend_ready(request: Request, probe: Probe, spec: Spec | None = None) -> Condition:
    if compose.CONFIG not in request.observed:
        return c.BACKEND_WAITING_FOR_CLUSTER(why="The cluster cannot be reached yet")
    if probe.lost:
        return c.BACKEND_WAITING_FOR_CLUSTER(why=f"The cluster does not answer: {probe.lost}")
    unfinished = _unfinished(request, spec)
    if unfinished:
        return c.INSTALLING(why=unfinished)
    if probe.fault:
        return c.INSTALLING(why=f"{GATEWAY} cannot be seen on the cluster: {probe.fault}")
    if not probe.address:
        return c.INSTALLING(why=f"{GATEWAY} has no address yet")
    public = " (public, unauthenticated)" if spec and is_public(compose.stack(spec)) else ""
    return c.BACKEND_HEALTHY(why=f"{GATEWAY} answers at {probe.address}{public}")


def _unfinished(request: Request, spec: Spec | None) -> str | None:
    """What the serving stack still waits for; None where it waits for nothing, or is none of ours."""
    if spec is None or not compose.has_stack(spec):
        return None
    said = condition(request.observed.get(compose.STACK) or {}, c.STACK_READY.type)
    if dig(said, "status") == "True":
        return None
    return f"The serving stack is being installed. {dig(said, 'message') or 'Nothing is heard of it yet'}"


def held(request: Request, why: Condition) -> Held:
    """An invalid spec changes nothing: what is observed is still told of, and who is on the cluster still protected."""
    said = why, _backend_ready(request, probes.read(request.observed.get(compose.PROBE)))
    return Held(said, decided={compose.USAGE: compose.usage(request).get(compose.USAGE)})
