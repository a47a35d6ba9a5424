"""Kubernetes' own workloads, whose pods serve alone: Deployment, StatefulSet, ReplicaSet and Pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.conversion import deployment, pods
from function.conversion.notes import Notes, Path, items, mapping, others, text, whole

KINDS = {
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "ReplicaSet"),
    ("v1", "Pod"),
}
_TEMPLATE: Path = ("spec", "template")
_MEMBER: Path = ("spec", "engines", 0, "members", 0)
_DEFAULTS: Mapping[str, Any] = {
    "revisionHistoryLimit": 10,
    "progressDeadlineSeconds": 600,
    "podManagementPolicy": "OrderedReady",
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "minReadySeconds": 0,
    "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
}
"""What the API server fills in (k8s.io/kubernetes v1.36, pkg/apis/apps/v1/defaults.go)."""
_WHY: Mapping[str, str] = {
    "strategy": "Modelplane replaces one pod at a time, and needs no extra node for it",
    "updateStrategy": "Modelplane replaces one pod at a time, and needs no extra node for it",
    "serviceName": "pods have no names of their own to be reached by",
    "paused": "a rollout cannot be paused",
}
_NO_COUNTERPART = "has no counterpart"


def converted(source: Mapping[str, Any], notes: Notes) -> list[dict[str, Any]]:
    """Return the ModelDeployment of a workload. Raises NotConvertible."""
    meta = deployment.metadata(source, notes)
    is_pod = source["kind"] == "Pod"
    raw = (
        {"metadata": source["metadata"], "spec": source.get("spec")}
        if is_pod
        else mapping(source, "spec").get("template")
    )
    template = _with_claims(raw, source, notes)
    at: Path = () if is_pod else _TEMPLATE
    parts = pods.member(template, notes.at(at, _MEMBER), is_dump=is_dump(source))
    notes.carried(at or ("spec",), (*_MEMBER, "template"))
    if not is_pod:
        deployment.pass_to_pods(source, parts.template, (*_MEMBER, "template"), notes)
    count = None if is_pod else whole(source, "spec", "replicas")
    replicas = deployment.replicas(count, ("spec", "replicas"), notes)
    if not is_pod:
        _others(source, notes)
    deployment.without_devices(parts, at, notes)
    engine = {"name": deployment.engine_name(parts.container), "members": [deployment.member(parts)]}
    return [deployment.model_deployment(meta, [engine], replicas=replicas, clusters=parts.clusters)]


def is_dump(source: Mapping[str, Any]) -> bool:
    """Whether an object was read from an API server, which fills in defaults."""
    return "uid" in source["metadata"] or "resourceVersion" in source["metadata"]


def _others(source: Mapping[str, Any], notes: Notes) -> None:
    spec = mapping(source, "spec")
    for name in others(spec, {"replicas", "template", "selector", "volumeClaimTemplates"}):
        if spec[name] is not None and spec[name] != _DEFAULTS.get(name):
            notes.lost(("spec", name), _WHY.get(name, _NO_COUNTERPART))


def _with_claims(template: Any, source: Mapping[str, Any], notes: Notes) -> Any:
    """Return a pod template with the volumeClaimTemplates of a StatefulSet as volumes of the pods."""
    claims = items(source, "spec", "volumeClaimTemplates") if source["kind"] == "StatefulSet" else []
    if not claims:
        return template
    volumes = []
    for index, claim in enumerate(claims):
        at: Path = ("spec", "volumeClaimTemplates", index)
        name = text(claim, "metadata", "name", at=at)
        written = {"spec": mapping(claim, "spec", at=at)}
        metadata = {k: v for k in ("labels", "annotations") if (v := mapping(claim, "metadata", k, at=at))}
        if metadata:
            written["metadata"] = metadata
        volumes.append({"name": name, "ephemeral": {"volumeClaimTemplate": written}})
        position = len(items(template, "spec", "volumes", at=_TEMPLATE)) + index
        target = (*_MEMBER, "template", "spec", "volumes", position)
        notes.changed(at, target, "is an ephemeral volume: its claim is deleted with the pod")
    spec = mapping(template, "spec", at=_TEMPLATE)
    own = items(spec, "volumes", at=(*_TEMPLATE, "spec"))
    return {**mapping(template, at=_TEMPLATE), "spec": {**spec, "volumes": [*own, *volumes]}}
