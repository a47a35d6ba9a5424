"""The status and the conditions of an InferenceCluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from function import clouds
from function.api import servingstack
from function.api.inferencecluster import Spec
from function.clouds import Access
from function.contracts.cloud import provisioned
from function.core import (
    Condition,
    HoldDecision,
    InvalidSpec,
    Manifest,
    Request,
    condition,
    condition_true,
    dig,
    dig_text,
    enumerate_names,
    plain,
    serves,
)
from function.fleet.clusters import is_being_deleted
from function.kinds.inferencecluster import cluster_identity, compose, inputs, made, observing
from function.kinds.inferencecluster import probe as probes
from function.kinds.inferencecluster.allocations import allocations
from function.kinds.inferencecluster.observing import Observed
from function.kinds.inferencecluster.pools import PublishedPools
from function.kinds.inferencecluster.probe import GATEWAY, Probe
from function.vocabulary import conditions as c
from function.vocabulary import names


def status(
    request: Request, spec: Spec, published: PublishedPools, probe: Probe, observed: Observed | None
) -> dict[str, Any]:
    """Return the status. A field is published once what it names exists, and kept until something replaces it."""
    address = probe.address or dig(request.xr, "status", "gateway", "address")
    config = names.provider_config(request.identity.name) if compose.CONFIG in request.observed else None
    storage_class = _storage_class(request, spec)
    cluster_id = cluster_identity.cluster_id(request)
    return {
        "namespace": names.SYSTEM_NAMESPACE,
        **({"providerConfigRef": {"name": config}} if config else {}),
        **({"clusterID": cluster_id} if cluster_id else {}),
        **({"gateway": {"address": address}} if address else {}),
        **({"cache": {"storageClassName": storage_class}} if storage_class else {}),
        **({"nodes": published.nodes, "gpuPools": list(published.pools)} if published.pools else {}),
        **_allocations(request, published.pools),
        **(observing.status(request, observed) if observed else {}),
        "podSecurity": {"enforce": spec.podSecurity.enforce},
        "serving": _backend_fault(
            request,
            probe,
            is_settled=cluster_identity.is_settled(request),
            stack=compose.serves_by_stack(request, spec),
        )
        is None,
    }


def _storage_class(request: Request, spec: Spec) -> str | None:
    """The wanted StorageClass once it was seen on the cluster. Until then the last published one: caches use it."""
    wanted = compose.storage_class(request, spec)
    if wanted is None:
        return None
    seen = dig(request.observed.get(compose.storage_class_key(wanted)), "status", "atProvider", "manifest", "metadata")
    return wanted if seen else dig_text(request.xr, "status", "cache", "storageClassName")


def _allocations(request: Request, pools: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the allocations of published pools: those of the last pass as long as the replicas are not known."""
    replicas = inputs.replicas(request)
    if replicas is None or compose.is_doubted(request):
        last = plain(dig(request.xr, "status", "allocations"))
        return {"allocations": last} if last else {}
    is_placement = dig(request.xr, "spec", "capacity", "promise") == "Placement"
    taken = allocations(pools, replicas, is_placement=is_placement)
    return {"allocations": taken} if taken else {}


def conditions(
    request: Request, spec: Spec, access: Access, published: PublishedPools, probe: Probe
) -> tuple[Condition, ...]:
    """Return ClusterReady and BackendReady."""
    return _cluster_ready(request, spec, access, published, probe), _backend_ready(request, probe, spec)


