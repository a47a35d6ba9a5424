"""Replicas of random pod templates: Kubernetes 1.34 (`pods/`) takes the pods that we compose around them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from function import podspec
from tests.conformance import oracle, programs
from tests.conformance.seeds import seed
from tests.conformance.template_differences import COARSE
from tests.conformance.test_pod_templates import refusals, unexplained
from tests.support import random_templates, replicas

pytestmark = pytest.mark.slow

_CASES = int(os.environ.get("CONFORMANCE_CASES", "1000")) // 4


@pytest.mark.parametrize("kind", ["alone", "on a cache", "gang", "prefill and decode"])
def test_what_we_compose_around_a_random_template_is_taken_by_kubernetes(kind: str, record_property: Any) -> None:
    oracle.wanted()
    chosen = seed(kind)
    random = Random(chosen)
    pods = [pod for template in _sound(random) for pod in _pods(kind, template)]
    verdicts = programs.answers("pods", pods)
    record_property("composed pods compared", len(pods))
    wrong = [list(unexplained(COARSE.values(), refusals(verdict))) for verdict in verdicts]
    assert len(pods) > _CASES / 2, "a few templates are no engine's: two ports that could be the one for traffic"
    assert [(said, pod) for said, pod in zip(wrong, pods, strict=True) if said][:3] == []
    assert [verdict["unknown"] for verdict in verdicts if verdict["unknown"]] == []


def _sound(random: Random) -> Iterator[Any]:
    found = 0
    while found < _CASES:
        template = random_templates.template(random)
        if not podspec.read(template).faults:
            found += 1
            yield template


def _pods(kind: str, template: Any) -> list[Any]:
    """The templates of the pods of a replica whose members have a template."""
    spec: dict[str, Any] = {"modelCacheRef": {"name": "weights"}} if kind == "on a cache" else {}
    if kind == "gang":
        members = [{**_member(template), "role": "Leader"}, {**_member(template), "role": "Worker"}]
        spec |= {"engines": [replicas.engine("qwen", *members)]}
    elif kind == "prefill and decode":
        spec |= replicas.split(_member(template), _member(template))
    else:
        spec |= {"engines": [replicas.engine("qwen", _member(template))]}
    given = (*_named(template), replicas.cache(staged="abc"))
    manifests = replicas.manifests(replicas.compose(replicas.replica(**spec), *given))
    return [pod for manifest in manifests.values() for pod in _templates(manifest["kind"], manifest.get("spec", {}))]


def _templates(kind: str, spec: Any) -> Iterator[Any]:
    if kind == "Deployment" and "picker" not in spec["template"]["metadata"].get("labels", {}):
        yield spec["template"]
    elif kind == "LeaderWorkerSet":
        yield spec["leaderWorkerTemplate"]["leaderTemplate"]
        yield spec["leaderWorkerTemplate"]["workerTemplate"]


def _member(template: Any) -> dict[str, Any]:
    return {"role": "Standalone", "nodePoolName": "gpu", "deviceRequests": [replicas.GPU], "template": template}


def _named(template: Any) -> Iterator[Any]:
    """The Secrets and ConfigMaps that a template names, with their keys."""
    keys: dict[tuple[str, str], set[str]] = {}
    for reference in podspec.references(template):
        keys.setdefault((reference.kind, reference.name), set()).update(reference.keys or ())
    for (kind, name), wanted in keys.items():
        metadata = {"name": name, "namespace": "ml"}
        yield {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": dict.fromkeys(wanted, "YQ==")}
