"""LeaderWorkerSets, whose groups of pods serve together.

A group of `size` pods is one leader and `size - 1` workers, and becomes a gang. Without a leaderTemplate the leader has
the template of the workers. The pods of a gang get LeaderWorkerSet's own variables, such as LWS_LEADER_ADDRESS, because
Modelplane makes a LeaderWorkerSet of them.

What else LeaderWorkerSet is told of a group goes into `leaderWorkerSet` of the engine, with the labels and annotations
that are read from a LeaderWorkerSet. A group of one pod has no such settings.

Source: leaderworkerset.x-k8s.io/v1, LeaderWorkerSet v0.10.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from function.api.leader_worker_set import LWS_DOMAIN, is_of_workload
from function.conversion import deployment, pods
from function.conversion.kubernetes import is_dump
from function.conversion.notes import NotConvertible, Notes, Path, mapping, others, texts, whole

KINDS = {("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")}
_TEMPLATES: Path = ("spec", "leaderWorkerTemplate")
_ENGINE: Path = ("spec", "engines", 0)
_LEADER: Path = (*_ENGINE, "members", 0)
_WORKER: Path = (*_ENGINE, "members", 1)
_MOST_WORKERS = 63
_DEFAULTS: Mapping[str, Any] = {
    "startupPolicy": "LeaderCreated",
    "rolloutStrategy": {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    },
    "networkConfig": {"subdomainPolicy": "Shared"},
    "restartPolicy": "RecreateGroupOnPodRestart",
}
"""What the webhook fills in, and what Modelplane sets as well."""
_SETTINGS: Mapping[str, Path] = {
    "startupPolicy": ("spec",),
    "networkConfig": ("spec",),
    "restartPolicy": _TEMPLATES,
    "subGroupPolicy": _TEMPLATES,
}
"""Fields that an engine has by the same name in `leaderWorkerSet`, and where they are."""
_INTO: Path = (*_ENGINE, "leaderWorkerSet")
_DEPRECATED = "Default"


def converted(source: Mapping[str, Any], notes: Notes) -> list[dict[str, Any]]:
    """Return the ModelDeployment of a LeaderWorkerSet. Raises NotConvertible."""
    templates = mapping(source, *_TEMPLATES)
    size = whole(templates, "size", at=_TEMPLATES)
    size = 1 if size is None else size
    if size < 1:
        raise NotConvertible((*_TEMPLATES, "size"), "must be at least 1")
    settings = _settings(source, notes) if size > 1 else {}
    meta = deployment.metadata(_without_moved(source, settings), notes)
    lead = "leaderTemplate" if templates.get("leaderTemplate") is not None else "workerTemplate"
    dump = is_dump(source)
    leader = pods.member(templates.get(lead), notes.at((*_TEMPLATES, lead), _LEADER), is_dump=dump)
    notes.carried((*_TEMPLATES, lead), (*_LEADER, "template"))
    replicas = deployment.replicas(whole(source, "spec", "replicas"), ("spec", "replicas"), notes)
    _others(source, templates, settings, notes)
    clusters = dict(leader.clusters)
    if size == 1:
        notes.changed((*_TEMPLATES, "size"), _LEADER, "a group of one pod is a Standalone member")
        members = [deployment.member(leader)]
        has_devices = bool(leader.devices)
    else:
        worker = _worker(templates, lead, leader, notes, is_dump=dump)
        clusters |= worker.clusters
        members = [
            deployment.member(leader, "Leader"),
            deployment.member(worker, "Worker", workers=_workers(size, notes)),
        ]
        has_devices = bool(leader.devices or worker.devices)
    if not has_devices:
        deployment.without_devices(leader, (*_TEMPLATES, lead), notes)
    engine = {
        "name": deployment.engine_name(leader.container),
        **({"leaderWorkerSet": settings} if settings else {}),
        "members": members,
    }
    return [deployment.model_deployment(meta, [engine], replicas=replicas, clusters=clusters)]


def _worker(
    templates: Mapping[str, Any], lead: str, leader: pods.MemberParts, notes: Notes, *, is_dump: bool
) -> pods.MemberParts:
    at = (*_TEMPLATES, "workerTemplate")
    if lead == "workerTemplate":
        notes.carried(at, (*_WORKER, "template"), "the leader and the workers have the same template")
        return copy.deepcopy(leader)
    worker = pods.member(templates.get("workerTemplate"), notes.at(at, _WORKER), is_dump=is_dump)
    notes.carried(at, (*_WORKER, "template"))
    return worker


def _workers(size: int, notes: Notes) -> int:
    at = (*_TEMPLATES, "size")
    if size - 1 > _MOST_WORKERS:
        notes.lost(at, f"a gang has up to {_MOST_WORKERS} workers")
        return _MOST_WORKERS
    notes.changed(
        at, (*_WORKER, "worker", "nodes"), "the leader is not counted; each pod of a gang has a node of its own"
    )
    return size - 1


def _settings(source: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    """Return what is told of a gang."""
    found: dict[str, Any] = {}
    for field in ("labels", "annotations"):
        moved = {key: text for key, text in texts(source, "metadata", field).items() if _is_passed_on(field, key)}
        for key in moved:
            notes.changed(("metadata", field, key), (*_INTO, field, key), "is read from the LeaderWorkerSet")
        if moved:
            found[field] = moved
    for name, at in _SETTINGS.items():
        value = mapping(source, *at).get(name)
        if value == _DEPRECATED:
            found[name] = "None"
            notes.changed((*at, name), (*_INTO, name), f"{_DEPRECATED} is deprecated, and means None")
        elif value is not None and value != _DEFAULTS.get(name):
            found[name] = value
            notes.carried((*at, name), (*_INTO, name))
    return found


def _is_passed_on(field: str, key: str) -> bool:
    """Whether a key is a user's, and is read from a LeaderWorkerSet. LeaderWorkerSet's own labels are no user's."""
    is_own_label = field == "labels" and key.startswith(f"{LWS_DOMAIN}/")
    return is_of_workload(key) and not is_own_label


def _without_moved(source: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source without the labels and annotations that are settings now."""
    metadata = dict(source["metadata"])
    for field in ("labels", "annotations"):
        if field in settings:
            metadata[field] = {k: v for k, v in metadata[field].items() if k not in settings[field]}
    return {**source, "metadata": metadata}


def _others(source: Mapping[str, Any], templates: Mapping[str, Any], settings: Mapping[str, Any], notes: Notes) -> None:
    spec = mapping(source, "spec")
    known = {"replicas", "leaderWorkerTemplate", *settings}
    for name in others(spec, known):
        if spec[name] is not None and spec[name] != _DEFAULTS.get(name):
            notes.lost(("spec", name), "has no counterpart")
    for name in others(dict(templates), {"size", "leaderTemplate", "workerTemplate", *settings}):
        if templates[name] is not None and templates[name] != _DEFAULTS.get(name):
            notes.lost((*_TEMPLATES, name), "has no counterpart")