def _cluster_ready(request: Request, spec: Spec, access: Access, published: PublishedPools, probe: Probe) -> Condition:
    if published.invalid:
        first = published.invalid[0]
        more = f" ({len(published.invalid) - 1} more)" if len(published.invalid) > 1 else ""
        return c.INVALID_NODE_POOL(field=first.field, problem=f"{first.problem}{more}")
    if published.waiting:
        return c.WAITING_FOR_CLASSES(why="; ".join((*map(str, published.waiting), *_missing(request, spec, access))))
    if access.missing:
        return c.PROVISIONING(why="; ".join(access.missing))
    if unusable := _unusable(probe):
        return c.UNREACHABLE(why=f"{unusable}{_credentials(access) if probe.locked_out else ''}")
    if unreached := _unreached(request, probe):
        return c.PROVISIONING(why=unreached)
    pools = ", ".join(pool["name"] for pool in published.pools) or "none"
    kept = made.kept_sizes(published.wanted, made.read(request))
    draining = _draining(request)
    remarks = _pending_composite(request), _missing_storage_class(request, spec), draining, *kept
    reason = c.DELETION_BLOCKED if draining else c.CLUSTER_RUNNING
    return reason(why="; ".join((f"{published.nodes} nodes, pools: {pools}", *filter(None, remarks))))


def _unreached(request: Request, probe: Probe) -> str:
    """Why it is not known yet that the cluster can be used; empty where it is."""
    if compose.CONFIG not in request.observed:
        return "Waiting for the provider's configuration"
    if not probe.answered:
        return "Waiting for the cluster's first answer"
    if not cluster_identity.is_settled(request):
        return "Waiting to see which cluster it is, by namespace kube-system"
    return ""


def _unusable(probe: Probe) -> str:
    """Why the provider does not get to the cluster; empty where it does."""
    if probe.lost:
        return f"The cluster does not answer: {probe.lost}"
    return f"The cluster cannot be used: {probe.locked_out}" if probe.locked_out else ""


def _credentials(access: Access) -> str:
    """The Secret that a provider logs in with, in brackets."""
    secret = access.kubeconfig
    return f" (Secret {names.SYSTEM_NAMESPACE}/{secret.name}, key {secret.key})" if secret else ""


def _missing(request: Request, spec: Spec, access: Access) -> tuple[str, ...]:
    """What is missing besides a class. Nothing is asked of a cloud before all classes can be read."""
    if clouds.BY_NAME[spec.cluster.source].provisioner is None or clouds.KEY in request.observed:
        return access.missing
    return ("the cluster is made once every class can be read",)


def _pending_composite(request: Request) -> str:
    """The composite of a cloud that is not ready, though the cluster answers; empty where there is none.

    One that holds repeats that it is Ready: its own condition tells why it cannot go on.
    """
    composite = request.observed.get(clouds.KEY)
    if composite is None:
        return ""
    holds = dig(condition(composite, c.CLUSTER_READY.type), "status") == "False"
    return provisioned.pending(composite) if holds or not request.is_ready(clouds.KEY) else ""


def _missing_storage_class(request: Request, spec: Spec) -> str:
    """The wanted StorageClass that is not on the cluster, or why the source has none; empty otherwise."""
    wanted = compose.storage_class(request, spec)
    if wanted is None:
        return clouds.BY_NAME[spec.cluster.source].no_storage
    if _storage_class(request, spec) == wanted:
        return ""
    return f"StorageClass {wanted} was not found on it"


def _draining(request: Request) -> str:
    """What a refused delete waits for; empty where no delete was refused."""
    occupants, dependents = inputs.occupants(request) or (), compose.dependents(request)
    if not is_being_deleted(request.xr) or not (occupants or dependents):
        return ""
    if occupants:
        return f"to be deleted once these have left: {enumerate_names(occupants)}"
    if clouds.KEY in request.observed:
        return f"to be deleted once InferenceCluster {enumerate_names(dependents)}, which leads to it too, is deleted"
    return f"to be deleted once its serving stack is left to InferenceCluster {enumerate_names(dependents)}"


def _backend_ready(request: Request, probe: Probe, spec: Spec) -> Condition:
    is_settled = cluster_identity.is_settled(request)
    installs = compose.serves_by_stack(request, spec)
    fault = _backend_fault(request, probe, is_settled=is_settled, stack=installs)
    return fault or _healthy(request, probe, is_public=installs and servingstack.is_public(compose.stack(spec)))


