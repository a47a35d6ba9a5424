"""The nodes of an EKSCluster: a launch template and a managed node group for each pool, and for the system pool.

A template says what an instance is, a group how many there are and where. EKS replaces the nodes of a group whose
template has a new version; here a template keeps its content (see LAUNCH_TEMPLATE), so nodes are replaced only when
their Kubernetes version is upgraded.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.clouds.eks import control_plane, facts, identity, instances, kinds, network, scaling, zones
from function.clouds.eks.blocks import Machine
from function.clouds.eks.model import Pool, Spec
from function.contracts.cloud import composition, nodes
from function.contracts.cloud.nodepool import NodePool, Taint
from function.contracts.cloud.site import Resource, Site

_EFA_GROUP = "efa-security-group"
_EFA_RULES = ("efa-ingress", "efa-egress")

_NO_DEVICE_PLUGIN = base64.b64encode(b"[settings.kubelet-device-plugins.nvidia]\nenabled = false\n").decode()
"""User data for Bottlerocket, from 1.63 on. Its images with NVIDIA's driver have NVIDIA's device plugin, which would
offer the GPUs that the DRA driver offers (EKS user guide, "Use the NVIDIA DRA driver or device plugin")."""


def is_efa(pool: NodePool) -> bool:
    return pool.fabric is not None and pool.fabric.type == "EFA"


def resources(site: Site, spec: Spec, home: Sequence[str]) -> Iterator[Resource]:
    """Yield the system pool and the node pools."""
    yield from _system_pool(site, spec, home)
    if any(map(is_efa, spec.nodePools)):
        yield from _efa_security_group(site, spec)
    for pool in spec.nodePools:
        yield from _pool(site, spec, pool, home)


def _system_pool(site: Site, spec: Spec, home: Sequence[str]) -> Iterator[Resource]:
    """Nodes for what needs no device, spread over the home zones. They grow with the replicas' endpoint pickers."""
    size = spec.systemPool.instanceType
    machine = Machine(instanceType=size, diskSizeGb=facts.SYSTEM_DISK, amiType=facts.SYSTEM_IMAGE)
    template = _template(site, spec, machine)
    yield site.resource(_template_key(nodes.SYSTEM_POOL), kinds.LAUNCH_TEMPLATE, template)
    group = {
        **_group(site, spec, nodes.SYSTEM_POOL, home),
        "amiType": facts.SYSTEM_IMAGE,
        "capacityType": "ON_DEMAND",
        "labels": nodes.node_labels(nodes.SYSTEM_POOL),
        "updateConfig": {"maxUnavailable": 1},
    }
    yield _node_group(site, nodes.SYSTEM_POOL, group, scaling.SYSTEM, _after(home))


def _pool(site: Site, spec: Spec, pool: Pool, home: Sequence[str]) -> Iterator[Resource]:
    if _has_placement(pool):
        wanted = {"region": spec.region, "strategy": "cluster", "tags": site.tags}
        yield site.resource(_placement_key(pool), kinds.PLACEMENT_GROUP, wanted)
    yield _pool_template(site, spec, pool)
    letters = zones.of_pool(spec.region, pool, home)
    taints = [_taint(taint) for taint in nodes.taints(pool, pool.drivers)]
    group = {
        **_group(site, spec, pool.name, letters),
        "amiType": pool.machine.amiType,
        "capacityType": "CAPACITY_BLOCK" if pool.capacityBlock else "ON_DEMAND",
        "labels": nodes.node_labels(pool.name),
        **({"taint": taints} if taints else {}),
        # an update takes a node away before it adds one: there may be no more GPUs (EKS API, UpdateStrategy)
        "updateConfig": {"maxUnavailable": 1, "updateStrategy": "MINIMAL"},
    }
    yield _node_group(site, pool.name, group, scaling.of_pool(pool), _after(letters))


def _after(letters: Sequence[str]) -> tuple[str, ...]:
    """What nodes need in order to join."""
    granted = identity.granted(identity.NODE)
    return (control_plane.CLUSTER, *control_plane.BEFORE_NODES, *granted, *network.egress(letters))


def _taint(taint: Taint) -> dict[str, str]:
    value = {} if taint.value is None else {"value": taint.value}
    return {"key": taint.key, **value, "effect": nodes.UPPER_CASE[taint.effect]}


# Node groups


def _group(site: Site, spec: Spec, pool: str, letters: Sequence[str]) -> dict[str, Any]:
    return {
        "region": spec.region,
        "clusterNameRef": site.ref(control_plane.CLUSTER),
        "nodeRoleArnRef": site.ref(identity.role(identity.NODE)),
        "subnetIdRefs": site.refs([network.subnet(letter) for letter in letters]),
        "tags": {**site.tags, "modelplane-pool": pool},
    }


