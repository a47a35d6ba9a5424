"""The labels by which others find replicas, while a deployment is held."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import Manifest, dig
from function.kinds.modeldeployment.composer import COMPOSER
from function.sandbox.settle import settle_with
from function.vocabulary import labels
from tests.support.worlds import NAME, cluster, deployment, made, replica

KEY = "replica-east-0"


def held(own: dict[str, Any]) -> Manifest:
    """The replica as a deployment desires it whose spec is refused."""
    xr = deployment(1)
    xr["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]["selectors"] = [{"cel": "device.capacty > 1"}]
    there = made(xr, [cluster("east", a=1)], [own])
    result = settle_with(COMPOSER, there.request, there.find)
    assert "InvalidNodeSelector" in {c.reason for c in result.conditions}
    return result.resources[KEY].manifest


@pytest.mark.parametrize("wrong", ["west", None])
@pytest.mark.parametrize("label", [labels.CLUSTER, labels.DEPLOYMENT])
def test_a_label_that_somebody_changed_is_restored(label: str, wrong: str | None) -> None:
    own = replica("east")
    own["metadata"]["labels"] |= {label: wrong or "", "team": "search"}
    if wrong is None:
        own["metadata"]["labels"].pop(label)
    assert held(own)["metadata"]["labels"] == {**replica("east")["metadata"]["labels"], "team": "search"}


def test_a_replica_that_was_composed_before_the_label_was_given_gets_the_label_of_its_cache() -> None:
    own = replica("east")
    own["spec"]["modelCacheRef"] = {"name": "weights"}
    assert dig(held(own), "metadata", "labels", labels.MODELCACHE) == "weights"


def test_nothing_else_of_a_replica_changes() -> None:
    own = replica("east")
    right = held(own)
    own["metadata"]["labels"][labels.CLUSTER] = "west"
    assert held(own) == right
    assert right["metadata"]["labels"][labels.DEPLOYMENT] == NAME
