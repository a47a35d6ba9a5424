"""The StorageClass for ModelCaches: NFS shares of Azure Files.

The driver, which AKS runs, makes a storage account in the resource group of the nodes, and a share for each volume.
Only the subnet of the nodes reaches the account. The account goes with the cluster.

SMB shares would do without the network rule. But caches of Hugging Face consist of symbolic links, which SMB imitates
only.
"""

from __future__ import annotations

from function.clouds.aks import cluster, network
from function.contracts.cloud.site import TAG, Resource, Site
from function.vocabulary import versions

STORAGE = "storage"
CLASS = "modelplane-azurefile-nfs"


def resource(site: Site) -> Resource:
    manifest = {
        "apiVersion": versions.STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": CLASS},
        "provisioner": "file.csi.azure.com",
        "parameters": _parameters(site),
        # AKS, create-volume-azure-files; the driver adds the NFS version itself
        "mountOptions": ["nconnect=4", "noresvport", "actimeo=30"],
        "reclaimPolicy": "Delete",
        "allowVolumeExpansion": True,
        "volumeBindingMode": "Immediate",
    }
    return site.object(STORAGE, manifest, after=[cluster.CLUSTER])


def _parameters(site: Site) -> dict[str, str]:
    """Parameters of the driver (azurefile-csi-driver, docs/driver-parameters.md).

    Premium_LRS works with every version of the driver and in every location; PremiumV2_LRS does not. The driver makes
    the root of a share writable for everyone, so that the Job that fills it need not be root. It changes the owner of
    no file: it would walk the whole share for every pod with another fsGroup.
    """
    return {
        "protocol": "nfs",
        "skuName": "Premium_LRS",
        "vnetResourceGroup": site.name(network.GROUP),
        "vnetName": site.name(network.NETWORK),
        "subnetName": site.name(network.SUBNET),
        "rootSquashType": "NoRootSquash",
        "mountPermissions": "0777",
        "fsGroupChangePolicy": "None",
        "tags": f"{TAG}={site.tags[TAG]}",
    }
