"""Recognises a replica that another version of the function has composed, so that it is not composed anew at once.

It must be whole and of its spec: somebody may have deleted an Object, a Secret may have been rotated, or the function
may have been upgraded between an edit of the spec and the composition of its workloads. A replica that is neither is
composed anew, by the rules of this version.

`is_composed` looks at the following, in this order:

1. Every Object that this version composes is observed under its key. Claims do not count: their keys are hashes of what
   was composed, which may differ. Copies of Secrets and ConfigMaps count, although their keys are hashes too: these are
   hashes of what was read, and a rotated Secret restarts the pods in any case.
2. There is no workload of an engine that the spec does not have.
3. Every workload has the size, images, commands, arguments and plain variables of the spec, and mounts the weights that
   are staged now.

Deliberately coarse: what else an edit may change, such as a label of the pods or a limit of memory, is not compared.
No version must find a difference where there is none, because it would compose all replicas of a fleet at once. Every
version passes on what is compared as it is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from function import podspec
from function.core import Request, dig, dig_list, dig_number, dig_text
from function.kinds.modelreplica import compose, pods, readiness
from function.kinds.modelreplica.inputs import Weights

NEW_KEYS: frozenset[str] = frozenset()
"""Keys that earlier renderings have not composed from the same specs. A key that is added to the composition must be
added here: without it, no replica of an earlier rendering would be whole."""


def is_composed(request: Request, wanted: Collection[str], weights: Weights | None) -> bool:
    """Whether the observed Objects are the composition of the replica's spec by any version of the function.

    Args:
        request: The replica and its Objects.
        wanted: The keys of the Objects that this version composes.
        weights: The weights that this version mounts.
    """
    keys = [key for key in wanted if not compose.is_claim(key) and key not in NEW_KEYS]
    workloads = filter(readiness.is_workload, request.observed)
    return (
        all(key in request.observed for key in keys)
        and all(key in wanted for key in workloads)
        and all(_is_of(engine, request, weights) for engine in dig_list(request.xr, "spec", "engines"))
    )


def _is_of(engine: object, request: Request, weights: Weights | None) -> bool:
    """Whether the workload of an engine is what the spec says of it."""
    members = {str(dig(member, "role") or "Standalone"): member for member in dig_list(engine, "members")}
    kind = "Deployment" if "Standalone" in members else "LeaderWorkerSet"
    observed = request.observed.get(readiness.workload_key(kind, str(dig(engine, "name")))) or {}
    spec = dig(observed, "spec", "forProvider", "manifest", "spec")
    group = dig(spec, "leaderWorkerTemplate")
    there = {
        "Standalone": dig(spec, "template", "spec"),
        "Leader": dig(group, "leaderTemplate", "spec"),
        "Worker": dig(group, "workerTemplate", "spec"),
    }
    has_size = "Worker" not in members or dig(group, "size") == 1 + _count(members["Worker"], "worker", "nodes")
    is_scaled = dig(spec, "replicas") == _count(engine, "copies")
    return (
        has_size
        and is_scaled
        and all(_runs(dig(member, "template", "spec"), there[role]) for role, member in members.items())
        and all(_mounts(there[role], weights) for role in members)
    )


def _count(value: object, *path: str) -> float:
    return dig_number(value, *path, otherwise=1)


def _runs(wanted: Any, pod: Any) -> bool:
    """Whether a pod has the containers of a template.

    The engine's container may have been renamed. Which one it is depends on the engines that a version knows, so any
    container that is missing by its name may be it.
    """
    for field in ("containers", "initContainers"):
        given, there = dig_list(wanted, field), {dig_text(c, "name"): c for c in dig_list(pod, field)}
        for container in given:
            found = there.get(dig_text(container, "name")) or there.get(podspec.ENGINE)
            if found is None or not _is_same(container, found):
                return False
    return True


def _mounts(pod: Any, weights: Weights | None) -> bool:
    """Whether a pod mounts no other directory of weights than the one that is staged now."""
    mounts = (mount for container in dig_list(pod, "containers") for mount in dig_list(container, "volumeMounts"))
    mounted = {dig_text(mount, "subPath") or "" for mount in mounts if dig(mount, "mountPath") == pods.MODELS}
    return weights is None or mounted <= {weights.directory}


def _is_same(wanted: object, found: object) -> bool:
    """Whether a container runs what is wanted, perhaps with more arguments and variables."""
    variables: dict[object, object] = {dig_text(v, "name"): dig(v, "value") for v in dig_list(found, "env")}
    return (
        dig(wanted, "image") == dig(found, "image")
        and list(dig_list(wanted, "command")) == list(dig_list(found, "command"))
        and _is_within(dig_list(wanted, "args"), iter(dig_list(found, "args")))
        and all(variables.get(name) == value for name, value in _literals(wanted))
    )


def _is_within(wanted: Sequence[object], found: Iterator[object]) -> bool:
    """Whether arguments occur among others, in this order."""
    return all(argument in found for argument in wanted)


def _literals(container: object) -> Iterator[tuple[str | None, object]]:
    for variable in dig_list(container, "env"):
        if dig(variable, "value") is not None:
            yield dig_text(variable, "name"), dig(variable, "value")
