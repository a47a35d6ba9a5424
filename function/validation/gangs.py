"""Warnings about gangs: workers whose requests go elsewhere, startups that wait for each other, misplaced settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.api.leader_worker_set import is_of_workload
from function.core import Manifest, dig, dig_fields
from function.engines import options, reading
from function.podspec import engine_index
from function.schema import Path
from function.validation.finding import Finding

_OWN_REQUESTS = ("--data-parallel-hybrid-lb", "--data-parallel-external-lb", "--data-parallel-rank")
"""Flags with which every pod of a gang takes requests of its own, and only a load balancer in front of them brings them
there (vllm v0.23, docs/serving/data_parallel_deployment.md)."""
_NO_REQUESTS = ("--headless",)


def warnings(index: int, deployment: Manifest) -> Iterator[Finding]:
    """Warn about the gangs of a ModelDeployment, and about metadata that belongs to them."""
    engines = deployment["spec"]["engines"]
    for at, engine in enumerate(engines):
        yield from _engine(index, ("spec", "engines", at), engine)
    yield from _metadata(index, deployment, is_gang=any(map(_workers, engines)))


def _workers(engine: Manifest) -> list[tuple[int, Manifest]]:
    return [(at, member) for at, member in enumerate(engine["members"]) if member.get("role") == "Worker"]


def _engine(index: int, path: Path, engine: Manifest) -> Iterator[Finding]:
    for at, member in _workers(engine):
        if not dig(member, "worker", "serves") and (flag := own_requests(member, engine.get("runtime"))):
            problem = (
                f"is not set, but with {flag} every pod takes requests, and those of the workers get none; set it to "
                "true"
            )
            yield Finding(index, (*path, "members", at, "worker", "serves"), problem, "silent-workers")
    if dig(engine, "leaderWorkerSet", "startupPolicy") == "LeaderReady":
        problem = (
            "is LeaderReady: the workers start once the leader is ready, and most engines' leader is ready only once "
            "its workers have joined, so that neither ever is"
        )
        yield Finding(index, (*path, "leaderWorkerSet", "startupPolicy"), problem, "dead-lock")


def own_requests(member: Manifest, runtime: Any) -> str:
    """Return the flag with which a member takes requests of its own; "" if it has none."""
    containers = member["template"]["spec"]["containers"]
    position = engine_index(containers)
    if position is None:
        return ""
    read = reading.read(containers[position], runtime if isinstance(runtime, str) else None)
    arguments = read.program.arguments
    return "" if options.given(arguments, _NO_REQUESTS) else options.given(arguments, _OWN_REQUESTS)


def _metadata(index: int, deployment: Manifest, *, is_gang: bool) -> Iterator[Finding]:
    where = "spec.engines[].leaderWorkerSet" if is_gang else "spec.engines[].members[].template.metadata"
    for field in ("labels", "annotations"):
        for key in sorted(dig_fields(deployment, "metadata", field)):
            if is_of_workload(key):
                problem = f"is not passed on to the pods' controller; it belongs in {where}.{field}"
                yield Finding(index, ("metadata", field, key), problem, "ignored")
