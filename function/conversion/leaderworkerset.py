"""LeaderWorkerSets, whose groups of pods serve together.

A group of `size` pods is one leader and `size - 1` workers, and becomes a gang. Without a leaderTemplate the leader has
the template of the workers. The pods of a gang get LeaderWorkerSet's own variables, such as LWS_LEADER_ADDRESS, because
Modelplane makes a LeaderWorkerSet of them.

Source: leaderworkerset.x-k8s.io/v1, LeaderWorkerSet v0.10.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from function.api.leader_worker_set import is_set_by_controller
from function.conversion import deployment, pods
from function.conversion.kubernetes import is_dump
from function.conversion.notes import NotConvertible, Notes, Path, mapping, others, whole
from function.validation.gangs import own_requests

KINDS = {("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")}
_TEMPLATES: Path = ("spec", "leaderWorkerTemplate")
_ENGINE: Path = ("spec", "engines", 0)
_LEADER: Path = (*_ENGINE, "members", 0)
_WORKER: Path = (*_ENGINE, "members", 1)
_MOST_WORKERS = 63
_SETTINGS: Path = (*_ENGINE, "leaderWorkerSet")
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
_CARRIED = (
    ("spec", "startupPolicy"),
    ("spec", "networkConfig"),
    (*_TEMPLATES, "restartPolicy"),
    (*_TEMPLATES, "subGroupPolicy"),
)
"""Fields that `engines[].leaderWorkerSet` has too, by the same names."""
_DEPRECATED = "Default"
"""A restartPolicy of older versions, which means None."""
_WHY: Mapping[str, str] = {
    "rolloutStrategy": "Modelplane replaces one group at a time, and needs no extra node for it",
}


def converted(source: Mapping[str, Any], notes: Notes) -> list[dict[str, Any]]:
    """Return the ModelDeployment of a LeaderWorkerSet. Raises NotConvertible."""
    meta = deployment.metadata(source, notes)
    templates = mapping(source, *_TEMPLATES)
    size = whole(templates, "size", at=_TEMPLATES)
    size = 1 if size is None else size
    if size < 1:
        raise NotConvertible((*_TEMPLATES, "size"), "must be at least 1")
    lead = "leaderTemplate" if templates.get("leaderTemplate") is not None else "workerTemplate"
    dump = is_dump(source)
    leader = pods.member(templates.get(lead), notes.at((*_TEMPLATES, lead), _LEADER), is_dump=dump)
    notes.carried((*_TEMPLATES, lead), (*_LEADER, "template"))
    replicas = deployment.replicas(whole(source, "spec", "replicas"), ("spec", "replicas"), notes)
    _others(source, templates, notes)
    clusters = dict(leader.clusters)
    if size == 1:
        notes.changed((*_TEMPLATES, "size"), _LEADER, "a group of one pod is a Standalone member")
        deployment.pass_to_pods(source, leader.template, (*_LEADER, "template"), notes)
        members = [deployment.member(leader)]
        has_devices = bool(leader.devices)
    else:
        worker = _worker(templates, lead, leader, notes, is_dump=dump)
        clusters |= worker.clusters
        members = [
            deployment.member(leader, "Leader"),
            deployment.member(worker, "Worker", workers=_workers(size, notes)),
        ]
        if flag := own_requests(members[1], None):
            members[1]["worker"]["serves"] = True
            at = (*_TEMPLATES, "workerTemplate")
            notes.changed(at, (*_WORKER, "worker", "serves"), f"is true, because with {flag} every pod takes requests")
        has_devices = bool(leader.devices or worker.devices)
    if not has_devices:
        deployment.without_devices(leader, (*_TEMPLATES, lead), notes)
    engine: dict[str, Any] = {"name": deployment.engine_name(leader.container)}
    if settings := _settings(source, notes, is_gang=len(members) > 1):
        engine["leaderWorkerSet"] = settings
    engine["members"] = members
    return [deployment.model_deployment(meta, [engine], replicas=replicas, clusters=clusters)]


def _settings(source: Mapping[str, Any], notes: Notes, *, is_gang: bool) -> dict[str, Any]:
    """Return the settings of the LeaderWorkerSet that the gang becomes."""
    moved = deployment.of_workload(source, _SETTINGS, notes, is_reserved=is_set_by_controller) if is_gang else {}
    found: dict[str, Any] = dict(moved)
    for path in _CARRIED:
        name = str(path[-1])
        value = mapping(source, *path[:-1]).get(name)
        if value is None or value == _DEFAULTS.get(name):
            continue
        if is_gang:
            found[name] = "None" if value == _DEPRECATED else value
            notes.carried(path, (*_SETTINGS, name), "Default means None" if value == _DEPRECATED else "")
        else:
            notes.lost(path, "is for groups of several pods")
    return found


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


def _others(source: Mapping[str, Any], templates: Mapping[str, Any], notes: Notes) -> None:
    spec = mapping(source, "spec")
    carried = {str(path[-1]) for path in _CARRIED}
    for name in others(spec, {"replicas", "leaderWorkerTemplate", *carried}):
        if spec[name] is not None and spec[name] != _DEFAULTS.get(name):
            notes.lost(("spec", name), _WHY.get(name, "has no counterpart"))
    for name in others(dict(templates), {"size", "leaderTemplate", "workerTemplate", *carried}):
        if templates[name] is not None:
            notes.lost((*_TEMPLATES, name), "has no counterpart")
