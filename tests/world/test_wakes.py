"""Who is woken by whom, where Crossplane watches what was read: counted, since each wake is a reconcile."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from function.core import Request, Result, plain
from function.planning import stub_secrets
from function.planning.control_plane import ControlPlane, in_process
from tests.world.test_fleet_stories import classes, cluster, deployment, named

_MANY = 12
_ROOM = 50
"""Nodes of each pool: more than are asked for, so that nobody waits for anybody."""


class _Counting:
    """The function, and what it was asked."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self.published: dict[str, set[str]] = {}
        """By cluster, each status that a deployment was shown, without its conditions."""

    def __call__(self, request: Request) -> Result:
        self.asked[request.xr["kind"], request.identity.name] += 1
        for manifest in request.required.get("clusters") or ():
            status = {k: v for k, v in plain(manifest.get("status") or {}).items() if k != "conditions"}
            self.published.setdefault(manifest["metadata"]["name"], set()).add(json.dumps(status, sort_keys=True))
        return in_process(request)


def _called(name: str, manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "name": name}}


def _roomy(manifest: dict[str, Any]) -> dict[str, Any]:
    manifest["spec"]["nodePools"][0]["nodeCount"] = _ROOM
    return manifest


@pytest.mark.parametrize("seed", range(4))
def test_a_placement_is_one_change_of_its_cluster_and_wakes_the_others_a_few_times(seed: int) -> None:
    """The replica's own life (made, ready, served) wakes every deployment; `allocations` ride along with it."""
    counting = _Counting()
    control = ControlPlane(function=counting, seed=seed)
    names = [f"chat-{index}" for index in range(_MANY)]
    manifests = [
        *classes(),
        *(_roomy(cluster(name)) for name in ("east", "west")),
        *(_called(name, deployment(cached=False)) for name in names),
    ]
    control.loop.load([*manifests, *stub_secrets.objects(manifests)])
    control.loop.settle()
    counting.asked.clear()
    counting.published.clear()

    control.store.update(named("ModelDeployment", names[0], "ml-team"), lambda m: m["spec"].update(replicas=2))
    control.loop.settle()

    others = [counting.asked["ModelDeployment", name] for name in names[1:]]
    assert sorted(map(len, counting.published.values())) == [1, 2]
    assert max(others) <= 4


def test_a_fleet_at_rest_wakes_nobody() -> None:
    counting = _Counting()
    control = ControlPlane(function=counting)
    manifests = [*classes(), _roomy(cluster("east")), deployment(cached=False)]
    control.loop.load([*manifests, *stub_secrets.objects(manifests)])
    control.loop.settle()
    counting.asked.clear()

    control.loop.settle()

    assert counting.asked == Counter()
