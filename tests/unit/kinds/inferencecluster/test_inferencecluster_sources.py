"""Which sources of clusters are accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from function import clouds, registry
from function.core import Request
from function.sandbox.settle import settle
from function.validation import validate
from tests.support import samples

CLUSTER = samples.of(
    "InferenceCluster",
    {
        "cluster": {"source": "Vultr", "vultr": {"region": "ams"}},
        "nodePools": [{"name": "l4", "className": "l4", "nodeCount": 3}],
    },
    namespace=None,
)


@pytest.fixture(autouse=True)
def _unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cloud that has blocks of the API, and no provisioner yet."""
    assert isinstance(clouds.BY_NAME, dict)
    unsupported = replace(clouds.BY_NAME["Vultr"], provisioner=None)
    monkeypatch.setitem(clouds.BY_NAME, "Vultr", unsupported)
    monkeypatch.setattr(clouds, "SOURCES", (unsupported, clouds.BY_NAME["Existing"]))


def test_a_cloud_that_is_not_supported_yet_is_refused_before_anything_is_composed() -> None:
    result = settle(registry.compose, Request(xr=CLUSTER), [])

    assert result.resources == {}
    assert next((c.reason, c.message) for c in result.conditions) == (
        "InvalidSpec",
        "spec.cluster.source: Vultr is not supported yet; there is Existing; what runs stays as it is",
    )


def test_it_is_found_in_files_too() -> None:
    found: list[Any] = [(".".join(map(str, finding.path)), finding.message) for finding in validate([CLUSTER])]

    assert ("spec.cluster.source", "Vultr is not supported yet; there is Existing") in found
