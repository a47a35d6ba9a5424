"""An answer that is empty by mistake gives no nodes away, and takes nothing that is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from function import registry
from function.core import Requirement, Result, condition
from function.core.manifest import Manifest
from function.kinds.modeldeployment import stages
from function.sandbox.settle import resolve, settle, settle_with
from tests.support.cases import ROOT, load

CASE = ROOT / "modeldeployment" / "an-evicting-taint-drains-where-there-is-room"
Find = Callable[[tuple[Requirement, ...]], Mapping[str, tuple[Manifest, ...]]]


def finding_none(objects: list[Manifest], *names: str) -> Find:
    def find(asked: tuple[Requirement, ...]) -> dict[str, tuple[Manifest, ...]]:
        return {name: () if name in names else found for name, found in resolve(asked, objects).items()}

    return find


def scheduled(result: Result) -> list[tuple[str, str]]:
    return [(c.reason, c.message) for c in result.conditions if c.type == "ReplicasScheduled"]


def test_a_settled_deployment_goes_on_without_it() -> None:
    """Right after the first replicas are made, a look-up may not know them yet."""
    request, objects = load(ROOT / "modeldeployment" / "who-serves-gets-an-endpoint")
    settled = settle(registry.compose, request, objects)
    said = [{"type": c.type, "status": c.status, "reason": c.reason} for c in settled.conditions]
    xr = {**request.xr, "status": {"conditions": said}}
    assert condition(xr, "ReplicasScheduled")
    counted = [r.name for r in settled.requirements if r.name.startswith("replicas-on-")]

    result = settle_with(registry.compose, replace(request, xr=xr), finding_none(objects, *counted))

    assert counted
    assert [c.reason for c in result.conditions] == [c.reason for c in settled.conditions]


def test_a_list_without_a_cluster_that_is_there_places_nothing() -> None:
    request, objects = load(CASE)
    assert settle(registry.compose, request, objects).resources.keys() > request.observed.keys()

    result = settle_with(registry.compose, request, finding_none(objects, stages.CLUSTERS.name))

    assert result.resources.keys() == request.observed.keys()
    [(reason, message)] = scheduled(result)
    assert reason == "Scheduling"
    assert message.startswith("Waiting for a list of all InferenceClusters that includes ")
