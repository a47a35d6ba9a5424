"""The Objects by which an InferenceCluster observes its capacity, where `spec.capacity.source` is Observed.

- The declaration: a ConfigMap on the cluster that tells the observer what the pools declare.
- The observation: an Object that only observes what the observer writes.
- The observer: an Object that only observes its Deployment, whoever installed it.

The observer itself is a part of the serving stack. All three go when capacity is not to be observed any more; the
observation on the cluster belongs to the declaration, and Kubernetes deletes it with that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from function import clouds
from function.api.inferencecluster import Spec
from function.core import ComposedResource, Request, dig, json_text, plain, restate_resource
from function.kinds.inferencecluster import inputs
from function.kinds.inferencecluster.pools import PublishedPools
from function.manifests import copies, observer, provider
from function.manifests.metadata import metadata
from function.manifests.parts import deletable
from function.vocabulary import labels, names, versions
from function.vocabulary.observation import DECLARED_KEY, VERSION

DECLARATION = "capacity-declaration"
OBSERVATION = "capacity"
OBSERVER = "observer"
_DECLARED_FIELDS = ("devices", "taints")


def is_asked(spec: Spec) -> bool:
    """Return whether capacity is to be observed."""
    return spec.capacity is not None and spec.capacity.source == "Observed"


def resources(request: Request, spec: Spec, published: PublishedPools) -> dict[str, ComposedResource]:
    """Return the Objects, by key. None is composed before the cluster is reached and has a pool."""
    if not is_asked(spec):
        return deletable(request, {}, (DECLARATION,))
    if inputs.COMPOSED_CONFIG not in request.observed or not published.pools:
        there = {key: request.observed[key] for key in (DECLARATION, OBSERVATION, OBSERVER) if key in request.observed}
        return {key: restate_resource(manifest) for key, manifest in there.items()}
    wanted = {
        DECLARATION: _declaration(request, spec, published),
        OBSERVATION: _observation(request),
        OBSERVER: _observer(request),
    }
    return {key: ComposedResource(manifest, request.is_ready(key)) for key, manifest in wanted.items()}


def _declaration(request: Request, spec: Spec, published: PublishedPools) -> dict[str, Any]:
    cluster = request.identity.name
    told = {
        "version": VERSION,
        "cluster": cluster,
        "pools": declared(published),
        "terminationMessages": bool(spec.capacity and spec.capacity.terminationMessages),
    }
    manifest = copies.config_map(
        name=names.declared(cluster),
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.OBSERVATION: labels.DECLARATION},
        data={DECLARED_KEY: json.dumps(told, sort_keys=True, separators=(",", ":"))},
    )
    is_made = clouds.BY_NAME[spec.cluster.source].is_provisioned
    return _object(
        request,
        name=names.remote_object(cluster, "ConfigMap", names.SYSTEM_NAMESPACE, names.declared(cluster)),
        manifest=manifest,
        policies=provider.KEEP_REMOTE if is_made else (),  # it is deleted with such a cluster
    )


def _observation(request: Request) -> dict[str, Any]:
    cluster = request.identity.name
    meta = metadata(name=names.observed(cluster), namespace=names.SYSTEM_NAMESPACE)
    manifest = {"apiVersion": versions.CORE, "kind": "ConfigMap", "metadata": meta}
    return _object(request, name=names.capacity_object(cluster), manifest=manifest, policies=provider.OBSERVE)


def _observer(request: Request) -> dict[str, Any]:
    name = names.observer(request.identity.name)
    return _object(request, name=name, manifest=observer.reference(), policies=provider.OBSERVE)


def _object(request: Request, *, name: str, manifest: Mapping[str, Any], policies: tuple[str, ...]) -> dict[str, Any]:
    cluster = request.identity.name
    return provider.object_(
        name=name,
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.CLUSTER: names.label_value(cluster)},
        provider_config=names.provider_config(cluster),
        management_policies=policies,
        manifest=manifest,
    )


def declared(published: PublishedPools) -> dict[str, Any]:
    """Return what the pools declare, by name, as the observer reads it."""
    return {
        pool["name"]: {
            **{field: plain(pool[field]) for field in _DECLARED_FIELDS if field in pool},
            "scales": pool.get("scales") is True,
        }
        for pool in published.pools
    }


def declared_on_cluster(request: Request) -> Any:
    """Return what was last declared to the observer; None if nothing was."""
    text = dig(request.observed.get(DECLARATION), "spec", "forProvider", "manifest", "data", DECLARED_KEY)
    return dig(json_text.parse(text), "pools")
