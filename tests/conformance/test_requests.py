"""Fresh random pods, whose requests we sum and kube-scheduler's library does (`pods/`, Kubernetes 1.34).

Whole pod templates at random have few requests, so these pods have hardly anything else.
CONFORMANCE_SEED repeats a run, CONFORMANCE_CASES says how many pods are compared.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

from function import podspec
from tests.conformance import oracle, programs
from tests.conformance.seeds import seed
from tests.support import random_templates

pytestmark = pytest.mark.slow

_CASES = int(os.environ.get("CONFORMANCE_CASES", "1000"))
_AMOUNTS = (
    "0",
    "1",
    "2",
    "3",
    "0.5",
    "1500m",
    "1m",
    "100u",
    "1n",
    "250u",
    "1Ki",
    "1.5Ki",
    "1Gi",
    "2e3",
    "1P",
    "5k",
    "+1",
)


def test_the_requests_of_random_pods_are_summed_as_by_kubernetes(record_property: Any) -> None:
    oracle.wanted()
    chosen = seed("requests")
    random = Random(chosen)
    pods = [{"spec": _spec(random)} for _ in range(5 * _CASES)]
    _compare(chosen, pods)
    record_property("requests of random pods compared", len(pods))


def test_the_requests_of_random_templates_are_summed_as_by_kubernetes() -> None:
    oracle.wanted()
    chosen = seed("requests of templates")
    random = Random(chosen)
    templates = (random_templates.template(random) for _ in range(_CASES))
    _compare(chosen, [template for template in templates if not podspec.read(template).faults])


def _compare(chosen: Any, pods: list[Any]) -> None:
    verdicts = programs.answers("pods", pods)
    assert [verdict["malformed"] for verdict in verdicts if "malformed" in verdict] == []
    differing = [
        (pod, got, verdict["requests"])
        for pod, verdict in zip(pods, verdicts, strict=True)
        if (got := list(podspec.requested(pod["spec"]))) != verdict["requests"]
    ]
    assert differing[:3] == [], f"seed {chosen}"


def _spec(random: Random) -> dict[str, Any]:
    containers = [_container(random, f"c{i}") for i in range(random.randint(1, 3))]
    init = [_container(random, f"i{i}") for i in range(random.choice((0, 0, 1, 2, 4)))]
    for container in init:
        if random.random() < 0.4:
            container["restartPolicy"] = "Always"
    own = {"resources": _resources(random, podspec.RESOURCES[:2])} if random.random() < 0.4 else {}
    overhead = {"overhead": _list(random, podspec.RESOURCES)} if random.random() < 0.2 else {}
    return {"containers": containers, **({"initContainers": init} if init else {}), **own, **overhead}


def _container(random: Random, name: str) -> dict[str, Any]:
    given = {"resources": _resources(random, podspec.RESOURCES)} if random.random() < 0.8 else {}
    return {"name": name, "image": "vllm", **given}


def _resources(random: Random, names: tuple[str, ...]) -> dict[str, Any]:
    fields = [field for field in ("requests", "limits") if random.random() < 0.6]
    return {field: _list(random, names) for field in fields}


def _list(random: Random, names: tuple[str, ...]) -> dict[str, str]:
    return {name: random.choice(_AMOUNTS) for name in names if random.random() < 0.6}
