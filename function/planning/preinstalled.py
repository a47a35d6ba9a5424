"""Objects that exist on every cluster from the start: what its charts and its cloud install."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from typing import Any

from function.core import Manifest, dig, dig_fields
from function.fleet import clusters
from function.vocabulary import names, versions


def things(cluster: Manifest) -> Iterator[dict[str, Any]]:
    """The preinstalled objects of an InferenceCluster: a Gateway, the kube-system namespace, and its StorageClass."""
    yield _gateway()
    yield _kube_system(cluster)
    yield from _storage_classes(cluster)


def is_assumed(manifest: Manifest) -> bool:
    """Whether an object that others make is assumed to exist: a claim, which files of a fleet do not show, or the
    Service of a gateway."""
    return manifest["kind"] in ("PersistentVolumeClaim", "Service")


def _gateway() -> dict[str, Any]:
    metadata = {"name": names.CLUSTER_GATEWAY, "namespace": names.SYSTEM_NAMESPACE, "generation": 1}
    return {"apiVersion": versions.GATEWAY, "kind": "Gateway", "metadata": metadata}


def address(cluster: Manifest) -> str:
    """The gateway's address: the published one, or one derived from the cluster's name (RFC 2544)."""
    digest = hashlib.sha256(cluster["metadata"]["name"].encode()).digest()
    derived = f"198.{18 + digest[0] % 2}.{digest[1]}.{digest[2]}"
    return clusters.gateway_address(cluster) or derived


def invented(cluster: Manifest) -> Iterator[str]:
    """What of `things` and `address` is derived because the cluster does not publish it."""
    if not clusters.gateway_address(cluster):
        yield address(cluster)
    if not dig(cluster, "status", "clusterID"):
        yield str(_kube_system(cluster)["metadata"]["uid"])


def _kube_system(cluster: Manifest) -> dict[str, Any]:
    """The namespace whose UID identifies a Kubernetes cluster: the published UID, or one derived from the kubeconfig.
    Two InferenceClusters with the same kubeconfig are the same cluster."""
    secret = dig_fields(cluster, "spec", "cluster", "existing", "secretRef") or {"name": cluster["metadata"]["name"]}
    kubeconfig = "/".join(("kubeconfig", str(secret.get("name")), str(secret.get("key") or "")))
    uid = dig(cluster, "status", "clusterID") or str(uuid.uuid5(uuid.NAMESPACE_URL, kubeconfig))
    return {
        "apiVersion": versions.CORE,
        "kind": "Namespace",
        "metadata": {"name": "kube-system", "uid": uid, "generation": 1},
    }


def _storage_classes(cluster: Manifest) -> Iterator[dict[str, Any]]:
    name = dig(cluster, "spec", "cluster", "existing", "cache", "storageClassName")
    if name:
        yield {"apiVersion": versions.STORAGE, "kind": "StorageClass", "metadata": {"name": name, "generation": 1}}
