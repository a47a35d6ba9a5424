"""How every cloud's composite is composed, whatever it consists of.

Terms. A *resource* is a managed resource of the cloud, or an Object or Release on the cluster that the cloud makes
(site.py). A resource *depends* on those that it refers to, and on those in its `after`.

Phases of a call, in order:

1. Check whom the composite belongs to, its spec, and the provider config with whose rights everything is made.
2. `Provisioner.resources` lists the wanted resources.
3. `_due`: a resource is created once those in its `after` are ready, and what it needs is known. What was created
   stays, whatever becomes of those.
4. `_pinned`: fields that the cloud cannot change keep their values. Edits of them are refused before they arrive here;
   this is for values that a release of Modelplane would choose differently today, or not at all.
5. `_usages`: a resource is deleted before those that it depends on, by a Usage for each dependency. A dependency that
   others imply has none.
6. `parts.leaving`: a resource that is no longer wanted is deleted the same way, after those that depend on it.
7. `_status` publishes Secrets, storage and pools once they exist, and keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from function import schema
from function.contracts.cloud import credentials, owner
from function.contracts.cloud.provisioner import Provisioner, PublishedSecret, Storage
from function.contracts.cloud.site import Resource, Site
from function.core import (
    ComposedResource,
    Composer,
    Condition,
    InvalidSpec,
    Manifest,
    Request,
    Result,
    condition,
    dig,
    dig_fields,
    dig_texts,
    enumerate_names,
    plain,
    quote_condition,
    restate,
    restate_resource,
)
from function.manifests import managed, parts
from function.manifests.usage import usage_between
from function.vocabulary import conditions as c
from function.vocabulary import crossplane

_USAGE = "usage-"
"""Prefix of the keys of Usages. No resource has it."""
_POOL = "pool-"
_MOST_NAMED = 3
"""Resources that a message names."""
_AWAITS = re.compile(r"cannot resolve references: .*(referenced field was empty|not found)", re.DOTALL)


def pool_key(pool: str) -> str:
    """Return the key of the resource that is a node pool. Its readiness tells whether the cloud has made the pool."""
    return f"{_POOL}{pool}"


def composer(provisioner: Provisioner) -> Composer:
    """Return the composer of the kind by which a cloud makes clusters."""
    return Composer(
        api_version=provisioner.model.API_VERSION,
        kind=provisioner.model.KIND,
        conditions=(c.CLUSTER_READY,),
        invalid=c.INVALID_CLUSTER,
        requirements=lambda request: credentials.requirements(request, provisioner.provider),
        compose=lambda request: _compose(request, provisioner),
    )


def _compose(request: Request, provisioner: Provisioner) -> Result:
    owner.check(request.xr, c.INVALID_CLUSTER)
    spec = schema.parse(provisioner.model.Spec, request.xr, invalid=c.INVALID_CLUSTER)
    owner.check_cluster(request.xr, spec.clusterName, c.INVALID_CLUSTER)
    _check(request, provisioner, spec)
    credentials.check(request, provisioner.provider)
    site = Site(request, spec.clusterName, spec.credentials)
    wanted = {resource.key: resource for resource in provisioner.resources(site, spec)}
    graph = _dependencies(request, wanted)
    composed = {key: _composed(request, wanted[key]) for key in _due(request, wanted)}
    composed |= _usages(request, composed, graph)
    composed |= parts.leaving(request, composed)
    pending = [key for key in wanted if not _is_ready(request, wanted, key) or _error(request.observed[key])]
    leaving = sorted(key for key in request.observed if key not in wanted and not key.startswith(_USAGE))
    return Result(
        ready=not pending,
        conditions=(_cluster_ready(request, wanted, pending, leaving),),
        resources=composed,
        status=_status(request, provisioner, site, spec),
        waiting=bool(pending or leaving),
    )


def _check(request: Request, provisioner: Provisioner, spec: Any) -> None:
    """Raises InvalidSpec for what the cloud cannot do.

    The InferenceCluster has refused the same, so this is for the composers of clouds, which need not expect it. What
    was made is judged no more: a pool that replicas have not left may be what would be refused today.
    """
    for field, problem in _faults(request, provisioner, spec):
        raise InvalidSpec(c.INVALID_CLUSTER(field=f"spec.{field}", problem=problem))


def _faults(request: Request, provisioner: Provisioner, spec: Any) -> Iterator[tuple[str, str]]:
    yield from provisioner.cluster_faults(spec, ())
    for index, pool in enumerate(spec.nodePools):
        if pool_key(pool.name) not in request.observed:
            faults = provisioner.pool_faults(spec, pool, pool.machine)
            yield from ((f"nodePools[{index}].{field}", problem) for field, problem in faults)


# What is composed


def _due(request: Request, wanted: Mapping[str, Resource]) -> Iterator[str]:
    for key, resource in wanted.items():
        is_due = resource.manifest is not None and all(_is_ready(request, wanted, of) for of in resource.after)
        if key in request.observed or is_due:
            yield key


def _is_ready(request: Request, wanted: Mapping[str, Resource], key: str) -> bool:
    return request.is_ready(key) or (key in request.observed and key in wanted and wanted[key].is_ready_at_once)


def _composed(request: Request, resource: Resource) -> ComposedResource:
    observed = request.observed.get(resource.key)
    if resource.manifest is None:
        assert observed is not None, resource.key
        return restate_resource(observed)
    manifest = resource.manifest if observed is None else _pinned(resource, observed)
    return ComposedResource(manifest, _is_ready(request, {resource.key: resource}, resource.key))


def _pinned(resource: Resource, observed: Manifest) -> Manifest:
    """The manifest, with the values that were written for what the cloud cannot change, its own name among them."""
    assert resource.manifest is not None
    manifest: dict[str, Any] = plain(resource.manifest)
    if resource.kind is None:
        return manifest
    there = managed.external_name(observed)
    if there and managed.external_name(manifest):
        manifest["metadata"]["annotations"][crossplane.EXTERNAL_NAME] = there
    ours = restate(observed)
    for path in resource.kind.immutable:
        parent, _, field = path.rpartition(".")
        at = ("spec", "forProvider", *filter(None, parent.split(".")))
        wanted = dig(manifest, *at)
        if isinstance(wanted, dict) and (field in wanted or dig(ours, *at, field) is not None):
            _pin(wanted, field, dig(observed, *at, field))
    return manifest


def _pin(wanted: dict[str, Any], field: str, there: Any) -> None:
    if there is None:
        del wanted[field]
    else:
        wanted[field] = plain(there)


# The order of deletion


def _dependencies(request: Request, wanted: Mapping[str, Resource]) -> dict[str, set[str]]:
    """The keys that each resource depends on directly, without those that another of them depends on."""
    written = {key: resource.manifest or request.observed.get(key) for key, resource in wanted.items()}
    by_name = {manifest["metadata"]["name"]: key for key, manifest in written.items() if manifest is not None}
    direct = {
        key: ({*resource.after} | _referred(resource, written[key], by_name)) & wanted.keys()
        for key, resource in wanted.items()
    }
    closures: dict[str, set[str]] = {}
    for key in direct:
        _closure(key, direct, closures)
    return {
        key: {of for of in found if not any(of in closures[other] for other in found - {of})}
        for key, found in direct.items()
    }


def _referred(resource: Resource, written: Manifest | None, by_name: Mapping[str, str]) -> set[str]:
    if written is None or resource.kind is None:
        return set()
    return {by_name[name] for _, name in managed.references(written) if name in by_name}


def _closure(key: str, direct: Mapping[str, set[str]], closures: dict[str, set[str]]) -> set[str]:
    """All keys that a resource depends on, directly or not."""
    if key not in closures:
        closures[key] = set()  # ends a cycle, which would be a fault of the cloud's
        closures[key] = direct[key].union(*(_closure(of, direct, closures) for of in direct[key]))
    return closures[key]


def _usages(
    request: Request, composed: Mapping[str, ComposedResource], graph: Mapping[str, set[str]]
) -> dict[str, ComposedResource]:
    found = {}
    for by in composed:
        for of in sorted(graph[by] & composed.keys()):
            key = f"{_USAGE}{of}-{by}"
            pair = composed[of].manifest, composed[by].manifest
            manifest = usage_between(*pair, namespace=request.identity.namespace, reason=f"{by} needs {of}")
            found[key] = ComposedResource(manifest, request.is_ready(key))
    return found


# What is said


def _status(request: Request, provisioner: Provisioner, site: Site, spec: Any) -> dict[str, Any]:
    before = dig_fields(request.xr, "status")
    secrets = provisioner.secrets(site, spec)
    is_reached = dig(before, "secrets") or all(request.is_ready(secret.of) for secret in secrets)
    storage = provisioner.storage(site, spec)
    return {
        **({"secrets": [_secret(site, secret) for secret in secrets]} if secrets and is_reached else {}),
        **_cache(request, storage, dig(before, "cache", "storageClassName")),
        **_pools(request, spec, dig_texts(before, "pools")),
    }


def _secret(site: Site, secret: PublishedSecret) -> dict[str, str]:
    if secret.written is None:
        return {"type": secret.type, "name": site.secret(secret.of), "key": secret.key}
    namespace, name = secret.written
    own = namespace == site.request.identity.namespace
    return {"type": secret.type, "name": name, "key": secret.key, **({} if own else {"namespace": namespace})}


def _cache(request: Request, storage: Storage | None, before: Any) -> dict[str, Any]:
    if storage and (request.is_ready(storage.of) or before == storage.name):
        return {"cache": {"storageClassName": storage.name}}
    return {}


def _pools(request: Request, spec: Any, before: Iterable[str]) -> dict[str, Any]:
    """The pools that the cloud has made. One that was made stays published while it is updated, and if it fails.

    One whose creation failed may be ready all the same, since it can be observed: a node group that EKS gave up has no
    nodes, or fewer than it was to have.
    """
    there = {pool.name: pool_key(pool.name) for pool in spec.nodePools if pool_key(pool.name) in request.observed}
    made = [name for name, key in there.items() if name in before or _is_made(request, key)]
    return {"pools": made} if made else {}


def _is_made(request: Request, key: str) -> bool:
    return request.is_ready(key) and not _error(request.observed[key])


def _cluster_ready(
    request: Request, wanted: Mapping[str, Resource], pending: Sequence[str], leaving: Sequence[str]
) -> Condition:
    told = {key: _error(request.observed[key]) for key in (*pending, *leaving) if key in request.observed}
    errors = [f"{_title(request, key)}: {text}" for key, text in told.items() if text]
    more = f"; and {len(errors) - _MOST_NAMED} more" if len(errors) > _MOST_NAMED else ""
    progress = f"{len(wanted) - len(pending)} of {len(wanted)} resources are ready"
    if errors:
        reason = c.PROVISIONING_FAILED if pending else c.CLUSTER_RUNNING
        return reason(why=f"{'; '.join(errors[:_MOST_NAMED])}{more} ({progress})")
    if pending:
        there = [key for key in pending if key in request.observed] or [_named(wanted[key]) for key in pending]
        return c.PROVISIONING(why=f"Waiting for {enumerate_names(there, _MOST_NAMED)} ({progress})")
    made = sum(key.startswith(_POOL) for key in wanted)
    goes = f"; being deleted: {enumerate_names(leaving, _MOST_NAMED)}" if leaving else ""
    return c.CLUSTER_RUNNING(why=f"All {len(wanted)} resources are ready, node pools: {made}{goes}")


def _named(resource: Resource) -> str:
    """A resource that does not exist, and what it needs first."""
    needs = f" (it needs {resource.awaits})" if resource.awaits else ""
    return f"{resource.key}{needs}"


def _title(request: Request, key: str) -> str:
    """The kind and name of a resource, and the key that says what it is."""
    observed = request.observed[key]
    return f"{observed['kind']} {observed['metadata']['name']} ({key})"


def _error(observed: Manifest) -> str:
    """What a provider reports as an error, in its own words; empty where it reports none.

    An operation that goes on after the reconcile reports as LastAsyncOperation (upjet v2, pkg/resource/conditions.go).
    A reference to a resource that is not there yet is none: it is waited for (crossplane-runtime v2.4, pkg/reference).
    """
    for type_ in ("LastAsyncOperation", "Synced"):
        found = condition(observed, type_)
        if dig(found, "status") == "False" and not _AWAITS.match(str(dig(found, "message"))):
            return quote_condition(found)
    return ""
