"""What an InferenceCluster composes.

- The composite of a cloud, where a cloud makes the cluster.
- A provider config for each provider that reaches the cluster.
- The ServingStack, unless another InferenceCluster owns it (cluster_identity.py).
- Objects that only observe: the cluster's Gateway, its namespace kube-system, and its StorageClass for ModelCaches.
- Objects by which its capacity is observed, if that is asked for (capacity.py).
- A ClusterUsage of the InferenceCluster itself, which refuses a delete until the cluster is drained.

All but the ClusterUsage and the Objects for its capacity stay, once they are there, for as long as the InferenceCluster
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import clouds
from function.api import servingstack
from function.api.inferencecluster import API_VERSION, KIND, Spec
from function.clouds import Access, SecretKey
from function.core import ComposedResource, Manifest, Request, dig, doubt, is_ready, restate, restate_resource
from function.fleet.clusters import are_taken
from function.kinds.inferencecluster import capacity, cluster_identity, drivers, inputs, load_balancer, made
from function.kinds.inferencecluster.pools import PublishedPools
from function.manifests import gateway, provider
from function.manifests.metadata import metadata
from function.manifests.parts import usages
from function.manifests.usage import cluster_usage
from function.vocabulary import labels, names, versions

CONFIG = inputs.COMPOSED_CONFIG
PROBE = "gateway"
USAGE = "usage"
HELM_CONFIG = "helm-provider-config"
STACK = "serving-stack"
_OUTLIVES = ((clouds.KEY, STACK),)
"""Pairs of keys: the first is deleted after the second."""


def resources(request: Request, spec: Spec, access: Access, published: PublishedPools) -> dict[str, ComposedResource]:
    """Return everything that is composed on this pass, by key.

    `access` is how the source reaches the cluster, `published` are the pools as they go into the status.
    """
    composed = {
        **_cluster(request, spec, published),
        **_configs(request, spec, access),
        **_stack(request, spec, published),
        **_probe(request),
        **_observer(request, spec, published),
        **_storage_class(request, spec),
        **capacity.resources(request, spec, published),
        **usage(request),
    }
    ordered = usages(request, composed, _OUTLIVES, names.SYSTEM_NAMESPACE)
    has_gateway = installs_stack(request, spec) and servingstack.is_on(stack(spec), "envoyGateway")
    wants = STACK in composed and has_gateway
    last = load_balancer.usage(request, composed.get(clouds.KEY), request.observed.get(STACK), is_wanted=wants)
    return {**composed, **ordered, **last}


def _cluster(request: Request, spec: Spec, published: PublishedPools) -> dict[str, ComposedResource]:
    """The composite by which a cloud makes the cluster. It stays as it is while any pool cannot be read, and while it
    is not known which nodes replicas take."""
    source, there = clouds.BY_NAME[spec.cluster.source], made.read(request)
    if source.provisioner is None:
        return {}
    if published.invalid or published.waiting or (_used(request) is None and there.asked):
        return _held(request, clouds.KEY)
    cluster, model = request.identity.name, source.provisioner.model
    manifest = {
        "apiVersion": model.API_VERSION,
        "kind": model.KIND,
        "metadata": metadata(
            name=inputs.composite_name(cluster),
            namespace=names.SYSTEM_NAMESPACE,
            labels={labels.CLUSTER: names.label_value(cluster)},
        ),
        "spec": {
            "clusterName": cluster,
            **spec.cluster.block.model_dump(exclude_unset=True, exclude_none=True),
            "nodePools": made.asked(published.wanted, there),
        },
    }
    return {clouds.KEY: ComposedResource(manifest, ready=request.is_ready(clouds.KEY))}


def _configs(request: Request, spec: Spec, access: Access) -> dict[str, ComposedResource]:
    """Composed once the Secrets are there, and never withdrawn: everything on the cluster is reached through them."""
    wanted = {CONFIG: versions.PROVIDER_KUBERNETES}
    if has_stack(spec) or HELM_CONFIG in request.observed:
        wanted[HELM_CONFIG] = versions.PROVIDER_HELM
    kubeconfig = access.kubeconfig
    if kubeconfig is None:
        observed = ((key, request.observed.get(key)) for key in wanted)
        return {key: ComposedResource(restate(config), ready=True) for key, config in observed if config}
    return {
        key: ComposedResource(_config(request, access, kubeconfig, api_version), ready=key in request.observed)
        for key, api_version in wanted.items()
        if not access.missing or key in request.observed
    }


def _config(request: Request, access: Access, kubeconfig: SecretKey, api_version: str) -> dict[str, Any]:
    return provider.cluster_provider_config(
        api_version=api_version,
        name=names.provider_config(request.identity.name),
        kubeconfig=_reference(kubeconfig),
        identity=access.identity and {"type": access.identity[0], "secretRef": _reference(access.identity[1])},
    )


def _reference(secret: SecretKey) -> dict[str, str]:
    return {"name": secret.name, "key": secret.key, "namespace": secret.namespace}


def has_stack(spec: Spec) -> bool:
    """Return whether anything is to be installed on the cluster; the observer alone is enough."""
    observes = capacity.is_asked(spec) and servingstack.is_on(stack(spec), "observer")
    return observes or not servingstack.is_empty(stack(spec))


def installs_stack(request: Request, spec: Spec) -> bool:
    """Return whether this InferenceCluster installs the stack, rather than an older one that leads there too."""
    return has_stack(spec) and cluster_identity.stack_owner(request) is None


def serves_by_stack(request: Request, spec: Spec) -> bool:
    """Return whether replicas can be reached only once the stack that is installed here serves.

    A stack of the observer alone has no part in serving.
    """
    return installs_stack(request, spec) and not servingstack.is_empty(stack(spec))


def stack(spec: Spec) -> servingstack.Stack:
    """Return the serving stack that the user asks for: all of it, by default."""
    return spec.servingStack or servingstack.Stack()


def _stack(request: Request, spec: Spec, published: PublishedPools) -> dict[str, ComposedResource]:
    """The ServingStack. Of several InferenceClusters that lead to one Kubernetes cluster, the oldest that asks for a
    stack composes it, and the last one to be deleted uninstalls it. None is composed before the others are known."""
    is_composed = STACK in request.observed
    if not installs_stack(request, spec):
        return _orphaned(request)
    if CONFIG not in request.observed:
        return _held(request, STACK)
    if cluster_identity.is_shared(request) is None and not is_composed:
        return {}
    return {STACK: ComposedResource(_serving_stack(request, spec, published), ready=request.is_ready(STACK))}


def _serving_stack(request: Request, spec: Spec, published: PublishedPools) -> dict[str, Any]:
    cluster = request.identity.name
    wanted = stack(spec).model_dump(exclude_unset=True, exclude_none=True)
    return {
        "apiVersion": servingstack.API_VERSION,
        "kind": servingstack.KIND,
        "metadata": metadata(
            name=names.derived(cluster, "serving-stack", cluster),
            namespace=names.SYSTEM_NAMESPACE,
            labels={labels.CLUSTER: names.label_value(cluster)},
        ),
        "spec": {
            "clusterName": cluster,
            "source": spec.cluster.source,
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": names.provider_config(cluster)},
            "drivers": drivers.of_stack(request, published, _used(request), request.observed.get(STACK)),
            **({"observer": {"enabled": True}} if _observes(request, spec) else {}),
            **({"deletionPolicy": servingstack.ORPHAN} if _orphans(request) else {}),
            **{field: block for field, block in wanted.items() if block},
        },
    }


def _used(request: Request) -> Mapping[str, made.Use] | None:
    """What replicas need of each pool; None while it is not known."""
    return None if is_doubted(request) else made.used(request)


def _orphans(request: Request) -> bool:
    """Whether the stack leaves installed what others need. While the others are not known, the policy stays."""
    shared = cluster_identity.is_shared(request)
    if shared is None:
        return bool(dig(request.observed.get(STACK), "spec", "deletionPolicy") == servingstack.ORPHAN)
    return shared


def _observes(request: Request, spec: Spec) -> bool:
    """Whether the stack has the observer: this InferenceCluster asks for it, or another one that leads there. While the
    others are not known, it stays as it is."""
    others = cluster_identity.others_observe_capacity(request)
    if others is None:
        others = dig(request.observed.get(STACK), "spec", "observer", "enabled") is True
    return others or capacity.is_asked(spec)


def _orphaned(request: Request) -> dict[str, ComposedResource]:
    """A stack that is no longer wanted here. Where others need what it installed, it goes once its policy is Orphan."""
    observed = request.observed.get(STACK)
    if observed is None or cluster_identity.is_shared(request) is False or is_orphaning(observed):
        return {}
    manifest = restate(observed)
    if cluster_identity.is_shared(request):
        manifest["spec"] = {**manifest["spec"], "deletionPolicy": servingstack.ORPHAN}
    return {STACK: ComposedResource(manifest, ready=is_ready(observed))}


def is_orphaning(observed: Manifest | None) -> bool:
    """Return whether deleting an observed stack leaves installed what it installed."""
    return bool(dig(observed, "status", "deletionPolicy") == servingstack.ORPHAN)


def _probe(request: Request) -> dict[str, ComposedResource]:
    if CONFIG not in request.observed:
        return _held(request, PROBE)
    cluster = request.identity.name
    manifest = provider.object_(
        name=names.probe(cluster),
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.CLUSTER: names.label_value(cluster), labels.PROBE: labels.PROBE_OF_GATEWAY},
        provider_config=names.provider_config(cluster),
        management_policies=provider.OBSERVE,
        readiness_cel=gateway.HAS_ADDRESS,
        manifest=gateway.reference(name=names.CLUSTER_GATEWAY, namespace=names.SYSTEM_NAMESPACE),
    )
    return {PROBE: ComposedResource(manifest, ready=request.is_ready(PROBE))}


def _observer(request: Request, spec: Spec, published: PublishedPools) -> dict[str, ComposedResource]:
    if CONFIG not in request.observed:
        return _held(request, cluster_identity.KEY)
    key = cluster_identity.KEY
    needed = drivers.needed(published, _used(request), cluster_identity.own_drivers(request))
    manifest = cluster_identity.observer(request, spec, wants_stack=has_stack(spec), drivers=needed)
    return {key: ComposedResource(manifest, ready=request.is_ready(key))}


def storage_class_key(name: str) -> str:
    """Return the key of the Object that observes a StorageClass."""
    return f"storage-class-{names.label_value(name)}"


def _storage_class(request: Request, spec: Spec) -> dict[str, ComposedResource]:
    """An Object that observes the StorageClass: it is published only where it exists."""
    wanted = storage_class(request, spec)
    if wanted is None:
        return {}
    key = storage_class_key(wanted)
    if CONFIG not in request.observed:
        return _held(request, key)
    cluster = request.identity.name
    manifest = provider.object_(
        name=names.remote_object(cluster, "StorageClass", "", wanted),
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.CLUSTER: names.label_value(cluster)},
        provider_config=names.provider_config(cluster),
        management_policies=provider.OBSERVE,
        manifest={"apiVersion": versions.STORAGE, "kind": "StorageClass", "metadata": {"name": wanted}},
    )
    return {key: ComposedResource(manifest, ready=request.is_ready(key))}


def storage_class(request: Request, spec: Spec) -> str | None:
    """Return the StorageClass for ModelCaches; None where there is none, or it is not known yet."""
    return clouds.BY_NAME[spec.cluster.source].storage_class(spec.cluster.block, request)


def usage(request: Request) -> dict[str, ComposedResource]:
    """Return the ClusterUsage that refuses a delete of the InferenceCluster while

    - replicas or weights are on the cluster: they move first;
    - others need what its stack installed, and deleting the stack would uninstall it.
    """
    occupants = inputs.occupants(request)
    if occupants is None:
        return _held(request, USAGE)
    doubted = [inputs.REPLICAS] if is_doubted(request) else []
    if not occupants and not dependents(request):
        return doubt.keep(request, USAGE, *doubted) if doubted else {}
    cluster = request.identity.name
    manifest = cluster_usage(
        name=names.derived(cluster, "drain", cluster),
        api_version=API_VERSION,
        kind=KIND,
        of=cluster,
        reason="Replicas or weights of models are on this cluster; they move first, then the delete goes on"
        if occupants
        else "Other InferenceClusters need what is installed here; it is let go first, then the delete goes on",
    )
    return {USAGE: doubt.with_note(ComposedResource(manifest, ready=request.is_ready(USAGE)), doubted)}


def dependents(request: Request) -> tuple[str, ...]:
    """Return the InferenceClusters that would lose the serving stack by a delete at this moment, sorted; or the whole
    cluster, where a cloud made it for this one."""
    observed = request.observed.get(STACK)
    is_kept = clouds.KEY not in request.observed and (observed is None or is_orphaning(observed))
    return () if is_kept else cluster_identity.cluster_names(cluster_identity.others(request) or ())


def is_doubted(request: Request) -> bool:
    """Return whether the look-up of replicas found none for the first time, although there were some.

    One look-up is not believed: without the ClusterUsage, a delete that waits would go on, and deployments would be
    placed on nodes that are taken.
    """
    if inputs.found_no_replicas(request) and not doubt.is_believed(request, inputs.REPLICAS, USAGE):
        is_empty = inputs.occupants(request) == () and not dependents(request)
        return is_empty or are_taken(dig(request.xr, "status", "allocations"))
    return False


def _held(request: Request, key: str) -> dict[str, ComposedResource]:
    observed: Any = request.observed.get(key)
    return {key: restate_resource(observed)} if observed else {}
