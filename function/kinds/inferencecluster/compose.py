"""What an InferenceCluster composes."""

from __future__ import annotations

from typing import Any

from function import clouds
from function.api import servingstack
from function.api.inferencecluster import API_VERSION, KIND, Spec
from function.clouds import Access, SecretKey
from function.core import ComposedResource, Manifest, Request, dig, doubt, is_ready, restate
from function.kinds.inferencecluster import cluster_identity, inputs
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
"""The cluster that a cloud makes goes after what is installed on it."""


def resources(request: Request, spec: Spec, access: Access, offer: PublishedPools) -> dict[str, ComposedResource]:
    """What is composed now. What was there once stays while the cluster does, but for the Usage of who left."""
    composed = {
        **_cluster(request, spec, offer),
        **_configs(request, spec, access),
        **_stack(request, spec),
        **_probe(request),
        **_likeness(request, spec),
        **_storage_class(request, spec),
        **usage(request),
    }
    return {**composed, **usages(request, composed, _OUTLIVES, names.SYSTEM_NAMESPACE)}


def _cluster(request: Request, spec: Spec, offer: PublishedPools) -> dict[str, ComposedResource]:
    """The composite by which a cloud makes the cluster. It never changes by half of its pools."""
    source = clouds.BY_NAME[spec.cluster.source]
    if source.provisioner is None:
        return {}
    if offer.invalid or offer.waiting:
        return _kept(request, clouds.KEY)
    cluster, model = request.identity.name, source.provisioner.model
    manifest = {
        "apiVersion": model.API_VERSION,
        "kind": model.KIND,
        "metadata": metadata(
            name=names.derived(cluster, "cluster", cluster),
            namespace=names.SYSTEM_NAMESPACE,
            labels={labels.CLUSTER: names.label_value(cluster)},
        ),
        "spec": {
            "clusterName": cluster,
            **spec.cluster.block.model_dump(exclude_unset=True, exclude_none=True),
            "nodePools": list(offer.wanted),
        },
    }
    return {clouds.KEY: ComposedResource(manifest, ready=request.is_ready(clouds.KEY))}


def _configs(request: Request, spec: Spec, access: Access) -> dict[str, ComposedResource]:
    """Not before their Secrets are there; after that always, for they are how everything on the cluster is reached."""
    wanted = {CONFIG: versions.PROVIDER_KUBERNETES}
    if has_stack(spec) or HELM_CONFIG in request.observed:
        wanted[HELM_CONFIG] = versions.PROVIDER_HELM
    kubeconfig = access.kubeconfig
    if kubeconfig is None:
        return {**_kept(request, CONFIG), **_kept(request, HELM_CONFIG)}
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
    return {"name": secret.name, "key": secret.key, "namespace": names.SYSTEM_NAMESPACE}


def has_stack(spec: Spec) -> bool:
    """Whether anything is installed on the cluster at all."""
    return not servingstack.is_empty(stack(spec))


def installs_stack(request: Request, spec: Spec) -> bool:
    """Whether the stack is this InferenceCluster's to install, and not that of another one that came earlier."""
    return has_stack(spec) and cluster_identity.stack_owner(request) is None


def stack(spec: Spec) -> servingstack.Stack:
    """What the user says of the serving stack; everything is installed where nothing is said."""
    return spec.servingStack or servingstack.Stack()


def _stack(request: Request, spec: Spec) -> dict[str, ComposedResource]:
    """One of the InferenceClusters that lead to a Kubernetes cluster installs the stack there, the oldest that asks for
    one; the last to go uninstalls it. It is not asked for before it is known who else leads there."""
    there = STACK in request.observed
    if not installs_stack(request, spec):
        return _left(request)
    if CONFIG not in request.observed:
        return _kept(request, STACK)
    if cluster_identity.is_shared(request) is None and not there:
        return {}
    return {STACK: ComposedResource(_serving_stack(request, spec), ready=request.is_ready(STACK))}


