"""The manifests of a ModelCache: on each cluster a volume, the Job that fills it, and what is copied for the Job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from function.api.modelcache import API_VERSION, KIND, Spec
from function.core import (
    ComposedResource,
    Manifest,
    NamespacedName,
    Request,
    dig,
    dig_text,
    doubt,
    restate,
    restate_resource,
)
from function.kinds.modelcache import mounts
from function.kinds.modelcache.copied import CA_BUNDLE
from function.kinds.modelcache.inputs import Cluster
from function.kinds.modelcache.keys import USAGE, claim_key, clusters_with_claim, copy_key, namespace_key
from function.kinds.modelcache.mounts import Mounts
from function.kinds.modelcache.site import Site
from function.kinds.modelcache.sources import Source
from function.kinds.modelcache.staging import placed_under
from function.manifests import copies, pods, provider, storage
from function.manifests.usage import usage
from function.vocabulary import labels, names, settings
from function.vocabulary.exit_codes import FINAL

_MOUNT = "/cache"
_SCRATCH = "/tmp"  # noqa: S108  (in the pod: an empty volume of its own)
_CERTIFICATES = "/etc/modelplane/certificates"
_CACHE, _TMP, _CA = "cache", "tmp", "certificates"
_REQUESTS = {"cpu": "1", "memory": "2Gi"}
_RETRIES = 6
_DEADLINE = 24 * 3600


@dataclass(frozen=True, slots=True)
class _Target:
    """The cache on one of its clusters."""

    cache: NamespacedName
    cluster: Cluster
    source: Source

    @property
    def claim(self) -> str:
        return names.cache_claim(self.cache, self.cluster.name)

    @property
    def copy(self) -> str:
        """The Secret with the token, the access key, the URLs of proxies and the certificates."""
        return names.derived(f"{self.cache.name}-token", "token", *self.cache, self.cluster.name, self.source.hash)

    @property
    def labels(self) -> dict[str, str]:
        return {
            labels.CLUSTER: names.label_value(self.cluster.name),
            labels.MODELCACHE: names.label_value(self.cache.name),
        }


def staged(
    request: Request, spec: Spec, source: Source, sites: Iterable[Site], mounted: Mounts
) -> dict[str, ComposedResource]:
    """Return the resources of weights that are downloaded."""
    composed: dict[str, ComposedResource] = {}
    for site in sites:
        composed |= _on_cluster(request, spec, source, site)
    return {**composed, **protection(request, mounted)}


def own_volumes(request: Request, sites: Iterable[Site], mounted: Mounts) -> dict[str, ComposedResource]:
    """Return the volumes that an earlier source filled, as long as their weights are published or a replica on their
    cluster may mount them."""
    needed = {site.name for site in sites if site.weights and not site.weights.claim}
    kept: dict[str, ComposedResource] = {}
    for cluster in clusters_with_claim(request):
        key = claim_key(cluster)
        if cluster in needed or mounted.may_be_on(cluster):
            kept |= _restated(request, (namespace_key(cluster), key))
        elif mounted.found_none and not doubt.is_believed(request, mounts.REPLICAS, key):
            kept |= {**_restated(request, (namespace_key(cluster),)), **doubt.keep(request, key, mounts.REPLICAS)}
    return kept


def _on_cluster(request: Request, spec: Spec, source: Source, site: Site) -> dict[str, ComposedResource]:
    cluster = site.cluster
    namespace, key = namespace_key(site.name), claim_key(site.name)
    if cluster is None or not cluster.provider_config:
        also = _restated(request, (namespace, *([site.job] if site.job else [])))
        return {**also, **doubt.keep(request, key, *site.not_found)}
    target = _Target(request.identity, cluster, source)
    claim = _claim(request, spec, target)
    if claim is None:
        return {}
    manifests = {namespace: _namespace(target), key: claim}
    if site.job:
        manifests |= _hydration(request, target, site.job)
    composed = {k: ComposedResource(m, request.is_ready(k)) for k, m in manifests.items()}
    return {**composed, key: doubt.with_note(composed[key], site.not_found)}


def _restated(request: Request, keys: Iterable[str]) -> dict[str, ComposedResource]:
    there = {key: request.observed[key] for key in keys if key in request.observed}
    return {key: restate_resource(observed) for key, observed in there.items()}


def _namespace(target: _Target) -> dict[str, Any]:
    """Return the cache's own Object for the namespace. Deleting the Object keeps the namespace."""
    return provider.object_(
        name=names.derived(target.cache.namespace, "Namespace", target.cluster.name, "ModelCache", *target.cache),
        namespace=target.cache.namespace,
        labels=target.labels,
        provider_config=str(target.cluster.provider_config),
        manifest=copies.namespace(name=target.cache.namespace),
        management_policies=provider.KEEP_REMOTE,
    )


def _claim(request: Request, spec: Spec, target: _Target) -> dict[str, Any] | None:
    """Return the volume's claim. It keeps its storage class and never shrinks: a cluster would refuse either change."""
    there = request.observed.get(claim_key(target.cluster.name))
    made = dig(there, "spec", "forProvider", "manifest", "spec")
    storage_class = dig_text(made, "storageClassName") or target.cluster.storage_class
    if not storage_class:
        return None
    size = max(target.source.size, gibibytes(dig(made, "resources", "requests", "storage")))
    manifest = storage.shared_claim(
        name=target.claim,
        namespace=target.cache.namespace,
        labels={labels.MODELCACHE: names.label_value(target.cache.name)},
        storage_class=storage_class,
        size=f"{size}Gi",
    )
    written = _object(target, manifest, storage.IS_BOUND, {labels.HOLDS: labels.HOLDS_WEIGHTS})
    before = dig(there, "metadata", "annotations", labels.PLACED_UNDER)
    # For a cluster that an edit excludes, keep the selector from before: it must not look relabelled on the next pass.
    under = placed_under(spec) if target.cluster.matches or before is None else before
    written["metadata"]["annotations"] = {labels.PLACED_UNDER: under}
    return written


