"""What is charged for a pod is what the composed pod requests, and what the deployment asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from function import podspec
from function.api import modeldeployment
from function.core import Manifest, Result, dig
from function.fleet.engines import engines
from function.kinds.modeldeployment import decide
from function.kinds.modelreplica import readiness
from function.scheduling import Resources
from tests.support import cases

_Requested = dict[tuple[str, str], Resources]
"""What the pods of each engine and role request."""


def of_kind(kind: str) -> Any:
    there = [case for case in cases.CASES if case.parent.name == kind]
    return pytest.mark.parametrize("case", there, ids=lambda path: path.name)


@of_kind("modelreplica")
def test_what_is_charged_for_a_replica_is_what_its_pods_request(case: Path) -> None:
    request, _ = cases.load(case)
    composed = dict(_composed(cases.answer(case), request.xr))
    charged = _charged(request.xr)
    assert {key: charged[key] for key in composed} == composed


def _composed(result: Result, xr: Manifest) -> Iterator[tuple[tuple[str, str], Resources]]:
    """What the pods request that are composed."""
    for engine in dig(xr, "spec", "engines"):
        keys = (readiness.workload_key(kind, engine["name"]) for kind in ("Deployment", "LeaderWorkerSet"))
        for key in keys:
            manifest = (
                dig(result.resources[key].manifest, "spec", "forProvider", "manifest")
                if key in result.resources
                else {}
            )
            pods = dig(manifest, "spec", "leaderWorkerTemplate") or {}
            templates = {
                "Standalone": dig(manifest, "spec", "template"),
                "Leader": pods.get("leaderTemplate"),
                "Worker": pods.get("workerTemplate"),
            }
            yield from (
                ((engine["name"], role), podspec.requested(template["spec"]))
                for role, template in templates.items()
                if template
            )


def _charged(replica: Manifest) -> _Requested:
    return {
        (engine.name, member.role): member.needs().resources
        for engine in engines(dig(replica, "spec", "engines"))
        for member in engine.members
    }


@of_kind("modeldeployment")
def test_what_a_deployment_asks_for_is_what_its_replicas_are_charged_for(case: Path) -> None:
    request, _ = cases.load(case)
    result = cases.answer(case)
    new = [
        r.manifest
        for key, r in result.resources.items()
        if r.manifest["kind"] == "ModelReplica" and key not in request.observed
    ]
    if new:
        asked = {
            (engine.name, member.role): member.resources
            for engine in decide.compiled_engines(modeldeployment.parse(request.xr))
            for member in engine.members
        }
        assert [_charged(replica) for replica in new] == [asked] * len(new)


def decoding(**worker: Any) -> dict[str, Any]:
    """A gang that decodes, whose pods request a cpu each."""
    spec = {
        "containers": [{"name": "engine", "resources": {"requests": {"cpu": "1"}}}],
        "initContainers": [{"name": "i"}],
    }
    members = [
        {"role": "Leader", "nodePoolName": "p", "template": {"spec": spec}},
        {"role": "Worker", "nodePoolName": "p", "template": {"spec": spec}, **({"worker": worker} if worker else {})},
    ]
    return {"spec": {"engines": [{"name": "e", "phase": "Decode", "members": members}]}}


def test_the_routing_sidecar_is_charged_where_pods_take_requests() -> None:
    beside = (1100, 128 * 2**20, 0)
    assert _charged(decoding()) == {("e", "Leader"): beside, ("e", "Worker"): (1000, 0, 0)}
    assert _charged(decoding(nodes=2, serves=True)) == {("e", "Leader"): beside, ("e", "Worker"): beside}
