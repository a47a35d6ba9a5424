"""NVIDIA's driver on the nodes of a GKE cluster.

GKE installs the driver along with its device plugin. Nodes for DRA run without that plugin, which would hand out the
same GPUs, and Google does not support automatic installation for them (page "Prepare GKE infrastructure for DRA
workloads": gpu-driver-version=disabled, and an installer DaemonSet).

This DaemonSet runs the installer that the node image of GKE holds, as Google's own DaemonSet does
(GoogleCloudPlatform/container-engine-accelerators, nvidia-driver-installer/cos/daemonset-preloaded.yaml). Nothing is
pulled: the version of the node decides the version of the driver, and an upgraded node installs the next one.
"""

from __future__ import annotations

from typing import Any

from function.clouds.gke.pools import DRA_NODE
from function.vocabulary import versions

_NAME = "modelplane-nvidia-driver-installer"
ROOT = "/home/kubernetes/bin/nvidia"
"""Directory in which nodes have the driver (dra-driver-nvidia-gpu v0.4, docs, and the DaemonSet above)."""
_TOOLS = "/var/lib/cos-tools"
_PAUSE = "registry.k8s.io/pause:3.10"
_LABELS = {"app.kubernetes.io/name": _NAME}


def installer() -> dict[str, Any]:
    """Return the DaemonSet. In kube-system, pods of a critical priority class are admitted without a ResourceQuota."""
    return {
        "apiVersion": versions.APPS,
        "kind": "DaemonSet",
        "metadata": {"name": _NAME, "namespace": "kube-system", "labels": _LABELS},
        "spec": {
            "selector": {"matchLabels": _LABELS},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": _LABELS}, "spec": _pod()},
        },
    }


def _pod() -> dict[str, Any]:
    return {
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "hostNetwork": True,
        "hostPID": True,
        "nodeSelector": {DRA_NODE: "true"},
        "tolerations": [{"operator": "Exists"}],
        "initContainers": [_installer()],
        "containers": [
            {
                "name": "pause",
                "image": _PAUSE,
                "resources": {"requests": {"cpu": "1m", "memory": "8Mi"}},
                "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            }
        ],
        "volumes": [{"name": name, "hostPath": {"path": path}} for name, path, _ in _VOLUMES],
    }


_VOLUMES = (
    ("dev", "/dev", "/dev"),
    ("root", "/", "/root"),
    ("driver", ROOT, "/usr/local/nvidia"),
    ("vulkan", f"{ROOT}/vulkan/icd.d", "/etc/vulkan/icd.d"),
    ("tools", _TOOLS, "/build/cos-tools"),
)
"""Name, path on the node, and path in the installer."""


def _installer() -> dict[str, Any]:
    environment = {
        "NVIDIA_INSTALL_DIR_HOST": ROOT,
        "NVIDIA_INSTALL_DIR_CONTAINER": "/usr/local/nvidia",
        "VULKAN_ICD_DIR_HOST": f"{ROOT}/vulkan/icd.d",
        "VULKAN_ICD_DIR_CONTAINER": "/etc/vulkan/icd.d",
        "ROOT_MOUNT_DIR": "/root",
        "COS_TOOLS_DIR_HOST": _TOOLS,
        "COS_TOOLS_DIR_CONTAINER": "/build/cos-tools",
    }
    return {
        "name": "installer",
        "image": "cos-nvidia-installer:fixed",
        "imagePullPolicy": "Never",
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "resources": {"requests": {"cpu": "150m"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": name, "mountPath": path} for name, _, path in _VOLUMES],
    }
