"""What is on every cluster from the start."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from typing import Any

from function.core import Manifest, dig
from function.vocabulary import names, versions


def things(cluster: Manifest) -> Iterator[dict[str, Any]]:
    """A gateway, the namespace that tells a cluster from others, and the class of its caches' volumes."""
    yield _gateway()
    yield _kube_system(cluster)
    yield from _storage_classes(cluster)


def _gateway() -> dict[str, Any]:
    """The Gateway that is on every cluster from the start."""
    metadata = {"name": names.CLUSTER_GATEWAY, "namespace": names.SYSTEM_NAMESPACE, "generation": 1}
    return {"apiVersion": versions.GATEWAY, "kind": "Gateway", "metadata": metadata}


def address(cluster: Manifest) -> str:
    """The one that was published, else one made up from the cluster's name (of the range for benchmarks, RFC 2544)."""
    digest = hashlib.sha256(cluster["metadata"]["name"].encode()).digest()
    made_up = f"198.{18 + digest[0] % 2}.{digest[1]}.{digest[2]}"
    return str(dig(cluster, "status", "gateway", "address") or made_up)


def _kube_system(cluster: Manifest) -> dict[str, Any]:
    """Its UID tells one Kubernetes cluster from all others: the one that was published, else one made up from the
    kubeconfig, since two that are reached by the same are the same."""
    secret = dig(cluster, "spec", "cluster", "existing", "secretRef") or {"name": cluster["metadata"]["name"]}
    made_up = "/".join(("kubeconfig", str(secret.get("name")), str(secret.get("key") or "")))
    uid = dig(cluster, "status", "clusterID") or str(uuid.uuid5(uuid.NAMESPACE_URL, made_up))
    return {
        "apiVersion": versions.CORE,
        "kind": "Namespace",
        "metadata": {"name": "kube-system", "uid": uid, "generation": 1},
    }


def _storage_classes(cluster: Manifest) -> Iterator[dict[str, Any]]:
    name = dig(cluster, "spec", "cluster", "existing", "cache", "storageClassName")
    if name:
        yield {"apiVersion": versions.STORAGE, "kind": "StorageClass", "metadata": {"name": name, "generation": 1}}
