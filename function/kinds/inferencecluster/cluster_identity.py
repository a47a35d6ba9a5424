"""Which Kubernetes cluster an InferenceCluster leads to.

Two kubeconfigs may lead to one Kubernetes cluster. Its nodes would be counted twice, and both InferenceClusters would
install the same charts on it.

- A Kubernetes cluster is known by the UID of its namespace kube-system, which never changes.
- Each InferenceCluster composes an *observer*, an Object that reads this namespace. Once the UID is known, the observer
  carries it as a label, and the InferenceCluster looks up all observers with the same label.
- Of the InferenceClusters that find each other, the one with the oldest observer counts a pool and owns the serving
  stack. The observer's annotations tell the others which pools are counted, whether a stack is asked for, which DRA
  drivers are needed, and whether capacity is to be observed (by another program, the observer of nodes and devices).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from function.api.inferencecluster import Spec
from function.core import Manifest, Request, condition, dig, dig_text, identity
from function.kinds.inferencecluster import capacity, inputs
from function.manifests import provider, reached
from function.manifests.metadata import metadata
from function.vocabulary import drivers as dra
from function.vocabulary import labels, names, versions

KEY = "kube-system"
"""Key of the observer among the composed resources."""
_NAMESPACE = "kube-system"


def observer(request: Request, spec: Spec, *, wants_stack: bool, drivers: Collection[str]) -> dict[str, Any]:
    """Return the manifest of the observer.

    `wants_stack` tells whether the InferenceCluster asks for a stack, `drivers` are the DRA drivers that its own node
    pools and replicas need.
    """
    cluster, uid = request.identity.name, cluster_id(request)
    manifest = provider.object_(
        name=names.remote_object(cluster, "Namespace", "", _NAMESPACE),
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.CLUSTER: names.label_value(cluster), **({labels.CLUSTER_ID: uid} if uid else {})},
        provider_config=names.provider_config(cluster),
        management_policies=provider.OBSERVE,
        manifest={"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=_NAMESPACE)},
    )
    pools = ",".join(sorted(pool.name for pool in spec.nodePools))
    manifest["metadata"]["annotations"] = {
        labels.POOLS: pools,
        labels.STACK: "true" if wants_stack else "false",
        labels.DRIVERS: ",".join(sorted(drivers)),
        **({labels.OBSERVED_CAPACITY: "true"} if capacity.is_asked(spec) else {}),
    }
    return manifest


def cluster_id(request: Request) -> str | None:
    """Return the UID as the observer read it, else as it was published; None while neither is there."""
    read = dig_text(request.observed.get(KEY), "status", "atProvider", "manifest", "metadata", "uid")
    return read or dig_text(request.xr, "status", "clusterID")


def is_settled(request: Request) -> bool:
    """Return whether it is known which other InferenceClusters lead to the same Kubernetes cluster.

    Where the provider may not read kube-system, the InferenceCluster is taken for the only one.
    """
    if cluster_id(request) is None:
        observed = request.observed.get(KEY) or {}
        return dig(condition(observed, "Synced"), "status") == "False" and not reached.lost(observed)
    return found_observers(request) is not None


def is_identified(request: Request) -> bool:
    """Return whether the UID was published, so that the observers with it are looked up."""
    return bool(dig(request.xr, "status", "clusterID"))


def found_observers(request: Request) -> tuple[Manifest, ...] | None:
    """Return the observers of the same Kubernetes cluster, the own one included; None while they are not known.

    The own observer has the label by which they are looked up. An answer without it is out of date.
    """
    found, own = request.required.get(inputs.OBSERVERS), request.observed.get(KEY)
    if found is None or own is None:
        return found
    is_labelled = dig(own, "metadata", "labels", labels.CLUSTER_ID) == dig(request.xr, "status", "clusterID")
    return found if not is_labelled or _is_among(own, found) else None


def others(request: Request) -> tuple[Manifest, ...] | None:
    """Return the observers of other InferenceClusters; None while they are not known.

    They are known once the own observer is among those that were found: two InferenceClusters that are made at the same
    time find each other only then.
    """
    if cluster_id(request) is None:
        return () if is_settled(request) else None
    own, found = request.observed.get(KEY), found_observers(request)
    is_published = cluster_id(request) == dig(request.xr, "status", "clusterID")
    if own is None or found is None or not is_published or not _is_among(own, found):
        return None
    return tuple(observer for observer in found if identity(observer) != identity(own))


def is_shared(request: Request) -> bool | None:
    """Return whether another InferenceCluster leads to the same Kubernetes cluster; None while it is not known."""
    found = others(request)
    return None if found is None else bool(found)


def stack_owner(request: Request) -> str | None:
    """Return the older InferenceCluster that owns the serving stack; None where there is none, or it is not known."""
    older = [o for o in others(request) or () if _age(o) < _age(request.observed[KEY]) and _wants_stack(o)]
    return _cluster(min(older, key=_age)) if older else None


def cluster_names(observers: Iterable[Manifest]) -> tuple[str, ...]:
    """Return the names of the InferenceClusters that composed some observers, sorted."""
    return tuple(sorted(map(_cluster, observers)))


def drivers_of_others(request: Request) -> frozenset[str] | None:
    """Return the DRA drivers that the other InferenceClusters need; None while they are not known.

    An observer that an earlier release composed does not tell. Such a release installed NVIDIA's driver everywhere.
    """
    found = others(request)
    return None if found is None else frozenset(driver for observer in found for driver in _drivers(observer))


def others_observe_capacity(request: Request) -> bool | None:
    """Return whether another InferenceCluster has its capacity observed; None while the others are not known."""
    found = others(request)
    return None if found is None else any(map(_observes_capacity, found))


def own_drivers(request: Request) -> frozenset[str]:
    """Return the DRA drivers that the own observer tells the others; none before there is one."""
    own = request.observed.get(KEY)
    return frozenset(_drivers(own)) if own else frozenset()


def _drivers(observer: Manifest) -> list[str]:
    written = dig(observer, "metadata", "annotations", labels.DRIVERS)
    return [dra.NVIDIA] if written is None else [driver for driver in str(written).split(",") if driver]


def counted_elsewhere(request: Request) -> Mapping[str, str]:
    """Return the pools whose nodes an older InferenceCluster counts, each with the name of that InferenceCluster."""
    own = request.observed.get(KEY)
    if own is None:
        return {}
    found: dict[str, str] = {}
    for other in sorted(found_observers(request) or (), key=_age, reverse=True):
        if _age(other) < _age(own):
            found |= dict.fromkeys(_pools(other), _cluster(other))
    return found


def _is_among(own: Manifest, found: Iterable[Manifest]) -> bool:
    return identity(own) in map(identity, found)


def _age(observer: Manifest) -> tuple[str, str]:
    """A key that sorts the oldest first; the name decides between equals."""
    metadata = observer["metadata"]
    return str(metadata.get("creationTimestamp") or ""), metadata["name"]


def _wants_stack(observer: Manifest) -> bool:
    return bool(dig(observer, "metadata", "annotations", labels.STACK) == "true")


def _observes_capacity(observer: Manifest) -> bool:
    return bool(dig(observer, "metadata", "annotations", labels.OBSERVED_CAPACITY) == "true")


def _pools(observer: Manifest) -> list[str]:
    return str(dig(observer, "metadata", "annotations", labels.POOLS) or "").split(",")


def _cluster(observer: Manifest) -> str:
    return str(dig(observer, "metadata", "labels", labels.CLUSTER))
