"""Warnings about engines that nothing will reach, and the model names to which they answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from function.api import modelcache, modeldeployment, modelreplica
from function.api.modelreplica import Member
from function.core import InvalidSpec, Manifest, NamespacedName, dig, identity, plain
from function.engines import injection, listening, offline, reading
from function.fleet import caches as published
from function.fleet import served_names
from function.kinds.modelreplica import engine, remarks
from function.kinds.modelreplica.engine import EnginePlan
from function.schema import Path
from function.validation.finding import Finding

_IDLE = (
    f"names a model of a hub, so the engine does not read the weights of modelCacheRef at {injection.WEIGHTS}; name"
    " that path, or no model where the engine is told it"
)


def as_replica(deployment: Manifest) -> Manifest:
    """Return a replica of a deployment: its engines, each pinned to some pool."""
    spec = plain(deployment["spec"])
    for member in (member for one in spec["engines"] for member in one["members"]):
        member["nodePoolName"] = "any"
    return {**deployment, "spec": {**spec, "clusterName": "any"}}


def warnings(index: int, deployment: Manifest) -> Iterator[Finding]:
    """Warn about engines that listen where nothing reaches them, serve TLS, share their port, or ignore their cache.

    What is refused is told elsewhere.
    """
    try:
        plans = engine.plans(identity(deployment), modelreplica.parse(as_replica(deployment)))
    except InvalidSpec:
        return
    has_cache = "modelCacheRef" in deployment["spec"]
    for at, plan in enumerate(plans):
        for place, member in enumerate(plan.engine.members):
            path = ("spec", "engines", at, "members", place, "template", "spec")
            for below, problem, code in _of_member(plan, member, has_cache=has_cache) if member.serves else ():
                yield Finding(index, (*path, *below), problem, code)


def _of_member(plan: EnginePlan, member: Member, *, has_cache: bool) -> Iterator[tuple[Path, str, str]]:
    """Yield path below the pod's spec, problem and code of what is wrong with a member that serves."""
    own = engine.of_member(plan, member)
    at: Path = ("containers", member.engine_index)
    if has_cache and _is_idle(own, member):
        yield at, _IDLE, "idle-weights"
    for why in filter(None, (_unheard(own, member), remarks.tls(own))):
        problem = f"is not reached on port {plan.port} as it is: {why}"
        yield at, problem, "unreachable"
    for path in _taken(member, plan.port):
        yield path, f"is {plan.port}, the engine's port: only one container of a pod can listen on a port", "port-taken"


def caches(objects: Sequence[tuple[int, Manifest]]) -> dict[NamespacedName, Manifest]:
    """Return the ModelCaches among objects."""
    return {identity(manifest): manifest for _, manifest in objects if manifest["kind"] == modelcache.KIND}


def _taken(member: Member, port: int) -> Iterator[Path]:
    """Yield where other containers that run beside the engine declare its port, below the pod's spec."""
    spec, own = member.template["spec"], member.engine_index
    for field in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(field, ())):
            is_other = at != own if field == "containers" else container.get("restartPolicy") == "Always"
            for number, declared in enumerate(container.get("ports", ()) if is_other else ()):
                if declared.get("containerPort") == port and declared.get("protocol", "TCP") == "TCP":
                    yield field, at, "ports", number, "containerPort"


def _is_idle(plan: EnginePlan, member: Member) -> bool:
    """Whether an engine names a model of a hub, and nothing of its command line the weights of the cache."""
    container = engine.engine_container(member)
    words = [*container.get("command", ()), *container.get("args", ())]
    return offline.names_repository(plan.reading) and not any(injection.WEIGHTS in word for word in words)


def _unheard(plan: EnginePlan, member: Member) -> str:
    """Return why a member will not answer on its port, with the flags that it is given."""
    container = engine.engine_container(member)
    given = injection.inject(plan.reading, weights=None, name="", port=plan.port).args
    read = reading.read({**container, "args": [*container.get("args", ()), *given]}, plan.engine.runtime)
    return listening.unheard(read.server, read.listener, plan.port)


def names(server: Manifest, caches: Mapping[NamespacedName, Manifest]) -> tuple[str, ...]:
    """Return the model names to which a deployment or an endpoint answers; none if they are not known."""
    if server["kind"] != modeldeployment.KIND:
        return served_names.of_endpoint(server)
    cache: Any = caches.get(_cache(server))
    repository = None if cache is None else published.model(cache)
    return served_names.of_engines(server["spec"]["engines"], repository)


def is_cache_known(deployment: Manifest, caches: Mapping[NamespacedName, Manifest]) -> bool:
    """Return whether a deployment names no ModelCache, or one that is given. It decides what engines call the model."""
    return "modelCacheRef" not in deployment["spec"] or _cache(deployment) in caches


def _cache(deployment: Manifest) -> NamespacedName:
    name = dig(deployment, "spec", "modelCacheRef", "name")
    return NamespacedName(identity(deployment).namespace, str(name or ""))
