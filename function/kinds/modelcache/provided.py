"""Weights that are on the clusters already, in claims that someone else made. They are observed; nothing is staged.

What is published stays published while a replica mounts it: an entry that is removed, a claim that is deleted and a
cluster that does not answer take no mount away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from function.api.weights import Claim, PersistentVolumeClaim
from function.core import ComposedResource, Manifest, Request, condition, dig, dig_fields, dig_texts, quote_condition
from function.kinds.modelcache import mounts
from function.kinds.modelcache.inputs import Cluster
from function.kinds.modelcache.keys import provided_key
from function.kinds.modelcache.mounts import Mounts
from function.kinds.modelcache.site import Site, Weights, left, published
from function.kinds.modelcache.staging import GONE
from function.manifests import provider, reached, storage
from function.vocabulary import labels, names

_SHARED = {"ReadWriteMany", "ReadOnlyMany"}


def sites(
    request: Request, block: PersistentVolumeClaim, fleet: Mapping[str, Cluster], mounted: Mounts
) -> tuple[Site, ...]:
    """Return every cluster that has a claim by the spec, or whose replicas mount one, by name."""
    return tuple(_sites(request, block, fleet, mounted))


def kept_if_mounted(request: Request, block: PersistentVolumeClaim, fleet: Mapping[str, Cluster]) -> set[str]:
    """Return the clusters that have a claim only as long as a replica mounts it."""
    chosen = {name: cluster for name, cluster in fleet.items() if _claim(block, cluster)}
    leaving = {name for name, cluster in chosen.items() if cluster.leaving}
    return leaving | (published(request.xr).keys() - chosen.keys())


def _sites(
    request: Request, block: PersistentVolumeClaim, fleet: Mapping[str, Cluster], mounted: Mounts
) -> Iterator[Site]:
    before, is_doubted = published(request.xr), mounts.is_doubted(request, mounted)
    for name in sorted({*fleet, *before}):
        cluster, there = fleet.get(name), before.get(name)
        is_mounted = is_doubted or mounted.may_be_on(name)
        claim = _claim(block, cluster) if cluster else None
        if cluster and claim and (is_mounted or not cluster.leaving):
            yield _site(request, cluster, claim, block, there)
        elif there and is_mounted:
            yield left(name, there) if cluster else Site(name, None, "Pending", GONE, there)


def _claim(block: PersistentVolumeClaim, cluster: Cluster) -> Claim | None:
    return claim_for(block, cluster.labels) if cluster.matches else None


def claim_for(block: PersistentVolumeClaim, has: Mapping[str, str]) -> Claim | None:
    """Return the first entry whose selector matches a cluster's labels."""
    return next((claim for claim in block.claims if selects(claim, has)), None)


def selects(claim: Claim, has: Mapping[str, str]) -> bool:
    wanted = claim.clusterSelector.matchLabels if claim.clusterSelector else {}
    return wanted.items() <= has.items()


def _site(
    request: Request, cluster: Cluster, claim: Claim, block: PersistentVolumeClaim, before: Weights | None
) -> Site:
    directory = (claim.subPath or "").rstrip("/") or None
    wanted = Weights(claim.claimName, directory, None, block.servedModelName)
    is_published = before is not None and (before.claim, before.directory) == (wanted.claim, wanted.directory)
    lacking = _lacking(request, cluster, claim.claimName, is_published=is_published)
    if lacking:
        return Site(cluster.name, cluster, "Pending", lacking, before, claim=claim.claimName)
    return Site(cluster.name, cluster, "Ready", None, wanted, claim=claim.claimName)


def _lacking(request: Request, cluster: Cluster, claim: str, *, is_published: bool) -> str | None:
    """Return why engines cannot mount a claim; None if they can, or could before the cluster stopped to answer."""
    if not cluster.provider_config:
        return None if is_published else "The cluster cannot be reached yet"
    named = f"PersistentVolumeClaim {request.identity.namespace}/{claim}"
    observed = request.observed.get(provided_key(cluster.name, claim))
    if observed is None:
        return None if is_published else f"{named} has not been looked up yet"
    if lost := reached.lost(observed):
        return None if is_published else f"The cluster does not answer: {lost}"
    synced = condition(observed, "Synced")
    if dig(synced, "status") == "False":
        return f"{named} does not exist on the cluster, or cannot be read there ({quote_condition(synced)})"
    found = _remote(observed)
    if found is None:
        return None if is_published else f"{named} has not been looked up yet"
    return f"{named} has lost its volume" if dig(found, "status", "phase") == "Lost" else None


def _remote(observed: Manifest | None) -> Manifest | None:
    return dig_fields(observed, "status", "atProvider", "manifest") or None


def resources(request: Request, sites: Sequence[Site]) -> dict[str, ComposedResource]:
    """Return the Objects that observe the claims."""
    return {
        (key := provided_key(site.name, site.claim)): ComposedResource(
            _object(request, site.cluster, site.claim), request.is_ready(key)
        )
        for site in sites
        if site.cluster and site.claim and site.cluster.provider_config
    }


def _object(request: Request, cluster: Cluster, claim: str) -> dict[str, object]:
    """Return an Object that only observes. Two caches can name one claim, so its name has the cache in it."""
    cache = request.identity
    return provider.object_(
        name=names.derived(claim, "PersistentVolumeClaim", cluster.name, claim, "ModelCache", *cache),
        namespace=cache.namespace,
        labels={
            labels.CLUSTER: names.label_value(cluster.name),
            labels.MODELCACHE: names.label_value(cache.name),
        },
        provider_config=str(cluster.provider_config),
        manifest=storage.claim_of_others(name=claim, namespace=cache.namespace),
        management_policies=provider.OBSERVE,
    )


def remarks(request: Request, sites: Sequence[Site]) -> Iterator[str]:
    """Yield what a user should know of claims that can be mounted."""
    for site in sites:
        found = _remote(request.observed.get(provided_key(site.name, site.claim))) if site.claim else None
        if not site.is_ready or found is None:
            continue
        if dig(found, "status", "phase") == "Pending":
            yield f"{site.claim} on {site.name} is not bound to a volume yet"
        modes = set(dig_texts(found, "spec", "accessModes"))
        if modes and not modes & _SHARED:
            yield f"{site.claim} on {site.name} is {', '.join(sorted(modes))}: pods on several nodes cannot mount it"
