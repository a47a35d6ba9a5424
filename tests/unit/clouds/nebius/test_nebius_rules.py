"""What an InferenceCluster of Nebius keeps: the API server refuses the edit."""

from __future__ import annotations

from typing import Any

import pytest

from function import cel
from function.clouds.nebius.blocks import Cluster

DEFAULTS = Cluster().model_dump(mode="json", exclude_none=True)
"""A block as the API server completes it."""


def refused(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    old, new = DEFAULTS | before, DEFAULTS | after
    return [rule.at for rule in Cluster.RULES if not cel.rule(rule.cel).evaluate(self=new, oldSelf=old)]


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ({"cache": {"sizeGib": 2048}}, {"cache": {"sizeGib": 2047}}, "cache.sizeGib"),
        ({"cache": {"sizeGib": 2048}}, {}, "cache.sizeGib"),
        ({"registries": ["registry-a"]}, {}, "registries"),
        ({}, {"registries": ["registry-a"]}, "registries"),
        ({}, {"network": {"serviceCidr": "/20"}}, "network"),
        ({}, {"network": {"serviceCidr": "/16", "cidr": "10.0.0.0/12"}}, "network"),
        ({}, {"systemPool": {"platform": "cpu-e2", "preset": "4vcpu-16gb"}}, "systemPool"),
    ],
)
def test_what_would_lose_weights_or_replace_nodes_is_refused(
    before: dict[str, Any], after: dict[str, Any], field: str
) -> None:
    assert refused(before, after) == [field]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({}, {"cache": {"sizeGib": 1025}}),
        ({"registries": ["registry-a"]}, {"registries": ["registry-b", "registry-c"]}),
        ({}, {"kubernetesVersion": "1.35", "apiServer": {"allowedSources": ["192.0.2.0/24"]}}),
        ({}, {"network": {"serviceCidr": "/16"}}),
    ],
)
def test_other_edits_are_taken(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert refused(before, after) == []
