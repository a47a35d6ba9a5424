"""Volumes for weights, and the Jobs that fill them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests import pods
from function.manifests.metadata import metadata, pod_metadata
from function.vocabulary import versions

IS_BOUND = "has(object.status) && has(object.status.phase) && object.status.phase == 'Bound'"
"""CEL over a PersistentVolumeClaim: whether it is bound to a volume."""
IS_COMPLETE = (
    "has(object.status) && has(object.status.conditions)"
    " && object.status.conditions.exists(c, c.type == 'Complete' && c.status == 'True')"
)
"""CEL over a Job. SuccessCriteriaMet would be too early: it is set before the Job's pods have ended."""


def shared_claim(
    *, name: str, namespace: str, storage_class: str, size: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return a claim for a volume that pods on many nodes may mount."""
    return {
        "apiVersion": versions.CORE,
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": size}},
        },
    }


def claim_of_others(*, name: str, namespace: str) -> dict[str, Any]:
    """Return a claim that someone else made, as an Object names it to observe it."""
    return {
        "apiVersion": versions.CORE,
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(name=name, namespace=namespace),
    }


def job(
    *,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    container: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    tolerations: Sequence[Mapping[str, Any]],
    user: int,
    final_codes: Sequence[int],
    retries: int,
    deadline: int,
) -> dict[str, Any]:
    """Return a Job that is retried with back-off, but not after one of `final_codes`.

    `deadline` is in seconds, over all tries. It has no TTL: the provider would create a Job again that Kubernetes
    deleted. No autoscaler takes its node away: it may have downloaded for hours.
    """
    return {
        "apiVersion": versions.BATCH,
        "kind": "Job",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "backoffLimit": retries,
            "activeDeadlineSeconds": deadline,
            "podFailurePolicy": {"rules": [_DISRUPTION, _final(container["name"], final_codes)]},
            "template": {
                "metadata": pod_metadata(labels=labels, annotations=pods.STAYS),
                "spec": _pod(container=container, volumes=volumes, tolerations=tolerations, user=user),
            },
        },
    }


_DISRUPTION = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
"""A drained or preempted pod does not count as a try."""


def _final(container: str, codes: Sequence[int]) -> dict[str, Any]:
    """Fail the Job on exit codes after which a retry is pointless."""
    return {
        "action": "FailJob",
        "onExitCodes": {"containerName": container, "operator": "In", "values": sorted(codes)},
    }


def _pod(
    *,
    container: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    tolerations: Sequence[Mapping[str, Any]],
    user: int,
) -> dict[str, Any]:
    """Return the Job's pod.

    Its volumes belong to the user if their storage supports that. It is never restarted, so that its exit code counts.
    """
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": user,
            "runAsGroup": user,
            "fsGroup": user,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "tolerations": [dict(toleration) for toleration in tolerations],
        "containers": [dict(container)],
        "volumes": [dict(volume) for volume in volumes],
    }


def batch_container(
    *,
    name: str,
    image: str,
    args: Sequence[str],
    env: Sequence[Mapping[str, Any]],
    requests: Mapping[str, str],
    mounts: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return a container that runs our image, confined, and writes only to its mounts."""
    return {
        "name": name,
        "image": image,
        "command": ["modelplane"],
        "args": list(args),
        "env": [dict(e) for e in env],
        "resources": {"requests": dict(requests)},
        "securityContext": {**pods.CONFINED, "readOnlyRootFilesystem": True},
        "volumeMounts": [dict(mount) for mount in mounts],
    }


def scratch_volume(*, name: str) -> dict[str, Any]:
    return {"name": name, "emptyDir": {}}


def secret_volume(*, name: str, secret: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return a volume with some keys of a Secret as files."""
    return {"name": name, "secret": {"secretName": secret, "items": [{"key": key, "path": key} for key in keys]}}
