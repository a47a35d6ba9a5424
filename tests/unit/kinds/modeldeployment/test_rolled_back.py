"""A replica that returns to its previous spec gets the rendering of this version with it."""

from __future__ import annotations

from dataclasses import replace

from function import registry
from function.core import dig
from function.sandbox.settle import settle
from function.vocabulary import labels, versions
from tests.support.cases import ROOT, load, of_an_earlier_version

CASE = ROOT / "modeldeployment" / "the-younger-of-two-that-grew-goes-back"


def test_the_workloads_of_its_previous_spec_are_gone_so_this_version_composes_them() -> None:
    request, objects = load(CASE)
    observed = {key: of_an_earlier_version(manifest) for key, manifest in request.observed.items()}
    result = settle(registry.compose, replace(request, observed=observed), list(map(of_an_earlier_version, objects)))

    [back] = [one.manifest for one in result.resources.values() if one.manifest["kind"] == "ModelReplica"]
    assert labels.FORMER_SPEC in dig(request.observed["replica-a-0"], "metadata", "annotations")
    assert labels.FORMER_SPEC not in dig(back, "metadata", "annotations")
    assert dig(back, "metadata", "annotations", labels.RENDERING) == str(versions.RENDERING)
