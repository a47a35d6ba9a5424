"""Asks a cluster whether it admits the pods of a gang, and reports its refusal.

A Deployment reports in its status when the cluster refuses its pods, for example because of Pod Security, a quota or a
webhook. The StatefulSets of a LeaderWorkerSet write that into events only, which no Object can read. So a gang that
does not start is asked about directly, in these steps:

1. Its LeaderWorkerSet is on the cluster and has no ready group. For each member, an Object with one pod is composed:
   the member's pod, but with a scheduling gate. Admission judges it as the gang's own pods. It never runs, takes
   no device, volume or node, and lives for seconds.
2. If the cluster refuses the pod, the provider has the words of the refusal, and repeats the attempt. ModelReady quotes
   them until the pod is admitted.
3. Once all pods are admitted, they are removed, and the LeaderWorkerSet's Object notes the hash of their templates. The
   same templates are not asked about again.

Deliberately coarse:

- A quota that is exhausted after the gang's pods were admitted is not noticed until its templates change.
- The pods count against a quota themselves. One that has no room beside the gang's own pods refuses them although it
  admitted the gang's, and ModelReady quotes that until the gang is ready.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from function.core import Manifest, NamespacedName, dig, dig_fields, quote_condition
from function.core.manifest import condition, is_list
from function.kinds.modelreplica.readiness import ObjectState
from function.manifests import workloads
from function.manifests.metadata import metadata
from function.podspec.reserved import RESERVED_KEYS
from function.vocabulary import labels, names, versions

_PREFIX = "admission-"
_GATE = "modelplane.ai/admission"


def is_probe(key: str) -> bool:
    """Return whether a composition key is that of a pod that asks for admission."""
    return key.startswith(_PREFIX)


def noted(wanted: Mapping[str, Manifest], observed: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """Return the wanted Objects, with the note on each gang whose pods were admitted, now or before."""
    return {key: _with_note(key, manifest, observed) for key, manifest in wanted.items()}


def probes(
    replica: NamespacedName, states: Sequence[ObjectState], wanted: Mapping[str, Manifest]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield key and manifest of each pod that asks for admission now.

    `wanted` are the Objects with their notes.
    """
    for state in states:
        is_asked = state.kind == "LeaderWorkerSet" and state.arrived and not state.accepted
        if is_asked and _note(wanted[state.key]) != _hash(state.written):
            for role, pod in _pods(state.written):
                yield _key(state.key, role, pod), _named(pod, replica, str(state.engine), role)


def with_refusals(states: Sequence[ObjectState], observed: Mapping[str, Manifest]) -> tuple[ObjectState, ...]:
    """Return the states, with the cluster's refusal of a gang's pods as the gang's problem."""
    return tuple(replace(s, problem=s.problem or _refusal(s, observed)) for s in states)


def _with_note(key: str, manifest: Manifest, observed: Mapping[str, Manifest]) -> Manifest:
    written = manifest["spec"]["forProvider"]["manifest"]
    if written["kind"] != "LeaderWorkerSet":
        return manifest
    hash_ = _hash(written)
    asked = [observed.get(_key(key, role, pod)) for role, pod in _pods(written)]
    is_admitted = all(probe is not None and _is_there(probe, hash_) for probe in asked)
    if not is_admitted and _note(observed.get(key, {})) != hash_:
        return manifest
    annotations = {**dig_fields(manifest, "metadata", "annotations"), labels.ADMITTED: hash_}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": annotations}}


def _is_there(probe: Manifest, hash_: str) -> bool:
    return bool(dig(probe, "status", "atProvider", "manifest", "metadata", "annotations", labels.ADMITTED) == hash_)


def _note(manifest: Manifest) -> Any:
    return dig(manifest, "metadata", "annotations", labels.ADMITTED)


def _refusal(state: ObjectState, observed: Mapping[str, Manifest]) -> str:
    if state.kind != "LeaderWorkerSet" or state.accepted:
        return ""
    for role, pod in _pods(state.written):
        said = condition(observed.get(_key(state.key, role, pod), {}), "Synced")
        if dig(said, "status") == "False":
            return f"the cluster refuses its {role} pod: {quote_condition(said)}"
    return ""


def _key(workload: str, role: str, pod: Manifest) -> str:
    """Return the key of a pod. It has the hash that is in the name: Crossplane keeps the name that a key has."""
    return f"{_PREFIX}{workload}-{role}-{names.content_hash(pod)}"


def _members(workload: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield role and template of each member. None of a gang that somebody edited until it has no pods."""
    gang = dig_fields(workload, "spec", "leaderWorkerTemplate")
    for role, field in (("leader", "leaderTemplate"), ("worker", "workerTemplate")):
        if is_list(dig(gang, field, "spec", "containers")):
            yield role, dig_fields(gang, field)


def _hash(workload: Manifest) -> str:
    return names.content_hash([pod for _, pod in _members(workload)])


def _pods(workload: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield the content of the pod of each member that asks for admission."""
    hash_ = _hash(workload)
    for role, template in _members(workload):
        given = template.get("metadata") or {}
        yield (
            role,
            {
                "labels": _users(given.get("labels") or {}),
                "annotations": {**(given.get("annotations") or {}), labels.ADMITTED: hash_},
                "spec": {**workloads.without_claims(template["spec"]), "schedulingGates": [{"name": _GATE}]},
            },
        )


def _users(given: Mapping[str, str]) -> dict[str, str]:
    """Return the user's labels. By ours, Services, pools and pickers find an engine's pods, and must not find these."""
    return {key: value for key, value in given.items() if not key.startswith(RESERVED_KEYS)}


def _named(pod: Manifest, replica: NamespacedName, engine: str, role: str) -> dict[str, Any]:
    """Return the manifest of a pod. Its content is in its name: pods cannot change."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Pod",
        "metadata": metadata(
            name=names.part(replica, engine, role, "admission", content=pod),
            namespace=replica.namespace,
            labels=pod["labels"],
            annotations=pod["annotations"],
        ),
        "spec": pod["spec"],
    }
