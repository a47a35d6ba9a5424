"""A replica is labelled with the cache that its own spec names, and nothing else of it changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function import registry
from function.core import Manifest, Request, dig
from function.sandbox.settle import settle
from function.vocabulary import labels
from tests.support.cases import CASES, ROOT, answer, load

CASE = ROOT / "modeldeployment" / "an-endpoint-has-the-name-of-the-staged-model"
"""Two replicas serve with the cache `weights`. They have no such label yet."""
REPLICAS = [case for case in CASES if case.parent.name == "modelreplica"]


def composed(request: Request, objects: list[Manifest], kind: str = "ModelReplica") -> list[Manifest]:
    resources = settle(registry.compose, request, objects).resources
    return [resources[key].manifest for key in sorted(resources) if resources[key].manifest["kind"] == kind]


def edited(**spec: Any) -> tuple[Request, list[Manifest]]:
    request, objects = load(CASE)
    wanted = {key: value for key, value in {**request.xr["spec"], **spec}.items() if value is not None}
    return replace(request, xr={**request.xr, "spec": wanted}), objects


def label(manifest: Manifest) -> Any:
    return dig(manifest, "metadata", "labels", labels.MODELCACHE)


def test_replicas_have_the_label_and_their_endpoints_do_not() -> None:
    request, objects = load(CASE)

    assert {label(m) for m in composed(request, objects)} == {"weights"}
    assert {label(m) for m in composed(request, objects, "ModelEndpoint")} == {None}


def test_a_replica_that_keeps_its_spec_keeps_the_label_of_the_cache_that_it_mounts() -> None:
    request, objects = edited(modelCacheRef={"name": "others"})
    others = [{**m, "metadata": {**m["metadata"], "name": "others"}} for m in objects if m["kind"] == "ModelCache"]

    replicas = composed(request, [*objects, *others])

    assert sorted(map(label, replicas)) == ["others", "weights"]
    assert [label(m) for m in replicas] == [dig(m, "spec", "modelCacheRef", "name") for m in replicas]


def test_a_replica_without_a_cache_has_no_label() -> None:
    request, objects = edited(modelCacheRef=None)
    spoofed = {**request.xr["metadata"], "labels": {labels.MODELCACHE: "weights"}}

    fleet = [m for m in objects if m["kind"] != "ModelReplica"]

    replicas = composed(replace(request, xr={**request.xr, "metadata": spoofed}, observed={}), fleet)

    assert replicas
    assert {label(m) for m in replicas} == {None}


@pytest.mark.parametrize("case", REPLICAS, ids=lambda path: path.name)
def test_the_label_changes_nothing_that_a_replica_composes(case: Any) -> None:
    request, objects = load(case)
    metadata = request.xr["metadata"]
    labelled = {**metadata, "labels": {**(metadata.get("labels") or {}), labels.MODELCACHE: "weights"}}

    assert settle(registry.compose, replace(request, xr={**request.xr, "metadata": labelled}), objects) == answer(case)
