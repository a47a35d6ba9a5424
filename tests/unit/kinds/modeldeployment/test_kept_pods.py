"""Pods that a lowered level would not admit anew stay, and are named, also after an upgrade of the function."""

from __future__ import annotations

from dataclasses import replace

from function import registry
from function.core import Result
from function.sandbox.settle import settle
from tests.support.cases import ROOT, load, of_an_earlier_version

CASE = ROOT / "modeldeployment" / "a-lowered-level-moves-nobody"


def scheduled(result: Result) -> str:
    return next(c.message for c in result.conditions if c.type == "ReplicasScheduled")


def test_an_upgrade_changes_neither_their_place_nor_what_is_said() -> None:
    request, objects = load(CASE)
    before = settle(registry.compose, request, objects)
    observed = {key: of_an_earlier_version(manifest) for key, manifest in request.observed.items()}
    after = settle(registry.compose, replace(request, observed=observed), list(map(of_an_earlier_version, objects)))

    assert "does not admit stay" in scheduled(before)
    assert scheduled(after) == scheduled(before)
    assert after.resources.keys() == before.resources.keys()
