"""The control plane, and the system pool, which is a part of it in Azure's API.

Local accounts stay on: the kubeconfig that the provider writes has the client certificate of one, and so needs no other
credentials. The API server has a public address; the certificate is what admits to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from function.clouds.aks import addresses, identity, managed, network
from function.clouds.aks.model import Spec
from function.contracts.cloud import nodes
from function.contracts.cloud.site import Resource, Site

CLUSTER = "cluster"
"""Key of the control plane."""
DEFAULT_VERSION = "1.36"
"""Standard support ends in June 2027 (AKS, supported-kubernetes-versions)."""


@dataclass(frozen=True, slots=True)
class _Sizes:
    least: int
    most: int


SYSTEM_NODES = _Sizes(2, 5)
"""AKS asks for two nodes with 4 vCPUs each at least, and none of the B series (AKS, use-system-pools). More are for the
serving stack."""
SYSTEM_SURGE = 1
"""Nodes that an upgrade adds to the system pool for a while."""
_SYSTEM_DISK_GB = 128
_DRAIN_MINUTES = 30
_AFTER = (identity.ROLE, *network.OUTBOUND)
_LONGEST_DNS_PREFIX = 54
"""Characters of the first part of the API server's host name (azurerm, validation of dns_prefix)."""
_LONGEST_NODE_GROUP = 80
"""Characters of the name of the nodes' resource group (AKS, faq). The name that AKS would choose is longer."""


def resource(site: Site, spec: Spec) -> Resource:
    """Return the control plane with its system pool."""
    address = network.address(site)
    if spec.apiServer.allowedSources and address is None:
        return site.awaiting(CLUSTER, managed.CLUSTER, "the address of the NAT gateway", after=_AFTER)
    version = site.kubernetes_version(CLUSTER, spec.kubernetesVersion, DEFAULT_VERSION, "kubernetesVersion")
    wanted = {
        **network.placed(site, spec),
        "dnsPrefix": site.cloud_name("api", longest=_LONGEST_DNS_PREFIX),
        "nodeResourceGroup": site.cloud_name("nodes", longest=_LONGEST_NODE_GROUP),
        "kubernetesVersion": version,
        "identity": {"type": "UserAssigned", "identityIdsRefs": site.refs([identity.IDENTITY])},
        "networkProfile": _network_profile(spec),
        **_access(spec, address),
        "defaultNodePool": _system_pool(site, spec),
        "oidcIssuerEnabled": True,
        "workloadIdentityEnabled": True,
        "localAccountDisabled": False,
        "runCommandEnabled": False,
        "skuTier": "Standard",  # Free is for clusters of up to 10 nodes (AKS, free-standard-pricing-tiers)
        # the other channels drain nodes whenever there is a new image, and engines with them
        "nodeOsUpgradeChannel": "None",
        "storageProfile": {"fileDriverEnabled": True},
    }
    # Late initialization would bring the number of system nodes, and with it a fight with the autoscaler
    # (provider-upjet-azure v2.6, config/namespaced/containerservice).
    return site.resource(CLUSTER, managed.CLUSTER, wanted, after=_AFTER, has_secret=True, late_initialization=False)


def _access(spec: Spec, address: str | None) -> dict[str, Any]:
    """Nodes reach the API server by its public address, from that of their NAT gateway (AKS,
    api-server-authorized-ip-ranges)."""
    sources = spec.apiServer.allowedSources
    own = (f"{address}/32",) if address else ()
    return {"apiServerAccessProfile": {"authorizedIpRanges": sorted({*sources, *own})}} if sources else {}


def _network_profile(spec: Spec) -> dict[str, Any]:
    plan = addresses.plan(spec.network)
    return {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "loadBalancerSku": "standard",
        "outboundType": "userAssignedNATGateway",
        "podCidr": str(plan.pods),
        "serviceCidr": str(plan.services),
        "dnsServiceIp": str(plan.dns),
    }


def _system_pool(site: Site, spec: Spec) -> dict[str, Any]:
    """The system pool. It begins with its least number of nodes.

    Nothing writes nodeCount, not even initProvider: below an embedded object the provider takes it for a change, which
    azurerm refuses in a pool that is scaled (upjet v2, pkg/controller, getTerraformIgnoreChanges).
    """
    return {
        "name": nodes.SYSTEM_POOL,
        "vmSize": spec.systemPool.vmSize,
        "osDiskSizeGb": _SYSTEM_DISK_GB,
        "vnetSubnetIdRef": site.ref(network.SUBNET),
        "autoScalingEnabled": True,
        "minCount": SYSTEM_NODES.least,
        "maxCount": SYSTEM_NODES.most,
        "nodeLabels": nodes.node_labels(nodes.SYSTEM_POOL),
        "tags": site.tags,
        "upgradeSettings": {"maxSurge": str(SYSTEM_SURGE), "drainTimeoutInMinutes": _DRAIN_MINUTES},
        **node_version(site, CLUSTER, "defaultNodePool", "orchestratorVersion"),
    }


def node_version(site: Site, key: str, *path: str) -> dict[str, str]:
    """Return the Kubernetes version of the nodes of a resource: exactly what the control plane runs.

    AKS refuses nodes that are newer, and does not upgrade nodes along with the control plane. So they follow it, once
    it runs the new version. While that is not known they keep what was written, or have what AKS gives to new nodes:
    the version of the control plane.
    """
    version = site.seen(CLUSTER, "currentKubernetesVersion") or site.written(key, *path)
    return {"orchestratorVersion": str(version)} if version else {}
