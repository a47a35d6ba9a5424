"""What a ModelReplica reads: its cluster, its weights, and the Secrets and ConfigMaps that its templates refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from function import podspec
from function.api.modelreplica import Spec
from function.core import (
    Manifest,
    NamespacedName,
    NotYet,
    Request,
    Requirement,
    dig,
    dig_fields,
    dig_list,
    dig_objects,
    dig_text,
    dig_text_fields,
)
from function.fleet import caches, clusters
from function.scheduling import Taint
from function.vocabulary import conditions as c
from function.vocabulary import names, versions

_OPAQUE, _ACCOUNT_TOKEN = "Opaque", "kubernetes.io/service-account-token"
"""Types of Secrets (k8s.io/api v0.36, core/v1, SecretType)."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model on the cluster."""

    claim: str
    directory: str
    """The directory of the claim; empty for its root."""
    repo: str
    """The name of the model: its repository, or the name that the cache's source gives it; empty for neither."""
    is_own: bool = True
    """Whether the claim is the cache's own. Another's may be of a volume that can only be mounted read-only."""


@dataclass(frozen=True, slots=True)
class Source:
    """A Secret or ConfigMap of the control cluster, reduced to the keys that the templates refer to."""

    kind: str
    name: str
    type: str
    data: Mapping[str, str]
    binary: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Site:
    """What a replica needs to know of its cluster, and what is copied there."""

    cluster: str
    provider_config: str
    taints: Mapping[str, tuple[Taint, ...]]
    """Taints by node pool."""
    weights: Weights | None
    sources: tuple[Source, ...]
    is_observed: bool = False
    """Whether an observer on the cluster reports why pods wait."""


@dataclass(frozen=True, slots=True)
class _Named:
    """The references to one Secret or ConfigMap."""

    kind: str
    name: str
    keys: frozenset[str] | None
    """The keys that are used. None for all of them."""
    needed: frozenset[str]
    """The keys that it must have."""
    optional: bool
    """Whether the pods start without it."""


def requirements(xr: Manifest) -> tuple[Requirement, ...]:
    """Return the requirements. The spec need not be valid."""
    namespace = str(dig(xr, "metadata", "namespace") or "")
    cluster, cache = dig(xr, "spec", "clusterName"), dig(xr, "spec", "modelCacheRef", "name")
    return (
        *([_cluster(cluster)] if isinstance(cluster, str) else ()),
        *([_cache(cache, namespace)] if isinstance(cache, str) else ()),
        *(_source(named, namespace) for named in _named(xr)),
    )


def read(request: Request, spec: Spec) -> Site:
    """Return the inputs. Raises NotYet if one is missing."""
    _all_answered(request)
    cluster = _only(request, _cluster(spec.clusterName))
    if cluster is None:
        raise NotYet(c.WAITING_FOR_CLUSTER(cluster=spec.clusterName, why="it was not found"))
    return Site(
        cluster=spec.clusterName,
        provider_config=_provider_config(cluster, spec),
        taints=_taints(cluster, spec),
        weights=_weights(request, spec),
        sources=tuple(filter(None, (_read(request, named) for named in _named(request.xr)))),
        is_observed=clusters.cluster(cluster).capacity_object is not None,
    )


def _all_answered(request: Request) -> None:
    """Raise NotYet if anything is unresolved: it may exist, so not even an optional Secret counts as absent."""
    pending = [r for r in requirements(request.xr) if request.resolved(r) is None]
    if pending:
        raise NotYet(c.WAITING_FOR_SOURCES(why=f"{pending[0].kind} {pending[0].match_name} to be looked up"))


def _cluster(name: str) -> Requirement:
    return Requirement("cluster", versions.MODELPLANE, "InferenceCluster", match_name=name)


def _cache(name: str, namespace: str) -> Requirement:
    return Requirement("cache", versions.MODELPLANE, "ModelCache", match_name=name, namespace=namespace)


def _source(named: _Named, namespace: str) -> Requirement:
    key = f"{named.kind.lower()}-{named.name}"
    return Requirement(key, versions.CORE, named.kind, match_name=named.name, namespace=namespace)


def _only(request: Request, requirement: Requirement) -> Manifest | None:
    """Return the object that was required by name, or None if it does not exist."""
    found = request.resolved(requirement)
    return found[0] if found else None


def _provider_config(cluster: Manifest, spec: Spec) -> str:
    name = clusters.provider_config(cluster)
    if not name:
        raise NotYet(c.WAITING_FOR_CLUSTER(cluster=spec.clusterName, why="it cannot be reached before it is set up"))
    return name


