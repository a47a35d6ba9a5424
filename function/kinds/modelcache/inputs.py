"""What a ModelCache reads: the fleet, the replicas that mount it, and the token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from function.api import inferencecluster, modelreplica
from function.api.modelcache import Spec
from function.core import Manifest, NotYet, Request, Requirement, dig, identity
from function.fleet import clusters as published
from function.scheduling import Taint
from function.vocabulary import conditions as c
from function.vocabulary import versions

_LONGEST_TOKEN = 8192
"""Characters in base64. The hub's tokens have about forty, a Secret may hold 1 MiB, and every cluster gets a copy."""
USAGE = "usage"
"""Key of the Usage for replicas that mount the weights."""
REPLICAS = "replicas"
CLUSTERS = Requirement("clusters", inferencecluster.API_VERSION, inferencecluster.KIND)


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Require all clusters, the namespace's replicas, and the token.

    A cluster that no longer matches may still have the weights.
    """
    token = dig(xr, "spec", "huggingFace", "authSecret", "name")
    namespace = identity(xr).namespace
    return (
        CLUSTERS,
        _replicas(namespace),
        *([_token(token, namespace)] if isinstance(token, str) else ()),
    )


def _replicas(namespace: str) -> Requirement:
    return Requirement(REPLICAS, modelreplica.API_VERSION, modelreplica.KIND, namespace=namespace)


def _token(name: str, namespace: str) -> Requirement:
    return Requirement("token", versions.CORE, "Secret", match_name=name, namespace=namespace)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a cache needs to know of a cluster."""

    name: str
    matches: bool
    leaving: bool
    """Whether it is being deleted, or a Usage has refused its deletion."""
    provider_config: str | None
    storage_class: str | None
    taints: tuple[Taint, ...]
    """The taints of all its pools."""


def clusters(request: Request, spec: Spec) -> dict[str, Cluster]:
    """Return the clusters by name.

    Raises NotYet if they are not resolved, or if none is left although something is observed.
    """
    found = request.resolved(CLUSTERS)
    if found is None:
        raise NotYet(c.NO_CLUSTERS_MATCHED(why="Crossplane has not looked up the InferenceClusters yet"))
    if not found and request.observed:
        raise NotYet(c.NO_CLUSTERS_MATCHED(why="There is no InferenceCluster; what is staged is kept"))
    selector = spec.clusterSelector.matchLabels if spec.clusterSelector else {}
    return {identity(m).name: _cluster(m, selector) for m in sorted(found, key=identity)}


def _cluster(manifest: Manifest, selector: Mapping[str, str]) -> Cluster:
    metadata = manifest["metadata"]
    has = dict(metadata.get("labels") or {})
    return Cluster(
        name=metadata["name"],
        matches=selector.items() <= has.items(),
        leaving=published.is_being_deleted(manifest),
        provider_config=published.provider_config(manifest),
        storage_class=published.storage_class(manifest),
        taints=tuple(sorted({taint for taints in published.pool_taints(manifest).values() for taint in taints})),
    )


def mounted_on(request: Request) -> Mapping[str, str] | None:
    """Return the clusters on which replicas mount the cache, each with one such replica. None if that is not known."""
    own = request.identity
    found = request.resolved(_replicas(own.namespace))
    if found is None:
        return None
    return {
        str(dig(r, "spec", "clusterName")): identity(r).name
        for r in sorted(found, key=identity, reverse=True)
        if dig(r, "spec", "modelCacheRef", "name") == own.name
    }


def finds_no_replicas(request: Request) -> bool:
    """Return whether no replica at all was found."""
    return request.resolved(_replicas(request.identity.namespace)) == ()


@dataclass(frozen=True, slots=True)
class Token:
    """The user's token, or why there is none."""

    value: str | None = None
    """In base64, as the API server returned it."""
    missing: str | None = None


def token(request: Request, spec: Spec) -> Token | None:
    """Return the token, or None if the cache needs none."""
    wanted = spec.huggingFace.authSecret if spec.huggingFace else None
    if wanted is None:
        return None
    where = f"{request.identity.namespace}/{wanted.name}"
    found = request.resolved(_token(wanted.name, request.identity.namespace))
    if not found:
        return Token(missing=f"Secret {where} {'has not been looked up yet' if found is None else 'does not exist'}")
    value = dig(found[0], "data", wanted.key)
    if not isinstance(value, str):
        return Token(missing=f"Secret {where} has no key {wanted.key}")
    if len(value) > _LONGEST_TOKEN:
        much = f"has {len(value)} characters in key {wanted.key}; a token has at most {_LONGEST_TOKEN}"
        return Token(missing=f"Secret {where} {much}")
    return Token(value=value)
