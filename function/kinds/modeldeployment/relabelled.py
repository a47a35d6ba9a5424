"""Restores the labels of replicas while their deployment is held.

Others find replicas by these labels: deployments count the nodes that replicas take, clusters publish how many are
free, and a ModelCache learns that it is in use. A hold repeats labels as they are observed. So without this, a label
that somebody changed, or that an earlier version of the function did not set, would be wrong for as long as a spec is
refused, and nodes could be given away that are taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.api import modelreplica
from function.core import ComposedResource, Decided, Manifest, Request, dig, dig_fields, is_ready, restate
from function.vocabulary import labels, names


def relabelled(request: Request) -> Decided:
    """Return the replicas that lack a label that follows from their own specs, with that label."""
    return dict(_relabelled(request))


def _relabelled(request: Request) -> Iterator[tuple[str, ComposedResource]]:
    for key, observed in request.observed.items():
        if observed.get("kind") != modelreplica.KIND:
            continue
        stated = dig_fields(observed, "metadata", "labels")
        wanted = own_labels(request, observed.get("spec") or {}, stated.get(labels.REPLICA_INDEX))
        if any(stated.get(label) != value for label, value in wanted.items()):
            manifest = restate(observed)
            manifest["metadata"]["labels"] = {**(manifest["metadata"].get("labels") or {}), **wanted}
            yield key, ComposedResource(manifest, ready=is_ready(observed))


def own_labels(request: Request, spec: Manifest, index: object) -> dict[str, str]:
    """Return the labels of a replica that follow from its spec and its index.

    The cache is the one that its own spec names: that is the one that it mounts.
    """
    cluster, cache = dig(spec, "clusterName"), dig(spec, "modelCacheRef", "name")
    named = {labels.DEPLOYMENT: request.identity.name, labels.CLUSTER: cluster}
    found = {label: names.label_value(name) for label, name in named.items() if isinstance(name, str) and name}
    return {
        **found,
        **({labels.REPLICA_INDEX: str(index)} if index is not None else {}),
        **({labels.MODELCACHE: names.label_value(cache)} if isinstance(cache, str) and cache else {}),
    }
