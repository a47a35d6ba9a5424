"""What the provider reports of a managed resource once AWS has made it, for the embedded control plane."""

from __future__ import annotations

import hashlib
from typing import Any

from function.clouds.eks import facts
from function.contracts.cloud.provisioner import Observation
from function.core import Manifest, dig

_PREFIXES = {
    "VPC": "vpc",
    "Subnet": "subnet",
    "InternetGateway": "igw",
    "EIP": "eipalloc",
    "NATGateway": "nat",
    "RouteTable": "rtb",
    "RouteTableAssociation": "rtbassoc",
    "SecurityGroup": "sg",
    "SecurityGroupIngressRule": "sgr",
    "SecurityGroupEgressRule": "sgr",
    "LaunchTemplate": "lt",
    "FileSystem": "fs",
    "MountTarget": "fsmt",
}
"""Prefixes of the ids that AWS gives. Other resources have their names as ids."""


def observe(manifest: Manifest) -> Observation:
    """Return what becomes of a resource. See Provisioner.observe."""
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    prefix = _PREFIXES.get(kind)
    seen: dict[str, Any] = {"id": _id(prefix, name) if prefix else name}
    if kind == "LaunchTemplate":
        seen["latestVersion"] = 1
    if kind == "NodeGroup":
        seen["scalingConfig"] = _sizes(manifest)
    if kind == "Cluster":
        seen |= {
            "status": "ACTIVE",
            "version": dig(manifest, "spec", "forProvider", "version"),
            "vpcConfig": {"clusterSecurityGroupId": _id("sg", name)},
        }
    if kind == "ClusterAuth":
        return Observation(connection={facts.KUBECONFIG: "a kubeconfig"})
    invented = [str(seen["id"])] if prefix else []
    invented += [_id("sg", name)] if kind == "Cluster" else []
    return Observation(at_provider=seen, invented=tuple(invented))


def _sizes(manifest: Manifest) -> Any:
    """The sizes of a node group: those that are written, else those of its creation."""
    written = dig(manifest, "spec", "forProvider", "scalingConfig")
    return written or dig(manifest, "spec", "initProvider", "scalingConfig")


def _id(prefix: str, name: str) -> str:
    return f"{prefix}-0{hashlib.sha256(name.encode()).hexdigest()[:16]}"