def _serving_stack(request: Request, spec: Spec) -> dict[str, Any]:
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
            **({"deletionPolicy": servingstack.ORPHAN} if _is_left_behind(request) else {}),
            **{field: block for field, block in wanted.items() if block},
        },
    }


def _is_left_behind(request: Request) -> bool:
    """Whether what is installed outlives the stack: while others need it. While that is not known it is as it was."""
    shared = cluster_identity.is_shared(request)
    if shared is None:
        return bool(dig(request.observed.get(STACK), "spec", "deletionPolicy") == servingstack.ORPHAN)
    return shared


def _left(request: Request) -> dict[str, ComposedResource]:
    """A stack that is no longer ours to install goes; where others need what it installed, it first lets go of that."""
    observed = request.observed.get(STACK)
    if observed is None or cluster_identity.is_shared(request) is False or lets_go(observed):
        return {}
    manifest = restate(observed)
    if cluster_identity.is_shared(request):
        manifest["spec"] = {**manifest["spec"], "deletionPolicy": servingstack.ORPHAN}
    return {STACK: ComposedResource(manifest, ready=is_ready(observed))}


def lets_go(observed: Manifest | None) -> bool:
    """Whether deleting a stack leaves on the cluster what it installed."""
    return bool(dig(observed, "status", "deletionPolicy") == servingstack.ORPHAN)


def _probe(request: Request) -> dict[str, ComposedResource]:
    if CONFIG not in request.observed:
        return _kept(request, PROBE)
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


def _likeness(request: Request, spec: Spec) -> dict[str, ComposedResource]:
    if CONFIG not in request.observed:
        return _kept(request, cluster_identity.KEY)
    key, manifest = cluster_identity.KEY, cluster_identity.observer(request, spec, wants_stack=has_stack(spec))
    return {key: ComposedResource(manifest, ready=request.is_ready(key))}


def storage_class_key(name: str) -> str:
    return f"storage-class-{names.label_value(name)}"


def _storage_class(request: Request, spec: Spec) -> dict[str, ComposedResource]:
    """Looked at, so that it is published only where it exists."""
    wanted = storage_class(request, spec)
    if wanted is None:
        return {}
    key = storage_class_key(wanted)
    if CONFIG not in request.observed:
        return _kept(request, key)
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
    """Returns the StorageClass for ModelCaches; None where there is none, or it is not known yet."""
    return clouds.BY_NAME[spec.cluster.source].storage_class(spec.cluster.block, request)


def usage(request: Request) -> dict[str, ComposedResource]:
    """While something is on the cluster, a delete is refused: it drains first. So it is while others need what its
    stack installed, until deleting the stack no longer uninstalls it."""
    who = inputs.occupants(request)
    if who is None:
        return _kept(request, USAGE)
    if not who and not heirs(request):
        return doubt.keep(request, USAGE, inputs.REPLICAS) if is_doubted(request) else {}
    cluster = request.identity.name
    manifest = cluster_usage(
        name=names.derived(cluster, "drain", cluster),
        api_version=API_VERSION,
        kind=KIND,
        of=cluster,
        reason="Replicas or weights of models are on this cluster; they move first, then the delete goes on"
        if who
        else "Other InferenceClusters need what is installed here; it is let go first, then the delete goes on",
    )
    return {USAGE: ComposedResource(manifest, ready=request.is_ready(USAGE))}


def heirs(request: Request) -> tuple[str, ...]:
    """The InferenceClusters from which a delete would take the serving stack at this moment, sorted."""
    observed = request.observed.get(STACK)
    return (
        ()
        if observed is None or lets_go(observed)
        else cluster_identity.clusters(cluster_identity.others(request) or ())
    )


def is_doubted(request: Request) -> bool:
    """Whether nobody was found on the cluster for the first time. Without the Usage a waiting delete would go on."""
    return inputs.occupants(request) == () and not doubt.is_believed(request, inputs.REPLICAS, USAGE)


def _kept(request: Request, key: str) -> dict[str, ComposedResource]:
    observed: Any = request.observed.get(key)
    return {key: ComposedResource(restate(observed), is_ready(observed))} if observed else {}
