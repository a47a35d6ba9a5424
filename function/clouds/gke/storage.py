"""Storage for ModelCaches on a GKE cluster: Filestore, by the CSI driver that GKE runs.

Every volume is a Filestore instance of its own, of 1 TiB at least: the driver rounds smaller requests up
(kubernetes-sigs/gcp-filestore-csi-driver, issues 1119 and 1325).
"""

from __future__ import annotations

from typing import Any

from function.clouds.gke.model import Spec
from function.vocabulary import versions

_DRIVER = "filestore.csi.storage.gke.io"


def class_name(spec: Spec) -> str:
    """Return the name of the StorageClass. It names the tier, because no StorageClass changes its parameters."""
    return f"modelplane-filestore-{spec.cache.tier.replace('_', '-')}"


def storage_class(spec: Spec, network: str) -> dict[str, Any]:
    """Return the StorageClass. Without `network`, instances would be in the network "default", and out of reach."""
    return {
        "apiVersion": versions.STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": class_name(spec)},
        "provisioner": _DRIVER,
        "parameters": {"tier": spec.cache.tier, "network": network},
        "volumeBindingMode": "WaitForFirstConsumer",  # in a zone with nodes: GKE would take any of the region
        "allowVolumeExpansion": True,
        "reclaimPolicy": "Delete",
    }


def csi_driver() -> dict[str, Any]:
    """Return the CSIDriver that GKE has, with a policy for groups.

    A new Filestore share belongs to root, with mode 755, and the pods that fill a cache do not run as root. The kubelet
    gives a share to a pod's fsGroup only if the driver has policy File. By default it does so for ReadWriteOnce alone
    (kubernetes v1.34, pkg/volume/csi/csi_mounter.go; gcp-filestore-csi-driver, issue 786).

    The driver's manifests have this policy or none (deploy/kubernetes, overlays/stable-master and base/controller), so
    nothing resets it. Kubernetes lets it change since 1.29. It does not let attachRequired change, which is repeated
    here in case this object is the first.
    """
    return {
        "apiVersion": versions.STORAGE,
        "kind": "CSIDriver",
        "metadata": {"name": _DRIVER},
        "spec": {"attachRequired": False, "podInfoOnMount": True, "fsGroupPolicy": "File"},
    }
