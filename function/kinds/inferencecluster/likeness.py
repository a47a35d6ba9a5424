"""Which Kubernetes cluster it really is: two kubeconfigs may lead to one, whose nodes would count twice.

A cluster is known by the UID of its namespace kube-system, which every cluster has from its first day to its last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import labels, names, versions
from function.core import Manifest, Request, condition, dig, identity
from function.kinds.inferencecluster import inputs
from function.kinds.inferencecluster.model import Spec
from function.manifests import provider, reached
from function.manifests.metadata import metadata

KEY = "kube-system"
_NAMESPACE = "kube-system"


def observer(request: Request, spec: Spec) -> dict[str, Any]:
    """The Object that looks. It tells who else leads there which pools are counted here."""
    cluster, uid = request.identity.name, cluster_id(request)
    looked_at = provider.object_(
        name=names.remote_object(cluster, "Namespace", "", _NAMESPACE),
        namespace=names.SYSTEM_NAMESPACE,
        labels={labels.CLUSTER: names.label_value(cluster), **({labels.CLUSTER_ID: uid} if uid else {})},
        provider_config=names.provider_config(cluster),
        management_policies=provider.OBSERVE,
        manifest={"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=_NAMESPACE)},
    )
    looked_at["metadata"]["annotations"] = {labels.POOLS: ",".join(sorted(pool.name for pool in spec.nodePools))}
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


def _pools(observer: Manifest) -> list[str]:
    return str(dig(observer, "metadata", "annotations", labels.POOLS) or "").split(",")


def _cluster(observer: Manifest) -> Any:
    return dig(observer, "metadata", "labels", labels.CLUSTER)
