"""Volumes, and where containers mount them."""

from __future__ import annotations

from typing import Any

from tests.support.samples import TEMPLATE, Object, edited

MOUNTS = "spec.containers.0.volumeMounts"
AT = "spec.containers[0].volumeMounts[0]"
SCRATCH = {"name": "scratch", "emptyDir": {}}
ITEM = {"key": "a", "path": "a"}
_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}


def having(*volumes: Any) -> Object:
    return edited(TEMPLATE, "spec.volumes", list(volumes))


def mounting(*volumes: Any, **mount: Any) -> Object:
    return edited(having(*volumes), MOUNTS, [{"name": "scratch", "mountPath": "/scratch", **mount}])


def ephemeral(**spec: Any) -> Object:
    claim = {key: value for key, value in (_CLAIM | spec).items() if value is not None}
    return having({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}})


GOOD = {
    "every volume that engines use": having(
        {"name": "a", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}},
        {"name": "b", "configMap": {"name": "b", "items": [ITEM], "defaultMode": 0o440}},
        {"name": "c", "secret": {"secretName": "c", "optional": True}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "d", "readOnly": True}},
        {"name": "e", "hostPath": {"path": "/dev/infiniband", "type": "Directory"}},
        {"name": "f", "nfs": {"server": "nfs.example.org", "path": "/f"}},
        {"name": "g", "csi": {"driver": "s3.csi.aws.com", "nodePublishSecretRef": {"name": "g"}}},
        {"name": "h", "ephemeral": {"volumeClaimTemplate": {"spec": _CLAIM}}},
        {
            "name": "i",
            "projected": {
                "sources": [
                    {"secret": {"name": "i"}},
                    {"configMap": {"name": "i", "items": [ITEM]}},
                    {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
                    {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
                ]
            },
        },
    ),
    "a mount of a folder": mounting(SCRATCH, subPath="a/b", readOnly=True),
    "a mount with a colon": mounting(SCRATCH, mountPath="/a:b"),
    "the default storage class": ephemeral(storageClassName=""),
    "a block device": edited(
        having({"name": "disk", "persistentVolumeClaim": {"claimName": "disk"}}),
        "spec.containers.0.volumeDevices",
        [{"name": "disk", "devicePath": "/dev/xvda"}],
    ),
}

BAD = {
    "a mount of no volume": (mounting(), f"{AT}.name: names no volume of spec.volumes, scratch"),
    "a mount of a mistyped volume": (
        mounting({"name": "scratch1", "emptyDir": {}}),
        f"{AT}.name: names no volume of spec.volumes, scratch; did you mean scratch1?",
    ),
    "two mounts at one path": (
        edited(having(SCRATCH), MOUNTS, [{"name": "scratch", "mountPath": "/a"}] * 2),
        "spec.containers[0].volumeMounts[1]: has the mountPath of an item above it, /a; each needs its own",
    ),
    "a folder above the volume": (
        mounting(SCRATCH, subPath="../a"),
        f"{AT}.subPath: must be a relative path without ..",
    ),
    "a folder by path and by expression": (
        mounting(SCRATCH, subPath="a", subPathExpr="$(A)"),
        f"{AT}.subPathExpr: cannot be set together with subPath",
    ),
    "a mount that is passed to the node": (
        mounting(SCRATCH, mountPropagation="Bidirectional"),
        f"{AT}.mountPropagation: can be Bidirectional only in a privileged container",
    ),
    "read-only below what can be written": (
        mounting(SCRATCH, recursiveReadOnly="Enabled"),
        f"{AT}.recursiveReadOnly: needs readOnly: true",
    ),
    "a volume of no source": (
        having({"name": "scratch"}),
        (
            "spec.volumes[0]: must have exactly one of emptyDir, configMap, secret, persistentVolumeClaim,"
            " projected, hostPath, nfs, csi, …, and has none"
        ),
    ),
    "a volume of two sources": (
        having({**SCRATCH, "configMap": {"name": "a"}}),
        (
            "spec.volumes[0]: must have exactly one of emptyDir, configMap, secret, persistentVolumeClaim,"
            " projected, hostPath, nfs, csi, …, and has emptyDir and configMap"
        ),
    ),
    "two volumes of one name": (
        having(SCRATCH, SCRATCH),
        "spec.volumes[1]: has the name of an item above it, scratch; each needs its own",
    ),
    "a volume of Modelplane's": (
        having({"name": "modelplane-models", "emptyDir": {}}),
        "spec.volumes[0].name: begins with modelplane-, as names that Modelplane gives do; choose another",
    ),
    "a file above the volume": (
        having({"name": "a", "configMap": {"name": "a", "items": [{"key": "a", "path": "../a"}]}}),
        'spec.volumes[0].configMap.items[0].path: must be a relative path without .., not "../a"',
    ),
    "two files at one path": (
        having(
            {
                "name": "a",
                "projected": {"sources": [{k: {"name": "a", "items": [ITEM]}} for k in ("secret", "configMap")]},
            }
        ),
        "spec.volumes[0].projected.sources[1].configMap.items[0].path: is the path of a file above it, a",
    ),
    "a mode in decimal": (
        having({"name": "a", "secret": {"secretName": "a", "defaultMode": 777}}),
        "spec.volumes[0].secret.defaultMode: must be a whole number from 0 to 511, which is 0777 in octal, not 777",
    ),
    "a file of a field that files cannot have": (
        having({"name": "a", "downwardAPI": {"items": [{"path": "a", "fieldRef": {"fieldPath": "status.podIP"}}]}}),
        (
            "spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath: must be metadata.labels['<key>'],"
            " metadata.annotations['<key>'], metadata.name, metadata.namespace, metadata.uid, metadata.labels or"
            ' metadata.annotations, not "status.podIP"'
        ),
    ),
    "a folder of the node above another": (
        having({"name": "a", "hostPath": {"path": "/a/../b"}}),
        'spec.volumes[0].hostPath.path: must be a path without .., not "/a/../b"',
    ),
    "a claim without an amount": (
        ephemeral(resources={}),
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests.storage: is required",
    ),
    "a claim without a mode": (
        ephemeral(accessModes=[]),
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: must have at least 1 item, not 0",
    ),
    "a mode of one's own": (
        ephemeral(accessModes=["ReadMany"]),
        (
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes[0]: must be one of ReadWriteOnce,"
            ' ReadOnlyMany, ReadWriteMany, ReadWriteOncePod, not "ReadMany"'
        ),
    ),
    "a repository": (
        having({"name": "a", "gitRepo": {"repository": "https://example.org/a"}}),
        "spec.volumes[0].gitRepo: is disabled in Kubernetes; clone in an init container",
    ),
    "a scratch volume as a device": (
        edited(having(SCRATCH), "spec.containers.0.volumeDevices", [{"name": "scratch", "devicePath": "/dev/a"}]),
        "spec.containers[0].volumeDevices[0].name: must be a volume with a persistentVolumeClaim, or an ephemeral one",
    ),
}
