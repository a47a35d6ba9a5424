"""Composes a ModelDeployment: a ModelReplica for each placement, and a ModelEndpoint once it serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.api import modelendpoint, modelreplica
from function.core import ComposedResource, Manifest, dig, is_ready, restate, restate_spec
from function.fleet import previous_spec, renderings, served_names
from function.kinds.modeldeployment import rendering
from function.kinds.modeldeployment.decide import Decision
from function.kinds.modeldeployment.relabelled import own_labels
from function.scheduling import Action, Placement
from function.vocabulary import hosts, kubernetes, labels, names, versions


def compose(decision: Decision) -> dict[str, ComposedResource]:
    """Return the composed resources of a decision by key."""
    resources: dict[str, ComposedResource] = {}
    served: dict[Any, tuple[str, ...]] = {}
    for placement in decision.plan.placements:
        key, manifest = decision.key(placement), _replica(decision, placement)
        resources[key] = ComposedResource(manifest, ready=decision.request.is_ready(key))
        resources |= _endpoint(decision, placement, manifest, served)
    return {**dict(_adopted(decision, resources, served)), **resources}


def _adopted(
    decision: Decision, resources: Mapping[str, ComposedResource], served: dict[Any, tuple[str, ...]]
) -> Iterator[tuple[str, ComposedResource]]:
    """Yield the replicas of the deployment that its XR does not refer to, and that have no place, by key.

    Crossplane deletes only what the XR refers to. So such a replica is composed once, as it is and with its endpoint,
    and the next reconcile leaves it out. A leader that lost its lease and has not noticed it leaves one behind, if
    another leader writes the references in between.
    """
    keys, ours = decision.inputs.keys, decision.inputs.ours
    for replica in decision.inputs.fleet.replicas:
        key = keys.get(replica.identity)
        if key is None or key in resources or key in decision.request.observed or replica.deleting:
            continue
        manifest = ours[replica.identity]
        yield key, ComposedResource(restate(manifest), ready=False)
        placement = Placement(replica.cluster, replica.index, Action.KEEP, replica.engines, replica=replica)
        yield from _endpoint(decision, placement, manifest, served).items()


# Replicas


def _replica(decision: Decision, placement: Placement) -> dict[str, Any]:
    """Return the manifest of a replica. Its labels follow the deployment, even if it keeps its observed spec."""
    request, spec = decision.request, _spec_at(decision, placement)
    ours = own_labels(request, spec, placement.index)
    return {
        "apiVersion": modelreplica.API_VERSION,
        "kind": modelreplica.KIND,
        "metadata": {
            "name": decision.name(placement),
            "namespace": request.identity.namespace,
            "labels": labels.merge(labels.users(request.xr["metadata"].get("labels")), ours),
            "annotations": _notes(decision, placement),
            **_finalizers(decision.observed(placement)),
        },
        "spec": spec,
    }


def _finalizers(observed: Manifest | None) -> dict[str, list[str]]:
    """Return the finalizer by which a replica that lost its deployment is deleted in the foreground.

    It then exists, and holds its nodes, until its workloads are gone from its cluster. Otherwise it would be gone at
    once, and pods that nobody can delete for the moment would run on nodes that seem free. No object that is being
    deleted may get a finalizer.
    """
    metadata = observed["metadata"] if observed is not None else {}
    is_late = "deletionTimestamp" in metadata and kubernetes.FOREGROUND not in (metadata.get("finalizers") or ())
    return {} if is_late else {"finalizers": [kubernetes.FOREGROUND]}


def _spec_at(decision: Decision, placement: Placement) -> dict[str, Any]:
    """Return the current, the previous or the observed spec of a replica, as the placement decides."""
    if placement.fit:
        cluster = decision.inputs.fleet.clusters[placement.cluster]
        shared = {pool.name for pool in cluster.pools if pool.shared}
        engines, level = placement.engines, cluster.pod_security
        return rendering.spec(decision.spec, cluster.name, engines, placement.fit, level=level, shared=shared)
    if placement.rolls_back and placement.replica and placement.replica.previous:
        return previous_spec.spec(placement.replica.previous)
    observed = decision.observed(placement)
    assert observed is not None, "a replica that does not get the current spec exists"
    return restate_spec(observed)


def _notes(decision: Decision, placement: Placement) -> dict[str, str]:
    """Return the annotations by which the next reconcile knows what this one decided."""
    replica, wanted, observed = placement.replica, decision.job, decision.observed(placement)
    stays = replica is None or placement.action is not Action.AWAIT_SUCCESSOR
    revision = wanted.spec_hash if placement.fit or replica is None else replica.spec_hash
    notes = {
        labels.PLACED_UNDER: wanted.placed_under if stays or replica is None else replica.placed_under,
        labels.SPEC_HASH: renderings.spec_hash(revision),
        labels.RENDERING: _rendering(placement, observed),
        labels.MOVING_FOR: decision.plan.moving_for(placement, renderings.spec_hash(wanted.spec_hash)),
        labels.FORMER_SPEC: previous_spec.note(placement.previous, observed) if placement.previous and observed else "",
    }
    return {key: value for key, value in notes.items() if value}


def _rendering(placement: Placement, observed: Manifest | None) -> str | None:
    """Return the current rendering if the replica gets a spec, otherwise the observed one.

    Its previous spec counts as one that it gets: the workloads that it had with it are gone.
    """
    if placement.fit or placement.rolls_back or observed is None:
        return str(versions.RENDERING)
    noted = dig(observed, "metadata", "annotations", labels.RENDERING)
    return None if noted is None else str(noted)


# Endpoints


def _endpoint(
    decision: Decision, placement: Placement, replica: Mapping[str, Any], served: dict[Any, tuple[str, ...]]
) -> dict[str, ComposedResource]:
    """Return the endpoint of a replica that serves, by key; nothing for other replicas.

    If the address of the cluster is unknown for a moment, an observed endpoint stays as it is. `served` remembers the
    names of the replicas before, most of which have the same spec.
    """
    if placement.replica is None or not placement.replica.serving:
        return {}
    key = names.endpoint_key(placement.cluster, placement.index)
    address, observed = decision.inputs.addresses.get(placement.cluster), decision.request.observed.get(key)
    if address:
        manifest = endpoint(replica["metadata"], address, _served(decision, placement, replica, served))
    elif observed is not None:
        manifest = restate(observed)
    else:
        return {}
    return {key: ComposedResource(manifest, ready=observed is not None and is_ready(observed))}


def _served(
    decision: Decision, placement: Placement, replica: Mapping[str, Any], served: dict[Any, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the model names that a replica answers to.

    Replicas of one revision and one model have the same. Those that note no revision, or return to a previous spec,
    have specs of their own.
    """
    repositories = decision.inputs.repositories
    repository = repositories.get(placement.cluster, repositories.get(""))
    hash_ = replica["metadata"]["annotations"].get(labels.SPEC_HASH)
    key = replica["metadata"]["name"] if hash_ is None or placement.rolls_back else (hash_, repository)
    if key not in served:
        served[key] = served_names.of_engines(replica["spec"].get("engines"), repository)
    return served[key]


def endpoint(replica: Mapping[str, Any], address: str, served: Sequence[str] = ()) -> dict[str, Any]:
    """Return the ModelEndpoint of a replica: its own path on the gateway of its cluster.

    `replica` is the metadata of the replica. `address` is the address of the gateway, a name or an IP. `served` are the
    model names that the replica answers to, as far as they are known.
    """
    path, notes = f"/{replica['namespace']}/{replica['name']}/", served_names.annotation(served)
    return {
        "apiVersion": modelendpoint.API_VERSION,
        "kind": modelendpoint.KIND,
        "metadata": {
            **{key: replica[key] for key in ("name", "namespace")},
            "labels": {key: value for key, value in replica["labels"].items() if key != labels.MODELCACHE},
            **({"annotations": notes} if notes else {}),
        },
        "spec": {"url": f"http://{hosts.in_url(address)}{path}v1", "rewritePath": path},
    }
