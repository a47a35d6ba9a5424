"""An endpoint has the model names of its own replica, whatever the others of the deployment serve."""

from __future__ import annotations

from dataclasses import replace

from function import registry
from function.core import dig, plain
from function.sandbox.settle import settle
from function.vocabulary import labels
from tests.support.cases import ROOT, load

CASE = ROOT / "modeldeployment" / "who-serves-gets-an-endpoint"


def test_two_replicas_without_a_hash_may_serve_two_models() -> None:
    """Somebody removed the annotations, neither has the current spec, and none gets it, because it never served."""
    request, objects = load(CASE)
    xr = {**request.xr, "status": {"revisions": [{"hash": "72c5e3a7-2", "tried": True}]}}
    observed = {key: plain(manifest) for key, manifest in request.observed.items()}
    for index in ("a", "b"):
        mine = observed[f"replica-{index}-0"]
        mine["metadata"]["annotations"].pop(labels.SPEC_HASH)
        mine["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["args"] = [f"--model=org/{index}"]
        mine["status"] = {"conditions": [{"type": t, "status": "True"} for t in ("Ready", "ModelReady")]}

    result = settle(registry.compose, replace(request, xr=xr, observed=observed), objects)

    assert {
        key: dig(one.manifest, "metadata", "annotations", labels.SERVED_NAMES)
        for key, one in result.resources.items()
        if key.startswith("endpoint-")
    } == {"endpoint-a-0": "org/a", "endpoint-b-0": "org/b"}
