"""The check of volume types that restricted allows."""

from __future__ import annotations

from collections.abc import Iterator

from function.podspec.security.pod import Place, Pod
from function.podspec.security.violation import Found

_ALLOWED = (
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)


def types(pod: Pod) -> Iterator[Found]:
    """As in Kubernetes, a volume of an allowed type passes whatever else it has: a pod with two types in one volume is
    refused by the API server."""
    for volume in pod.spec.items("volumes"):
        if not any(map(volume.at, _ALLOWED)):
            what = f"must be a volume of type {', '.join(_ALLOWED[:-1])} or {_ALLOWED[-1]}"
            yield Found("", _field(volume), what)


def _field(volume: Place) -> str:
    """Return the path of the type of a volume; of the volume if it has none."""
    found = sorted(field for field in volume.content if isinstance(field, str) and volume.at(field))
    return volume.field(*found[:1])