def _backend_fault(request: Request, probe: Probe, *, is_settled: bool, stack: bool) -> Condition | None:
    """Return why replicas on the cluster cannot be reached, from what is observed; None where they can.

    `is_settled` tells whether the other InferenceClusters that lead there are known, `stack` whether this one installs
    the serving stack.
    """
    if compose.CONFIG not in request.observed:
        return c.BACKEND_WAITING_FOR_CLUSTER(why="The cluster cannot be reached yet")
    if unusable := _unusable(probe):
        return c.BACKEND_WAITING_FOR_CLUSTER(why=unusable)
    if stack and not _stack_serves(request.observed.get(compose.STACK)):
        return c.INSTALLING(
            why=f"The serving stack is being installed. {_stack_message(request) or 'Nothing is heard of it yet'}"
        )
    if probe.fault:
        return c.INSTALLING(why=f"{GATEWAY} cannot be seen on the cluster: {probe.fault}")
    if probe.unusable:
        return c.INSTALLING(why=f"{GATEWAY} has an address to which no request may be sent, {probe.unusable}")
    if not probe.address:
        return c.INSTALLING(why=f"{GATEWAY} has no address yet{_owner_remark(request)}")
    if not is_settled:
        return c.BACKEND_WAITING_FOR_CLUSTER(why="Waiting to see which cluster it is, by namespace kube-system")
    return None


def _healthy(request: Request, probe: Probe, *, is_public: bool) -> Condition:
    public = " (public, unauthenticated)" if is_public else ""
    is_current = compose.STACK not in request.observed or condition_true(
        request.observed[compose.STACK], c.STACK_READY.type
    )
    late = "" if is_current else f"; the serving stack is not as it is wanted. {_stack_message(request)}"
    reason = c.BACKEND_HEALTHY if is_current else c.STACK_OUTDATED
    return reason(why=f"{GATEWAY} answers at {probe.address}{public}{late}{_owner_remark(request)}")


def _owner_remark(request: Request) -> str:
    owner = cluster_identity.stack_owner(request)
    return f"; the serving stack is that of InferenceCluster {owner}" if owner else ""


def _stack_serves(stack: Manifest | None) -> bool:
    return stack is not None and serves(stack, c.STACK_READY.type)


def _stack_message(request: Request) -> str:
    """The message of the serving stack's own condition; empty where there is none."""
    return str(dig(condition(request.observed.get(compose.STACK) or {}, c.STACK_READY.type), "message") or "")


def held(request: Request) -> HoldDecision:
    """Return what does not depend on the spec: BackendReady, status.serving, the ClusterUsage, which nodes of the
    published pools are free, and whether what was observed of them counts."""
    probe, stack = probes.read(request.observed.get(compose.PROBE)), request.observed.get(compose.STACK)
    was_serving = dig(request.xr, "status", "serving") is True
    is_settled = was_serving or cluster_identity.is_settled(request)
    backend = _backend_fault(request, probe, is_settled=is_settled, stack=not _is_observer_alone(stack))
    backend = backend or _healthy(request, probe, is_public=_is_public(stack))
    observed, told = observing.held(request)
    return HoldDecision(
        conditions=(backend, *told),
        status={
            "serving": backend.status == "True",
            **_allocations(request, inputs.published_pools(request.xr).values()),
            **observed,
        },
        decided={compose.USAGE: compose.usage(request).get(compose.USAGE)},
    )


def _is_observer_alone(stack: Manifest | None) -> bool:
    """Whether there is no stack, or one that has no part in serving."""
    try:
        return stack is None or servingstack.is_empty(servingstack.parse(stack))
    except InvalidSpec:
        return False


def _is_public(stack: Manifest | None) -> bool:
    """Whether the installed gateway is public. It may be where the spec of the stack cannot be read."""
    try:
        return stack is not None and servingstack.is_public(servingstack.parse(stack))
    except InvalidSpec:
        return True
