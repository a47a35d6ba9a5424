"""Workloads: Deployments and LeaderWorkerSets, and when they are ready."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import dig_fields
from function.manifests.metadata import metadata
from function.vocabulary import versions

DEPLOYMENT_DONE = (
    "has(object.status) && has(object.status.observedGeneration)"
    " && object.status.observedGeneration >= object.metadata.generation"
    " && has(object.status.updatedReplicas) && object.status.updatedReplicas == object.spec.replicas"
    " && has(object.status.availableReplicas) && object.status.availableReplicas == object.spec.replicas"
    " && has(object.status.replicas) && object.status.replicas == object.spec.replicas"
)
"""CEL over a Deployment: all copies run the current spec. Its condition Available does not tell: with maxUnavailable 1
and one copy, it is True before any pod runs."""
LEADERWORKERSET_DONE = (
    "has(object.status) && has(object.status.conditions)"
    ' && object.status.conditions.exists(c, c.type == "Available" && c.status == "True")'
    " && has(object.status.updatedReplicas) && object.status.updatedReplicas == object.spec.replicas"
    " && has(object.status.readyReplicas) && object.status.readyReplicas == object.spec.replicas"
    " && (!has(object.status.observedGeneration) || object.status.observedGeneration >= object.metadata.generation)"
)
"""CEL over a LeaderWorkerSet: all groups run the current spec. Before lws v0.9 there is no observedGeneration."""

RECREATE: Mapping[str, Any] = {"type": "Recreate"}
"""Remove the old pod before creating the new one."""
WITHOUT_SURGE: Mapping[str, Any] = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
"""Replace one pod at a time, in its place: never ask for a node that nobody reserved."""


def deployment(
    *,
    name: str,
    namespace: str,
    copies: int,
    selector: Mapping[str, str],
    strategy: Mapping[str, Any],
    pod: Mapping[str, Any],
    labels: Mapping[str, str] | None = None,
    progress_deadline_seconds: int | None = None,
) -> dict[str, Any]:
    """Return a Deployment."""
    deadline = {"progressDeadlineSeconds": progress_deadline_seconds} if progress_deadline_seconds else {}
    return {
        "apiVersion": versions.APPS,
        "kind": "Deployment",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "replicas": copies,
            "selector": {"matchLabels": dict(selector)},
            "strategy": dict(strategy),
            **deadline,
            "template": dict(pod),
        },
    }


def leader_worker_set(
    *,
    name: str,
    namespace: str,
    copies: int,
    size: int,
    leader: Mapping[str, Any],
    worker: Mapping[str, Any],
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    startup_policy: str = "LeaderCreated",
    restart_policy: str = "RecreateGroupOnPodRestart",
    sub_group_policy: Mapping[str, Any] | None = None,
    network_config: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return groups of pods that serve as one.

    `size` counts the leader. They roll one group at a time, without surge.
    """
    return {
        "apiVersion": versions.LEADERWORKERSET,
        "kind": "LeaderWorkerSet",
        "metadata": metadata(name=name, namespace=namespace, labels=labels, annotations=annotations),
        "spec": {
            "replicas": copies,
            "startupPolicy": startup_policy,
            **({"networkConfig": dict(network_config)} if network_config else {}),
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": 1},
            },
            "leaderWorkerTemplate": {
                "size": size,
                "restartPolicy": restart_policy,
                **({"subGroupPolicy": dict(sub_group_policy)} if sub_group_policy else {}),
                "leaderTemplate": dict(leader),
                "workerTemplate": dict(worker),
            },
        },
    }


def pod_templates(workload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the templates of a workload's pods: of a gang, the leader's and the worker's."""
    spec: Mapping[str, Any] = workload["spec"]
    gang: Mapping[str, Any] | None = spec.get("leaderWorkerTemplate")
    return [gang["leaderTemplate"], gang["workerTemplate"]] if gang else [spec["template"]]


def without_claims(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod's spec that claims no devices and no new volumes.

    A cluster makes the claim of an ephemeral volume at once, even for a pod that is never scheduled. So each becomes a
    claim that is only named, which the same levels of Pod Security allow.
    """
    spec = {field: value for field, value in pod.items() if field != "resourceClaims"}
    if "volumes" in spec:
        spec["volumes"] = [_named_claim(volume) if "ephemeral" in volume else volume for volume in spec["volumes"]]
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_without_claims(container) for container in spec[field]]
    return spec


def _named_claim(volume: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": volume["name"], "persistentVolumeClaim": {"claimName": volume["name"]}}


def _without_claims(container: Mapping[str, Any]) -> dict[str, Any]:
    resources = {name: value for name, value in dig_fields(container, "resources").items() if name != "claims"}
    others = {field: value for field, value in container.items() if field != "resources"}
    return {**others, **({"resources": resources} if resources else {})}