def _taints(cluster: Manifest, spec: Spec) -> dict[str, tuple[Taint, ...]]:
    """Return the taints of the pools that the replica is pinned to.

    Raises NotYet if a pool is not published, because it may be back soon. Without its taints, pods would be rolled
    without their tolerations, and could not be scheduled.
    """
    taints = clusters.pool_taints(cluster)
    pinned = sorted({member.nodePoolName for engine in spec.engines for member in engine.members})
    missing = [pool for pool in pinned if pool not in taints]
    if missing:
        raise NotYet(c.WAITING_FOR_CLUSTER(cluster=spec.clusterName, why=f"it publishes no node pool {missing[0]}"))
    return {pool: taints[pool] for pool in pinned}


def _weights(request: Request, spec: Spec) -> Weights | None:
    if spec.modelCacheRef is None:
        return None
    name, namespace = spec.modelCacheRef.name, request.identity.namespace
    cache = _only(request, _cache(name, namespace))
    if cache is None:
        raise NotYet(c.WAITING_FOR_CACHE(cache=name, why=f"there is none in namespace {namespace}"))
    statuses = dig_objects(cache, "status", "clusters")
    there: Manifest = next((s for s in statuses if dig(s, "name") == spec.clusterName), {})
    claim, directory = dig_text(there, "claimName"), dig_text(there, "staged")
    if not claim and not directory:
        raise NotYet(c.WAITING_FOR_CACHE(cache=name, why=_not_staged(there, spec.clusterName)))
    own = names.cache_claim(NamespacedName(namespace, name), spec.clusterName)
    return Weights(claim or own, directory or "", caches.model_on(there), is_own=not claim)


def _not_staged(there: Manifest, cluster: str) -> str:
    phase, message = dig(there, "phase"), dig(there, "message")
    return f"it is not staged on cluster {cluster}" + (
        f" ({phase}{f': {message}' if message else ''})" if phase else ""
    )


def _read(request: Request, named: _Named) -> Source | None:
    """Return the reduced object, or None if it does not exist and every reference to it is optional."""
    namespace = request.identity.namespace
    found = _only(request, _source(named, namespace))
    if found is None:
        if not named.optional:
            raise NotYet(c.WAITING_FOR_SOURCES(why=f"{named.kind} {named.name} in namespace {namespace}"))
        return None
    data, binary = dig_text_fields(found, "data"), dig_text_fields(found, "binaryData")
    missing = sorted(named.needed - {*data, *binary})
    if missing:
        where = f"of {named.kind} {named.name} in namespace {namespace}"
        raise NotYet(c.WAITING_FOR_SOURCES(why=f"key {missing[0]} {where}"))
    if named.keys is None:
        return Source(named.kind, named.name, _type(found), data, binary)
    return Source(named.kind, named.name, _OPAQUE, _cut(data, named.keys), _cut(binary, named.keys))


def _type(found: Manifest) -> str:
    """Return the type of a copied Secret. A token of a ServiceAccount is data elsewhere: there is no such account."""
    type_ = str(found.get("type") or _OPAQUE)
    return _OPAQUE if type_ == _ACCOUNT_TOKEN else type_


def absent(request: Request) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the references that were not found."""
    for named in _named(request.xr):
        if request.resolved(_source(named, request.identity.namespace)) == ():
            yield named.kind, named.name


def _cut(data: Mapping[str, str], keys: frozenset[str]) -> dict[str, str]:
    return {key: value for key, value in sorted(data.items()) if key in keys}


def _named(xr: Manifest) -> tuple[_Named, ...]:
    """Return the references by Secret and ConfigMap, ordered by kind and name."""
    found: dict[tuple[str, str], list[podspec.Reference]] = {}
    for template in templates(xr):
        for reference in podspec.references(template):
            found.setdefault((reference.kind, reference.name), []).append(reference)
    return tuple(_together(kind, name, references) for (kind, name), references in sorted(found.items()))


def _together(kind: str, name: str, references: Sequence[podspec.Reference]) -> _Named:
    used = [reference.keys for reference in references]
    return _Named(
        kind,
        name,
        keys=None if None in used else frozenset().union(*filter(None, used)),
        needed=frozenset().union(*(r.keys for r in references if r.keys and not r.optional)),
        optional=all(reference.optional for reference in references),
    )


def templates(xr: Manifest) -> Iterator[Manifest]:
    """Yield the pod templates of an XR, whose spec need not be valid."""
    for engine in dig_list(xr, "spec", "engines"):
        for member in dig_list(engine, "members"):
            yield dig_fields(member, "template")
