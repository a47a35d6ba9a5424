"""The identity of the control plane, and what it may do.

It joins nodes and load balancers to the subnet, and its storage driver admits the subnet to the storage accounts of NFS
shares. AKS itself gives it rights in the resource group of the nodes. Nodes have the identity that AKS makes for them,
which may do nothing: they pull public images, and NFS shares need no key.
"""

from __future__ import annotations

from collections.abc import Iterator

from function.clouds.aks import managed, network
from function.clouds.aks.model import Spec
from function.contracts.cloud.site import Resource, Site

IDENTITY = "identity"
ROLE = "role-network"
_NETWORK_CONTRIBUTOR = "Network Contributor"
"""The role that AKS needs on a subnet that it did not make (AKS, configure-azure-cni), on that subnet alone. The driver
of Azure Files needs no more: subnets/read, subnets/write and subnets/joinViaServiceEndpoint/action."""


def resources(site: Site, spec: Spec) -> Iterator[Resource]:
    name = site.written(IDENTITY, "name") or site.name(IDENTITY)
    yield site.resource(IDENTITY, managed.IDENTITY, {**network.placed(site, spec), "name": name})
    yield _role(site)


def _role(site: Site) -> Resource:
    """The role assignment. Azure knows the principal and the subnet by ids, to which there are no references."""
    principal, scope = site.seen(IDENTITY, "principalId"), site.seen(network.SUBNET, "id")
    after = (IDENTITY, network.SUBNET)
    if not principal:
        return site.awaiting(ROLE, managed.ROLE_ASSIGNMENT, "the principal of the identity", after=after)
    if not scope:
        return site.awaiting(ROLE, managed.ROLE_ASSIGNMENT, "the id of the subnet", after=after)
    wanted = {
        "principalId": principal,
        "principalType": "ServicePrincipal",
        "roleDefinitionName": _NETWORK_CONTRIBUTOR,
        "scope": scope,
        # a new identity takes minutes to reach every replica of Entra ID
        "skipServicePrincipalAadCheck": True,
    }
    return site.resource(ROLE, managed.ROLE_ASSIGNMENT, wanted, after=after)
