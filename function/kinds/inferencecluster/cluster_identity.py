"""Which Kubernetes cluster it really is: two kubeconfigs may lead to one, whose nodes would count twice, and on which
both would install the same charts.

A cluster is known by the UID of its namespace kube-system, which every cluster has from its first day to its last. An
InferenceCluster writes it on an Object of its own, its observer, and finds the observers of others by it. Of two that
meet so, the one whose observer is older counts a pool, and owns the serving stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from function.api.inferencecluster import Spec
from function.core import Manifest, Request, condition, dig, identity
from function.kinds.inferencecluster import inputs
from function.manifests import provider, reached
from function.manifests.metadata import metadata
from function.vocabulary import labels, names, versions

KEY = "kube-system"
_NAMESPACE = "kube-system"


def observer(request: Request, spec: Spec, *, wants_stack: bool) -> dict[str, Any]:
    """The Object that looks. It tells others that lead there which pools are counted here, and whether a serving stack
    is asked for."""
    cluster, uid = request.identity.name, cluster_id(request)
    looked_at = provider.object_(
        name=names.remote_object(cluster, "Namespace", "", _NAMESPACE),
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.CLUSTER: names.label_value(cluster), **({labels.CLUSTER_ID: uid} if uid else {})},
        provider_config=names.provider_config(cluster),
        management_policies=provider.OBSERVE,
        manifest={"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=_NAMESPACE)},
    )
    pools = ",".join(sorted(pool.name for pool in spec.nodePools))
    looked_at["metadata"]["annotations"] = {labels.POOLS: pools, labels.STACK: "true" if wants_stack else "false"}
    return looked_at


def cluster_id(request: Request) -> str | None:
    """As it was seen, or else published; None while it was not."""
    seen = dig(request.observed.get(KEY), "status", "atProvider", "manifest", "metadata", "uid")
    found: str | None = seen or dig(request.xr, "status", "clusterID")
    return found


def is_settled(request: Request) -> bool:
    """Whether it is known who else leads there. Who may not look at kube-system is taken at his word."""
    if cluster_id(request) is None:
        observed = request.observed.get(KEY) or {}
        return dig(condition(observed, "Synced"), "status") == "False" and not reached.lost(observed)
    return namesakes(request) is not None


def is_asked(request: Request) -> bool:
    """Whether it is known which cluster it is, so that it is looked up who else leads there."""
    return bool(dig(request.xr, "status", "clusterID"))


def namesakes(request: Request) -> tuple[Manifest, ...] | None:
    """The Objects that look at the same cluster; None while they are not known.

    Our own has the label by which they are looked up. An answer without it is behind, and tells nothing of the others.
    """
    found, own = request.required.get(inputs.NAMESAKES), request.observed.get(KEY)
    if found is None or own is None:
        return found
    is_labelled = dig(own, "metadata", "labels", labels.CLUSTER_ID) == dig(request.xr, "status", "clusterID")
    return found if not is_labelled or identity(own) in map(identity, found) else None


def others(request: Request) -> tuple[Manifest, ...] | None:
    """The observers of other InferenceClusters that lead to the same Kubernetes cluster; None while they are not known.

    They are known once the own observer is among those that were found: whoever comes at the same time finds it then,
    or is found.
    """
    if cluster_id(request) is None:
        return () if is_settled(request) else None
    own, found = request.observed.get(KEY), request.required.get(inputs.NAMESAKES)
    if own is None or found is None or cluster_id(request) != dig(request.xr, "status", "clusterID"):
        return None
    names_found = [_name(observer) for observer in found]
    return tuple(o for o in found if _name(o) != _name(own)) if _name(own) in names_found else None


def is_shared(request: Request) -> bool | None:
    """Whether another InferenceCluster leads to the same Kubernetes cluster; None while it is not known."""
    found = others(request)
    return None if found is None else bool(found)


def stack_owner(request: Request) -> str | None:
    """The InferenceCluster that came earlier and owns the serving stack; None where none does, or it is not known."""
    older = [o for o in others(request) or () if _age(o) < _age(request.observed[KEY]) and _wants_stack(o)]
    return str(_cluster(min(older, key=_age))) if older else None


def clusters(observers: Iterable[Manifest]) -> tuple[str, ...]:
    """Whose they are, sorted."""
    return tuple(sorted(str(_cluster(observer)) for observer in observers))


def counted_elsewhere(request: Request) -> Mapping[str, str]:
    """The pools whose nodes an InferenceCluster that came earlier counts already, each with that cluster's name."""
    own = request.observed.get(KEY)
    if own is None:
        return {}
    found: dict[str, str] = {}
    for other in sorted(namesakes(request) or (), key=_age, reverse=True):
        if _age(other) < _age(own):
            found |= dict.fromkeys(_pools(other), str(_cluster(other)))
    return found


def _age(observer: Manifest) -> tuple[str, str]:
    metadata = observer["metadata"]
    return str(metadata.get("creationTimestamp") or ""), metadata["name"]


def _name(observer: Manifest) -> str:
    return str(observer["metadata"]["name"])


def _wants_stack(observer: Manifest) -> bool:
    return bool(dig(observer, "metadata", "annotations", labels.STACK) == "true")


def _pools(observer: Manifest) -> list[str]:
    return str(dig(observer, "metadata", "annotations", labels.POOLS) or "").split(",")


def _cluster(observer: Manifest) -> Any:
    return dig(observer, "metadata", "labels", labels.CLUSTER)
