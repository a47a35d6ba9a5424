"""A node satisfies a member exactly when Kubernetes' own allocator would give its pod the claim."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from function.fleet import clusters as published
from function.kinds.modeldeployment import selectors
from function.scheduling import DeviceRequest, Matcher, Member, Offer

VECTORS = json.loads(gzip.decompress((Path(__file__).parents[2] / "data" / "dra" / "fit_vectors.json.gz").read_bytes()))
_CHUNK = 100


@pytest.mark.parametrize("start", range(0, len(VECTORS), _CHUNK))
def test_it_fits_exactly_when_kubernetes_allocates(start: int) -> None:
    wrong = [i for i, case in enumerate(VECTORS[start : start + _CHUNK], start) if fits(case) != case["fits"]]
    assert wrong == []


def fits(case: dict[str, Any]) -> bool:
    shape = published.node_shape({"devices": [{"claim": "DRA", **device} for device in case["devices"]]})
    requests = tuple(
        DeviceRequest(r["name"], r["count"], tuple(map(selectors.compiled, r["selectors"]))) for r in case["requests"]
    )
    return isinstance(Matcher().offer(Member("Standalone", 1, requests), shape), Offer)
