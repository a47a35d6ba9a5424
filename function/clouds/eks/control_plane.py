"""The control plane of an EKSCluster, its kubeconfig, and the add-ons of EKS."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.clouds.eks import facts, identity, kinds, network
from function.clouds.eks.model import Spec
from function.contracts.cloud.site import Resource, Site

CLUSTER, KUBECONFIG = "cluster", "kubeconfig"
SYSTEM_POOL = "system-pool"
CNI, PROXY, AGENT = "addon-vpc-cni", "addon-kube-proxy", "addon-pod-identity"
EBS, EFS = "addon-ebs", "addon-efs"
BEFORE_NODES = (CNI, PROXY, AGENT)
"""Add-ons without which no node becomes ready. They consist of DaemonSets, so that they are active without nodes."""

_EVERYWHERE = "0.0.0.0/0"
_WARM = {"env": {"MINIMUM_IP_TARGET": "16", "WARM_IP_TARGET": "2"}}
"""Addresses that a node holds for pods that may come: 16, and from then on two. The CNI plugin would hold a whole
interface, 50 on large instances, of which addresses.py knows nothing (aws/amazon-vpc-cni-k8s,
docs/eni-and-ip-target.md)."""
_TOLERANT = {"tolerations": [{"operator": "Exists"}]}
"""The agent must be on nodes with devices, too: their CNI plugin gets its rights from it. By default it did not
tolerate their taints (aws/containers-roadmap#2261)."""
_DELETES_DATA = {"controller": {"deleteAccessPointRootDir": True}}
"""What a volume on EFS held goes with it. By default it stays, and is paid for (aws-efs-csi-driver, docs/README.md)."""


def resources(site: Site, spec: Spec, home: Sequence[str]) -> Iterator[Resource]:
    """Yield the control plane in the home zones, and what belongs to it."""
    yield _cluster(site, spec, home)
    auth = {"region": spec.region, "clusterNameRef": site.ref(CLUSTER)}
    yield site.resource(KUBECONFIG, kinds.CLUSTER_AUTH, auth, after=[CLUSTER], has_secret=True)
    after_nodes = (CLUSTER, SYSTEM_POOL)
    yield _addon(site, spec, CNI, "vpc-cni", after=(CLUSTER, identity.account(identity.CNI)), values=_WARM)
    yield _addon(site, spec, PROXY, "kube-proxy", after=(CLUSTER,))
    yield _addon(site, spec, AGENT, "eks-pod-identity-agent", after=(CLUSTER,), values=_TOLERANT)
    yield _addon(site, spec, "addon-coredns", "coredns", after=after_nodes)
    for_ebs, for_efs = identity.account(identity.EBS), identity.account(identity.EFS)
    yield _addon(site, spec, EBS, "aws-ebs-csi-driver", after=(*after_nodes, for_ebs))
    yield _addon(site, spec, EFS, "aws-efs-csi-driver", after=(*after_nodes, for_efs), values=_DELETES_DATA)


def version(site: Site, spec: Spec) -> str:
    """Return the Kubernetes version that the cluster is to have."""
    return site.kubernetes_version(CLUSTER, spec.kubernetesVersion, facts.VERSION, "version")


def _cluster(site: Site, spec: Spec, home: Sequence[str]) -> Resource:
    """The credentials that make a cluster are its administrator; those of a ClusterAuth are the same."""
    wanted = {
        "region": spec.region,
        "version": version(site, spec),
        "roleArnRef": site.ref(identity.role(identity.CLUSTER)),
        "vpcConfig": {
            "subnetIdRefs": site.refs([network.subnet(letter) for letter in home]),
            "endpointPrivateAccess": True,
            "endpointPublicAccess": True,
            "publicAccessCidrs": list(spec.apiServer.allowedSources) or [_EVERYWHERE],
        },
        "kubernetesNetworkConfig": {"ipFamily": "ipv4", "serviceIpv4Cidr": spec.network.serviceCidr},
        "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True},
        "bootstrapSelfManagedAddons": False,
        "tags": site.tags,
    }
    name = site.cloud_name(CLUSTER)
    return site.resource(CLUSTER, kinds.CLUSTER, wanted, after=identity.granted(identity.CLUSTER), external_name=name)


def _addon(
    site: Site, spec: Spec, key: str, name: str, *, after: Sequence[str], values: Mapping[str, Any] | None = None
) -> Resource:
    """An add-on of the version that EKS chooses for the cluster."""
    wanted = {
        "region": spec.region,
        "clusterNameRef": site.ref(CLUSTER),
        "addonName": name,
        "resolveConflictsOnCreate": "OVERWRITE",
        "resolveConflictsOnUpdate": "OVERWRITE",
        **({"configurationValues": json.dumps(values)} if values else {}),
        "tags": site.tags,
    }
    return site.resource(key, kinds.ADDON, wanted, after=after)