def _node_group(
    site: Site, pool: str, wanted: Mapping[str, Any], sizes: scaling.Sizes, after: Sequence[str]
) -> Resource:
    """A group with the newest version of its template, and the Kubernetes version that the control plane runs."""
    key = control_plane.SYSTEM_POOL if pool == nodes.SYSTEM_POOL else composition.pool_key(pool)
    template = _template_key(pool)
    id_, newest = site.seen(template, "id"), site.seen(template, "latestVersion")
    running = site.seen(control_plane.CLUSTER, "version")
    after = (*after, template)
    if not id_ or not newest or not running:
        what = "the version of its launch template" if running else "the version of the cluster"
        return site.awaiting(key, kinds.NODE_GROUP, what, after=after)
    scaled, initial = scaling.written(site, key, sizes)
    made_from = {"launchTemplate": {"id": id_, "version": str(int(newest))}, "version": running}
    return site.resource(
        key,
        kinds.NODE_GROUP,
        {**wanted, **scaled, **made_from},
        init_provider=initial,
        after=after,
        late_initialization=False,  # it would bring back the taints that a pool has given up
    )


# Launch templates


def _template_key(pool: str) -> str:
    return f"template-{pool}"


def _template(site: Site, spec: Spec, machine: Machine, pool: str = nodes.SYSTEM_POOL) -> dict[str, Any]:
    """Without interfaces, EKS gives the nodes the security group of the cluster (user guide, launch templates).

    Pods cannot take the rights of their node: its metadata answers no packet that comes from one hop further away. The
    CSI drivers then ask Kubernetes instead (their pkg/cloud/{k8s_metadata,metadata}.go).
    """
    is_bottlerocket = machine.amiType.startswith("BOTTLEROCKET")
    disk = {"volumeSize": machine.diskSizeGb, "volumeType": "gp3", "encrypted": "true", "deleteOnTermination": "true"}
    tags = {**site.tags, "modelplane-pool": pool}
    return {
        "region": spec.region,
        "name": site.name(_template_key(pool)),
        "instanceType": machine.instanceType,
        # images and containers of Bottlerocket are on its second volume (its README, "Default Volumes")
        "blockDeviceMappings": [{"deviceName": "/dev/xvdb" if is_bottlerocket else "/dev/xvda", "ebs": disk}],
        **({"userData": _NO_DEVICE_PLUGIN} if is_bottlerocket else {}),
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
        "tagSpecifications": [{"resourceType": type_, "tags": tags} for type_ in ("instance", "volume")],
        "tags": tags,
    }


def _pool_template(site: Site, spec: Spec, pool: Pool) -> Resource:
    key = _template_key(pool.name)
    wanted = _template(site, spec, pool.machine, pool.name)
    after: tuple[str, ...] = ()
    if _has_placement(pool):
        wanted["placement"] = {"groupName": site.name(_placement_key(pool))}
        after = (_placement_key(pool),)
    if pool.capacityBlock:
        target = {"capacityReservationId": pool.capacityBlock.capacityReservationId}
        wanted["instanceMarketOptions"] = {"marketType": "capacity-block"}
        wanted["capacityReservationSpecification"] = {"capacityReservationTarget": target}
    if is_efa(pool):
        after = (*after, control_plane.CLUSTER, _EFA_GROUP, *_EFA_RULES)
        groups = _security_groups(site)
        if not all(groups):
            return site.awaiting(key, kinds.LAUNCH_TEMPLATE, "the ids of the security groups", after=after)
        wanted["networkInterfaces"] = instances.interfaces(pool.machine.instanceType, groups)
    return site.resource(key, kinds.LAUNCH_TEMPLATE, wanted, after=after)


# EFA


def _security_groups(site: Site) -> list[str]:
    """The ids of the groups of every interface: EKS adds that of the cluster to none that a template describes."""
    of_cluster = site.seen(control_plane.CLUSTER, "vpcConfig", "clusterSecurityGroupId")
    return [of_cluster, site.seen(_EFA_GROUP, "id")]


def _efa_security_group(site: Site, spec: Spec) -> Iterator[Resource]:
    """A group whose members send each other anything: so EFA wants it (EC2 user guide, "Get started with EFA")."""
    named = {"name": site.name(_EFA_GROUP), "description": "Traffic of EFA between nodes"}
    wanted = {"region": spec.region, "vpcIdRef": site.ref(network.NETWORK), **named, "tags": site.tags}
    yield site.resource(_EFA_GROUP, kinds.SECURITY_GROUP, wanted)
    itself = {"securityGroupIdRef": site.ref(_EFA_GROUP), "referencedSecurityGroupIdRef": site.ref(_EFA_GROUP)}
    anything = {"region": spec.region, **itself, "ipProtocol": "-1", "tags": site.tags}
    for key, kind in zip(_EFA_RULES, (kinds.INGRESS_RULE, kinds.EGRESS_RULE), strict=True):
        yield site.resource(key, kind, anything)


def _has_placement(pool: Pool) -> bool:
    """Whether nodes are placed close together. Those of a capacity block are so by themselves (EC2 user guide)."""
    return is_efa(pool) and pool.capacityBlock is None


def _placement_key(pool: Pool) -> str:
    return f"placement-{pool.name}"
