"""Switching the sharing of a pool changes no replica that is there, and is noted on those that come."""

from __future__ import annotations

from typing import Any

import pytest

from function import registry
from function.core import dig
from function.sandbox.settle import settle_with
from function.vocabulary import names
from tests.support import worlds


def noted(cluster: dict[str, Any], replica: dict[str, Any], wanted: int) -> dict[str, Any]:
    """What each replica of a deployment notes of sharing, by its key, once all is read."""
    there = worlds.made(worlds.deployment(wanted), [cluster], [replica])
    result = settle_with(registry.compose, there.request, there.find)
    replicas = {key: r.manifest for key, r in result.resources.items() if r.manifest["kind"] == "ModelReplica"}
    return {key: dig(manifest["spec"]["engines"][0]["members"][0], "nodeSharing") for key, manifest in replicas.items()}


@pytest.mark.parametrize("before", [None, "Devices"])
@pytest.mark.parametrize("now", ["Nodes", "Devices"])
def test_a_replica_that_is_there_keeps_its_note(before: str | None, now: str) -> None:
    cluster, replica = worlds.cluster("c", a=2), worlds.replica("c")
    cluster["status"]["gpuPools"][0] |= {"sharing": now} if now == "Devices" else {}
    replica["spec"]["engines"][0]["members"][0] |= {"nodeSharing": before} if before else {}
    there, new = names.replica_key("c", 0), names.replica_key("c", 1)
    assert noted(cluster, replica, 1) == {there: before}
    assert noted(cluster, replica, 2) == {there: before, new: "Devices" if now == "Devices" else None}
