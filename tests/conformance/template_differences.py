"""Where we judge pod templates otherwise than Kubernetes does, on purpose: each with a template that shows it.

- `COARSE`: we check types only, and the API server of the cluster refuses more.
- `OURS`: Kubernetes accepts what we refuse, since such pods never run as they are meant, or since a field is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.samples import TEMPLATE, Object, edited

_IN = "spec.containers.0"
_CONTAINERS = r"spec\.(initContainers|containers)\[\d+\]"
_OLD = (
    "awsElasticBlockStore|azureDisk|azureFile|cephfs|cinder|fc|flexVolume|flocker|gcePersistentDisk|glusterfs|iscsi"
    "|photonPersistentDisk|portworxVolume|quobyte|rbd|scaleIO|storageos|vsphereVolume"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """A kind of difference."""

    field: str
    """A pattern of the field that one of both refuses."""
    example: Object
    message: str = ""
    """A pattern in the message of the one that refuses."""


RESERVED = "reserved: "
"""What the messages of faults begin with that Kubernetes knows nothing of. Their own tests know each."""


def explains(differences: Iterable[Difference], field: str, message: str) -> bool:
    """Whether a refusal that the other does not share is on purpose."""
    return any(re.fullmatch(one.field, field) and re.search(one.message, message) for one in differences)


def _volume(**source: Any) -> Object:
    return edited(TEMPLATE, "spec.volumes", [{"name": "a", **source}])


def _claim(**spec: Any) -> Object:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return _volume(ephemeral={"volumeClaimTemplate": {"spec": claim}})


def _projected(**source: Any) -> Object:
    return _volume(projected={"sources": [source]})


_HOST_PROCESS = edited(TEMPLATE, "spec.securityContext.windowsOptions", {"hostProcess": True})

COARSE: Mapping[str, Difference] = {
    "volumes of storage that few engines use": Difference(
        rf"spec\.volumes\[\d+\]\.({_OLD})(\..*)?", _volume(flocker={})
    ),
    "profiles of Windows": Difference(
        r".*\.windowsOptions(\..*)?",
        edited(TEMPLATE, "spec.securityContext.windowsOptions", {"gmsaCredentialSpecName": "A"}),
    ),
    "processes of a Windows host": Difference(r"spec(\.hostNetwork)?", _HOST_PROCESS, "hostProcess"),
    "names of signals": Difference(
        rf"{_CONTAINERS}\.lifecycle\.stopSignal",
        edited(edited(TEMPLATE, "spec.os", {"name": "linux"}), f"{_IN}.lifecycle.stopSignal", "SIGNAL"),
    ),
    "sums of containers' resources": Difference(
        r"spec\.resources\.(requests|limits)(\[.*)?",
        edited(TEMPLATE, "spec.resources.requests", {"cpu": 1}),
        "aggregate",
    ),
    "sources of claims": Difference(
        r"spec\.volumes\[\d+\]\.ephemeral\.volumeClaimTemplate\.spec\.(dataSource|dataSourceRef)(\..*)?",
        _claim(dataSource={"kind": "A", "name": "a"}),
    ),
    "classes of volumes' attributes": Difference(
        r"spec\.volumes\[\d+\]\.ephemeral\.volumeClaimTemplate\.spec\.volumeAttributesClassName",
        _claim(volumeAttributesClassName="A"),
    ),
    "certificates of a cluster and of a pod": Difference(
        r"spec\.volumes\[\d+\]\.projected(\.sources\[\d+\]\.(clusterTrustBundle|podCertificate)(\..*)?)?",
        _projected(clusterTrustBundle={"name": "A", "path": "a"}),
    ),
    "annotations that once were fields": Difference(
        r"(annotations(\[.*)?|spec\..*(seccompProfile|appArmorProfile).*)",
        edited(TEMPLATE, "metadata.annotations", {"container.apparmor.security.beta.kubernetes.io/a": "unconfined"}),
    ),
    "a source that only a later Kubernetes knows": Difference(
        rf"({_CONTAINERS}\.(envFrom|env\[\d+\]\.valueFrom|lifecycle\.\w+)|spec\.resourceClaims\[\d+\])",
        edited(TEMPLATE, f"{_IN}.envFrom", [{"later": {}}]),
        "must specify",
    ),
    "annotations of claims": Difference(
        r"spec\.volumes\[\d+\]\.ephemeral\.volumeClaimTemplate\.metadata\.annotations",
        _volume(
            ephemeral={
                "volumeClaimTemplate": {
                    "metadata": {"annotations": {"a b": ""}},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                }
            }
        ),
    ),
}

OURS: Mapping[str, Difference] = {
    "which container is the engine": Difference(
        r"spec\.containers", edited(TEMPLATE, "spec.containers", [{"name": n, "image": "a"} for n in "ab"]), "engine"
    ),
    "an image that cannot be pulled": Difference(rf"{_CONTAINERS}\.image", edited(TEMPLATE, f"{_IN}.image", "A")),
    "a probe on a port that has no such name": Difference(
        rf"{_CONTAINERS}\.(\w+Probe|lifecycle\.\w+)\.\w+\.port",
        edited(TEMPLATE, f"{_IN}.readinessProbe.tcpSocket.port", "http"),
        "the name of a port of the container",
    ),
    "a variable twice": Difference(
        rf"{_CONTAINERS}\.env\[\d+\]", edited(TEMPLATE, f"{_IN}.env", [{"name": "A"}] * 2), "item above"
    ),
    "a key that no Secret or ConfigMap can have": Difference(
        r"spec\.volumes\[\d+\]\.(projected\.sources\[\d+\]\.)?(secret|configMap)\.items\[\d+\]\.key",
        _volume(secret={"secretName": "a", "items": [{"key": "a b", "path": "a"}]}),
    ),
    "a name that no object can have": Difference(
        rf"({_CONTAINERS}\.envFrom|spec\.volumes)\[\d+\]\.(.*\.)?(name|secretName|claimName|volumeName)",
        _volume(persistentVolumeClaim={"claimName": "A"}),
    ),
    "a field that the schema requires of storage that few engines use": Difference(
        rf"spec\.volumes\[\d+\]\.({_OLD})\..*",
        _volume(scaleIO={"gateway": "a", "system": "a", "volumeName": "a"}),
        "is required",
    ),
    "a pull secret that cannot be copied": Difference(
        r"spec\.imagePullSecrets\[\d+\]\.name", edited(TEMPLATE, "spec.imagePullSecrets", [{"name": "A"}])
    ),
    "a repository as a volume": Difference(
        r"spec\.volumes\[\d+\]\.gitRepo", _volume(gitRepo={"repository": "https://example.org/a"})
    ),
    "a volume of no source": Difference(r"spec\.volumes\[\d+\]", _volume(), "has none"),
    "a projection of no source": Difference(
        r"spec\.volumes\[\d+\]\.projected\.sources\[\d+\]", _projected(), "has none"
    ),
    "an emptyDir on a medium that kubelets do not know": Difference(
        r"spec\.volumes\[\d+\]\.emptyDir\.medium", _volume(emptyDir={"medium": "Disk"})
    ),
    "a value that the schema requires, and decoders leave at zero": Difference(
        r".*\.(sleep\.seconds|httpHeaders\[\d+\]\.value|sysctls\[\d+\]\.value|preference)",
        edited(TEMPLATE, f"{_IN}.lifecycle.preStop.sleep", {}),
        "is required",
    ),
    "an account by its old field beside the new one": Difference(
        r"spec\.serviceAccount", edited(TEMPLATE, "spec.serviceAccount", "A")
    ),
    "rules of restarts for an init container without a policy": Difference(
        r"spec\.initContainers\[\d+\]\.restartPolicyRules\[\d+\].*",
        edited(TEMPLATE, "spec.initContainers", [{"name": "a", "image": "a", "restartPolicyRules": [{}]}]),
    ),
    "two owners of one identity": Difference(
        r"(metadata|.*\.metadata)\.ownerReferences\[\d+\](\..*)?",
        edited(TEMPLATE, "metadata.ownerReferences", [{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "a"}] * 2),
    ),
    "pods of Windows": Difference(r"spec\.os\.name", edited(TEMPLATE, "spec.os", {"name": "windows"})),
    "a priority of Kubernetes' own": Difference(
        r"spec\.priorityClassName", edited(TEMPLATE, "spec.priorityClassName", "system-node-critical"), "system-"
    ),
    "more annotations than ours leave room for": Difference(
        r"metadata\.annotations", edited(TEMPLATE, "metadata.annotations", {"a": "x" * 255_000}), "bytes together"
    ),
    "more than an object holds": Difference(r"", edited(TEMPLATE, f"{_IN}.args", ["x" * 400_000]), "bytes as JSON"),
    "an init container with the name that the engine gets": Difference(
        r"spec\.initContainers\[\d+\]\.name",
        edited(
            edited(TEMPLATE, "spec.containers", [{"name": "a", "image": "a"}]),
            "spec.initContainers",
            [{"name": "engine", "image": "a"}],
        ),
        "the name that container .* gets",
    ),
    "a field of Modelplane's": Difference(r".*", edited(TEMPLATE, "spec.schedulerName", "a"), f"^{RESERVED}"),
}
