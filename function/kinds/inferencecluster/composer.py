"""The composer of InferenceClusters: reach the cluster, observe it, and publish its pools to the scheduler."""

from __future__ import annotations

from collections.abc import Iterator

from function import clouds
from function.api.inferencecluster import API_VERSION, KIND, Spec, parse
from function.core import Composer, InvalidSpec, NotYet, Request, Result
from function.fleet.clusters import is_being_deleted
from function.kinds.inferencecluster import (
    capacity,
    cluster_identity,
    compose,
    inputs,
    made,
    observing,
    pools,
    probe,
    status,
)
from function.vocabulary import conditions as c


def _compose(request: Request) -> Result:
    spec = parse(request.xr)
    source = clouds.BY_NAME[spec.cluster.source]
    _check_owner(request)
    _check_others(request)
    access = source.access(spec.cluster.block, request)
    check_cluster(spec, source)
    known = pools.Known(
        classes=inputs.classes(request),
        published=inputs.published_pools(request.xr),
        counted=cluster_identity.counted_elsewhere(request),
        made=made.read(request),
    )
    published = pools.publish_pools(spec, source, known)
    seen = probe.read(request.observed.get(compose.PROBE))
    conditions = status.conditions(request, spec, access, published, seen)
    cluster_ready, backend_ready = (condition.status == "True" for condition in conditions)
    is_installed = backend_ready and (not compose.serves_by_stack(request, spec) or request.is_ready(compose.STACK))
    is_made = source.provisioner is None or request.is_ready(clouds.KEY)
    is_waiting = not (is_made and is_installed) or bool(published.waiting or access.missing)
    observed = _observed(request, spec, published)
    informing = observing.conditions(observed) if observed else observing.declared_counts(request)
    return Result(
        ready=cluster_ready and is_made and is_installed,
        conditions=(*conditions, *informing),
        resources=compose.resources(request, spec, access, published),
        status=status.status(request, spec, published, seen, observed),
        waiting=is_waiting or compose.is_doubted(request) or is_being_deleted(request.xr),
    )


def _observed(request: Request, spec: Spec, published: pools.PublishedPools) -> observing.Observed | None:
    if not capacity.is_asked(spec):
        return None
    return observing.read(request, published.pools, capacity.declared(published))


def check_cluster(spec: Spec, source: clouds.Source) -> None:
    """Raises InvalidSpec for the first thing that the cloud cannot do."""
    for field, problem in cluster_faults(spec, source):
        raise InvalidSpec(c.INVALID_CLUSTER(field=field, problem=problem))


def cluster_faults(spec: Spec, source: clouds.Source) -> Iterator[tuple[str, str]]:
    """Yield what the cloud cannot do of what the whole cluster asks for, as fields and problems."""
    if source.provisioner:
        for field, problem in source.provisioner.cluster_faults(spec.cluster.block, spec.nodePools):
            yield f"spec.cluster.{source.block}.{field}".rstrip("."), problem


def _check_owner(request: Request) -> None:
    """Raises InvalidSpec where another owner has the provider config: both would count the same nodes."""
    owner = inputs.owner_of_config(request)
    if owner:
        problem = f"its ClusterProviderConfig already belongs to {owner}"
        raise InvalidSpec(c.INVALID_CLUSTER(field="metadata.name", problem=problem))


def _check_others(request: Request) -> None:
    """Raises NotYet until the other InferenceClusters that lead to the same Kubernetes cluster are known."""
    if cluster_identity.is_identified(request) and cluster_identity.found_observers(request) is None:
        raise NotYet(c.PROVISIONING(why="Waiting to see which InferenceClusters lead to the same Kubernetes cluster"))


COMPOSER = Composer(
    api_version=API_VERSION,
    kind=KIND,
    conditions=(c.CLUSTER_READY, c.BACKEND_READY),
    optional=(c.CAPACITY_OBSERVED, c.CLASS_MATCHES_NODES),
    invalid=c.INVALID_CLUSTER,
    requirements=lambda request: inputs.requirements(request.xr),
    compose=_compose,
    held=status.held,
    addresses=(("gateway", "address"),),
)