def gibibytes(size: Any) -> int:
    """Return the GiB of a size that we wrote, or 0 if there is none."""
    found = re.fullmatch(r"(\d{1,15})Gi", str(size or ""))
    return int(found[1]) if found else 0


def _hydration(request: Request, target: _Target, key: str) -> dict[str, dict[str, Any]]:
    """Return the Job and what is copied for it. A Job is immutable, so an existing one and its copy are repeated."""
    copy, copied = copy_key(key), target.source.copied
    manifests: dict[str, dict[str, Any]] = {}
    if copied.values and not copied.missing:
        manifests[copy] = _object(target, _copy(target))
    elif copy in request.observed:
        manifests[copy] = restate(request.observed[copy])
    there = request.observed.get(key)
    manifests[key] = restate(there) if there else _object(target, _job(target), storage.IS_COMPLETE)
    return manifests


def _copy(target: _Target) -> dict[str, Any]:
    return copies.secret(
        name=target.copy,
        namespace=target.cache.namespace,
        type_="Opaque",
        data=target.source.copied.values,
        labels={labels.MODELCACHE: names.label_value(target.cache.name)},
    )


def _job(target: _Target) -> dict[str, Any]:
    source, own = target.source, {labels.MODELCACHE: names.label_value(target.cache.name)}
    trusts = CA_BUNDLE in source.copied.values
    bundle = [f"--ca-bundle={_CERTIFICATES}/{CA_BUNDLE}"] if trusts else []
    container = storage.batch_container(
        name="hydrate",
        image=settings.HYDRATE_IMAGE,
        args=("hydrate", *source.args, *bundle, f"--to={_MOUNT}/{source.directory}"),
        env=_env(target),
        requests=_REQUESTS,
        mounts=(
            pods.mount(volume=_CACHE, path=_MOUNT),
            pods.mount(volume=_TMP, path=_SCRATCH),
            *([pods.mount(volume=_CA, path=_CERTIFICATES, read_only=True)] if trusts else []),
        ),
    )
    return storage.job(
        name=names.derived(target.cache.name, "Job", *target.cache, target.cluster.name, source.hash),
        namespace=target.cache.namespace,
        labels=own,
        container=container,
        volumes=(
            pods.claim_volume(name=_CACHE, claim=target.claim),
            storage.scratch_volume(name=_TMP),
            *([storage.secret_volume(name=_CA, secret=target.copy, keys=(CA_BUNDLE,))] if trusts else []),
        ),
        tolerations=_tolerations(target.cluster),
        user=pods.OUR_USER,
        final_codes=FINAL,
        retries=_RETRIES,
        deadline=_DEADLINE,
    )


def _env(target: _Target) -> list[dict[str, Any]]:
    source = target.source
    plain = {"HF_HOME": f"{_SCRATCH}/huggingface", "HOME": _SCRATCH, **source.env}
    secret = [name for name in source.copied.values if name != CA_BUNDLE]
    return [
        *(pods.env(name, value) for name, value in plain.items()),
        *(pods.env_from(name, {"secretKeyRef": {"name": target.copy, "key": name}}) for name in secret),
    ]


def _tolerations(cluster: Cluster) -> list[dict[str, Any]]:
    """Tolerate exactly the taints of the pools: on many clusters, every node that can mount the volume has one."""
    pools = [
        pods.taint_toleration(key=t.key, value=t.value, effect=t.effect)
        for t in cluster.taints
        if t.key != labels.GPU_TAINT
    ]
    return [pods.toleration(key=labels.GPU_TAINT, value=None, effect="NoSchedule"), *pools]


def _object(
    target: _Target, manifest: Mapping[str, Any], ready: str | None = None, also: Mapping[str, str] | None = None
) -> dict[str, Any]:
    name = manifest["metadata"]["name"]
    return provider.object_(
        name=names.remote_object(target.cluster.name, manifest["kind"], target.cache.namespace, name),
        namespace=target.cache.namespace,
        labels={**target.labels, **(also or {})},
        provider_config=str(target.cluster.provider_config),
        manifest=manifest,
        readiness_cel=ready,
    )


def protection(request: Request, mounted: Mounts) -> dict[str, ComposedResource]:
    """Refuse to delete the cache while a replica mounts the weights."""
    if not mounted.on and not mounted.is_complete:
        return _restated(request, (USAGE,))
    if not mounted.on:
        return doubt.keep(request, USAGE, mounts.REPLICAS) if mounts.is_doubted(request, mounted) else {}
    own: Manifest = usage(
        name=names.derived(request.identity.name, "usage", KIND, *request.identity),
        namespace=request.identity.namespace,
        api_version=API_VERSION,
        kind=KIND,
        of=request.identity.name,
        by=None,
        reason="Replicas mount these weights; deletion continues once the last of them is gone",
    )
    return {USAGE: ComposedResource(own, request.is_ready(USAGE))}
