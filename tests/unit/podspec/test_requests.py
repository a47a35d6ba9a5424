"""What a pod requests: the same as kube-scheduler counts. `make conformance` compares random pods with its library."""

from __future__ import annotations

from typing import Any

import pytest

from function import podspec


def container(name: str = "c", *, sidecar: bool = False, limits: Any = None, **requests: Any) -> dict[str, Any]:
    given = {"requests": requests} if requests else {}
    return {
        "name": name,
        **({"restartPolicy": "Always"} if sidecar else {}),
        "resources": {**given, **({"limits": limits} if limits else {})},
    }


def spec(*containers: Any, init: Any = (), **more: Any) -> dict[str, Any]:
    return {"containers": list(containers), "initContainers": list(init), **more}


VECTORS: dict[str, tuple[dict[str, Any], tuple[int, int, int]]] = {
    "nothing": (spec({"name": "c"}), (0, 0, 0)),
    "containers add up": (spec(container(cpu="1", memory="1Gi"), container(cpu="500m")), (1500, 2**30, 0)),
    "a limit is a request": (spec(container(limits={"cpu": "2", "ephemeral-storage": "1Gi"})), (2000, 0, 2**30)),
    "a request counts, and not its limit": (spec(container(cpu="0", limits={"cpu": "2"})), (0, 0, 0)),
    "the largest init container counts": (spec(container(cpu="1"), init=[container(cpu="3")]), (3000, 0, 0)),
    "init containers run one by one": (
        spec(container(cpu="2"), init=[container(cpu="1"), container(cpu="2")]),
        (2000, 0, 0),
    ),
    "sidecars run beside containers": (spec(container(cpu="1"), init=[container(cpu="1", sidecar=True)]), (2000, 0, 0)),
    "sidecars run beside later init containers": (
        spec(container(cpu="1"), init=[container(cpu="1", sidecar=True), container(cpu="3")]),
        (4000, 0, 0),
    ),
    "sidecars do not run beside earlier init containers": (
        spec(container(cpu="1"), init=[container(cpu="3"), container(cpu="1", sidecar=True)]),
        (3000, 0, 0),
    ),
    "a pod's own requests replace the sum": (
        spec(container(cpu="1", memory="1Gi"), resources={"requests": {"cpu": "4"}}),
        (4000, 2**30, 0),
    ),
    "a pod's own limit does not replace the sum": (
        spec(container(cpu="1"), resources={"limits": {"cpu": "4"}}),
        (1000, 0, 0),
    ),
    "a pod's own limit counts if no container says anything": (
        spec(container(memory="1Gi"), resources={"limits": {"cpu": "4"}}),
        (4000, 2**30, 0),
    ),
    "an init container that says 0 says something": (
        spec({"name": "c"}, init=[container(cpu="0")], resources={"limits": {"cpu": "4"}}),
        (0, 0, 0),
    ),
    "a pod has no ephemeral storage of its own": (
        spec(container(), resources={"requests": {"ephemeral-storage": "1Gi"}}),
        (0, 0, 0),
    ),
    "the overhead comes on top": (
        spec(container(cpu="1"), resources={"requests": {"cpu": "4"}}, overhead={"cpu": "250m", "memory": "64Mi"}),
        (4250, 64 * 2**20, 0),
    ),
    "amounts are rounded up to thousandths, and then their sum": (
        spec(container(cpu="100u", memory="1500m"), container(cpu="300u", memory="500m")),
        (2, 2, 0),
    ),
    "numbers are amounts": (spec(container(cpu=1.5, memory=1024)), (1500, 1024, 0)),
    "what cannot be read is not given": (
        spec(container(cpu="many", memory=None, limits={"memory": "1Ki"}), "junk", init=[None]),
        (0, 1024, 0),
    ),
}


@pytest.mark.parametrize(("given", "want"), VECTORS.values(), ids=VECTORS)
def test_what_a_pod_requests(given: dict[str, Any], want: tuple[int, int, int]) -> None:
    assert podspec.requested(given) == want


@pytest.mark.parametrize("junk", [{}, {"containers": 7}, {"containers": [{"resources": [1]}]}, {"resources": "x"}])
def test_junk_requests_nothing(junk: dict[str, Any]) -> None:
    assert podspec.requested(junk) == (0, 0, 0)
