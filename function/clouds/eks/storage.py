"""The storage of an EKSCluster: EFS for ModelCaches, and EBS as the default of everything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from function.clouds.eks import control_plane, facts, kinds, network
from function.clouds.eks.model import Spec
from function.contracts.cloud.site import Resource, Site
from function.vocabulary import versions

STORAGE = "storage"
CLASS = "modelplane-efs"
"""The StorageClass for ModelCaches."""
_FILES, _GROUP, _RULE = "file-system", "storage-security-group", "storage-ingress"
_NFS = 2049


def resources(site: Site, spec: Spec, letters: Sequence[str]) -> Iterator[Resource]:
    """Yield a file system that is mounted in every zone, and the StorageClasses."""
    wanted = {"region": spec.region, "encrypted": True, "throughputMode": "elastic", "tags": site.tags}
    yield site.resource(_FILES, kinds.FILE_SYSTEM, wanted)
    yield from _security_group(site, spec)
    for letter in letters:
        yield _mount_target(site, spec, letter)
    yield _default_class(site)
    yield _shared_class(site, [_target(letter) for letter in letters])


def _security_group(site: Site, spec: Spec) -> Iterator[Resource]:
    named = {"name": site.name(_GROUP), "description": "NFS from the nodes"}
    wanted = {"region": spec.region, "vpcIdRef": site.ref(network.NETWORK), **named, "tags": site.tags}
    yield site.resource(_GROUP, kinds.SECURITY_GROUP, wanted)
    rule = {
        "region": spec.region,
        "securityGroupIdRef": site.ref(_GROUP),
        "cidrIpv4": spec.network.cidr,
        "ipProtocol": "tcp",
        "fromPort": _NFS,
        "toPort": _NFS,
        "tags": site.tags,
    }
    yield site.resource(_RULE, kinds.INGRESS_RULE, rule)


def _target(letter: str) -> str:
    return f"mount-target-{letter}"


def _mount_target(site: Site, spec: Spec, letter: str) -> Resource:
    wanted = {
        "region": spec.region,
        "fileSystemIdRef": site.ref(_FILES),
        "subnetIdRef": site.ref(network.subnet(letter)),
        "securityGroupsRefs": site.refs([_GROUP]),
    }
    return site.resource(_target(letter), kinds.MOUNT_TARGET, wanted)


def _default_class(site: Site) -> Resource:
    """Without a default class, volumes such as those of Prometheus stay pending: EKS has had none since 1.30."""
    manifest = {
        "apiVersion": versions.STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": "gp3", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "ebs.csi.aws.com",
        "parameters": {"type": "gp3", "encrypted": "true"},
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
    return site.object("default-storage", manifest, after=[control_plane.KUBECONFIG, control_plane.EBS])


def _shared_class(site: Site, targets: Sequence[str]) -> Resource:
    """Each volume is an access point with a directory of its own. Its size means nothing to EFS."""
    after = (control_plane.KUBECONFIG, control_plane.EFS, _RULE, *targets)
    files = site.seen(_FILES, "id")
    if not files:
        return site.awaiting(STORAGE, None, "the id of the file system", after=after)
    user = str(facts.CACHE_USER)
    manifest = {
        "apiVersion": versions.STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": CLASS},
        "provisioner": "efs.csi.aws.com",
        "parameters": {
            "provisioningMode": "efs-ap",
            "fileSystemId": files,
            "directoryPerms": "700",
            "uid": user,
            "gid": user,
        },
        "volumeBindingMode": "Immediate",
    }
    return site.object(STORAGE, manifest, after=after)
