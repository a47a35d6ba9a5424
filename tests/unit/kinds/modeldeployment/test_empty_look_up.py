"""A look-up of all replicas that finds none, while there are some, gives no nodes away."""

from __future__ import annotations

from dataclasses import replace

from function import registry
from function.core import Request, condition
from function.core.manifest import Manifest
from function.kinds.modeldeployment.inputs import REPLICAS
from function.sandbox.settle import resolve, settle
from tests.support.cases import ROOT, load

CASE = ROOT / "modeldeployment" / "an-evicting-taint-drains-where-there-is-room"


def answered(request: Request, objects: list[Manifest], **answers: tuple[Manifest, ...]) -> Request:
    asked = registry.of(request).requirements(request)
    return replace(request, required={**resolve(asked, objects), **answers})


def test_a_successor_is_not_placed_on_nodes_that_may_be_held() -> None:
    request, objects = load(CASE)
    assert settle(registry.compose, request, objects).resources.keys() > request.observed.keys()

    result = registry.compose(answered(request, objects, **{REPLICAS.name: ()}))

    assert result.resources.keys() == request.observed.keys()
    assert [(c.reason, c.message) for c in result.conditions if c.type == "ReplicasScheduled"] == [
        ("Scheduling", "Waiting for a list of all ModelReplicas that includes its own")
    ]


def test_a_settled_deployment_goes_on_without_it() -> None:
    """Right after the first replicas are made, a look-up may not know them yet."""
    request, objects = load(ROOT / "modeldeployment" / "who-serves-gets-an-endpoint")
    settled = settle(registry.compose, request, objects)
    said = [{"type": c.type, "status": c.status, "reason": c.reason} for c in settled.conditions]
    xr = {**request.xr, "status": {"conditions": said}}
    assert condition(xr, "ReplicasScheduled")

    result = registry.compose(answered(replace(request, xr=xr), objects, **{REPLICAS.name: ()}))

    assert [c.reason for c in result.conditions] == [c.reason for c in settled.conditions]
