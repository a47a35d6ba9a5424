"""Storage for ModelCaches: one filesystem that every node mounts, and the driver that cuts volumes out of it.

Nebius has no driver that makes filesystems. Each is attached to nodes by a tag, and mounted when they first boot
(docs.nebius.com, kubernetes/storage/filesystem-over-csi).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.clouds.nebius.blocks import Cache
from function.clouds.nebius.facts import DISK, FILESYSTEM
from function.contracts.cloud.site import Resource, Site
from function.vocabulary import versions
from function.vocabulary.charts import CSI_MOUNTED_FS_PATH

CLASS = "modelplane-files"
"""Name of the StorageClass."""
KEY = "storage"
FILESYSTEM_KEY = "filesystem"
USER_DATA = "user-data"
USER_DATA_KEY = "userData"
_DRIVER = "storage-driver"
_POLICY = "csi-driver"
_PROVISIONER = "mounted-fs-path.csi.nebius.ai"
"""The chart's driverName."""
_TAG = "modelplane"
_MOUNT = "/mnt/modelplane"
_CLOUD_INIT = f"""#cloud-config
runcmd:
- mkdir -p {_MOUNT}
- echo '{_TAG} {_MOUNT} virtiofs defaults,nofail 0 0' >> /etc/fstab
- mount {_MOUNT}
"""
"""A change of it would replace all nodes of all clusters."""


def resources(site: Site, cache: Cache) -> Iterator[Resource]:
    """Yield the filesystem, and what the nodes mount it with.

    The user data is not secret. A NodeGroup reads it from a Secret beside it and from nowhere else.
    """
    wanted = {
        "name": site.name(FILESYSTEM_KEY),
        "labels": site.tags,
        "type": DISK,
        "sizeGibibytes": cache.sizeGib,
    }
    yield site.resource(FILESYSTEM_KEY, FILESYSTEM, wanted)
    yield site.plain_secret(USER_DATA, {USER_DATA_KEY: _CLOUD_INIT})


def on_nodes(site: Site) -> dict[str, Any]:
    """Return the part of a NodeGroup's template that mounts the filesystem. Every node needs it: a volume can be
    mounted by any pod."""
    attached = {
        "attachMode": "READ_WRITE",
        "mountTag": _TAG,
        "existingFilesystem": {"idRef": site.ref(FILESYSTEM_KEY)},
    }
    return {
        "filesystems": [attached],
        "cloudInitUserDataSecretRef": {**site.ref(USER_DATA), "key": USER_DATA_KEY},
    }


def in_cluster(site: Site, *, cluster: str, nodes: str) -> Iterator[Resource]:
    """Yield the driver and the StorageClass. `cluster` and `nodes` are the keys of the cluster and its own pool."""
    values = {
        "dataDir": f"{_MOUNT}/volumes/",
        # the plugin runs on every node: without it engines mount nothing there, whatever a pool's taints are
        "tolerations": [{"operator": "Exists"}],
    }
    yield site.release(_DRIVER, CSI_MOUNTED_FS_PATH, values, after=[cluster, nodes])
    yield site.object(_POLICY, _policy(), after=[_DRIVER])
    class_ = {
        "apiVersion": versions.STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": CLASS},
        "provisioner": _PROVISIONER,
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    yield site.object(KEY, class_, after=[_DRIVER, _POLICY])


def _policy() -> dict[str, Any]:
    """The chart's CSIDriver, with a policy for groups and nothing else.

    A new volume belongs to root, and the Job that fills it does not run as root. By default, the kubelet gives volumes
    that many nodes mount to no group (kubernetes v1.34, pkg/volume/csi/csi_mounter.go).
    """
    return {
        "apiVersion": versions.STORAGE,
        "kind": "CSIDriver",
        "metadata": {"name": _PROVISIONER},
        "spec": {"fsGroupPolicy": "File"},
    }
