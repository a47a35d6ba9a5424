"""`plan` and `explain` give the same reason for each cluster: in every golden case, example and small fleet."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from function.core import InvalidSpec, NotYet
from function.kinds.modeldeployment import explain
from function.main import main
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.planning.explanation.states import State
from function.sandbox import settle
from function.sandbox.store import ref_of
from function.vocabulary import versions
from tests.support import explained
from tests.support.cases import CASES, answer, load

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
HARDWARE = EXAMPLES / "hardware"
MISTAKES = {
    "no cache": ("modelCacheRef: {name: deepseek}", "modelCacheRef: {name: deepseeek}"),
    "no class": ("className: h200-8x", "className: h200-x8"),
    "no attribute": (".architecture ==", ".arch =="),
    "no nodes": ("nodeCount: 4", "nodeCount: 1"),
}


@pytest.mark.parametrize("case", [c for c in CASES if c.parent.name == "modeldeployment"], ids=lambda case: case.name)
def test_the_reasons_of_a_golden_case_are_those_that_it_reports(case: Path) -> None:
    """The composer reads as little as it can, and an explanation reads everything."""
    request, objects = load(case)
    want = {one["cluster"]: one["reason"] for one in answer(case).status.get("rejections", ())}
    try:
        for _ in range(2):
            request = replace(request, required=settle.resolve(explain.requirements(request), objects))
        got = {one.name: one.reason for one in explain.explain(request).clusters}
    except (InvalidSpec, NotYet):
        got = {}

    assert got == want


FLEETS = {
    **{path.name: [path] for path in sorted(EXAMPLES.iterdir()) if path.name in ("explain", "fragmented", "tour")},
    **{
        f"{path.parent.name} {path.stem}": [path.with_name("class.yaml"), path.with_name("models.yaml"), path]
        for path in sorted(HARDWARE.glob("*/*.yaml"))
        if path.stem in ("whole", "shared")
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("paths", FLEETS.values(), ids=FLEETS)
def test_the_reasons_of_an_example_are_those_of_its_plan(paths: list[Path]) -> None:
    compare([str(path) for path in paths])


@pytest.mark.slow
@pytest.mark.parametrize("edit", MISTAKES.values(), ids=MISTAKES)
def test_the_reasons_of_a_mistake_are_those_of_its_plan(edit: tuple[str, str], tmp_path: Path) -> None:
    assert compare([explained.fleet(tmp_path, edit)])


@pytest.mark.parametrize("seed", range(6))
def test_the_reasons_of_a_random_fleet_are_those_that_it_reports(seed: int) -> None:
    """Shared and whole nodes, taints, labels, and demands that no device meets."""
    objects = random_fleet(random.Random(seed))
    control = ControlPlane()
    control.loop.load([*objects, *stubs.objects(objects)])
    control.loop.settle()
    for deployment in control.store.of_kind(versions.MODELPLANE, "ModelDeployment"):
        want = {one["cluster"]: one["reason"] for one in deployment["status"].get("rejections", ())}
        got = {name: one.reason for name, one in State(control, ref_of(deployment)).rejections.items()}
        assert got == want, deployment["metadata"]["name"]


def random_fleet(rng: random.Random) -> list[dict[str, Any]]:
    sizes = {"large": ("141Gi", 8), "small": ("24Gi", 4)}
    classes = [ours("InferenceClass", name, {"devices": [gpus(*size)]}) for name, size in sizes.items()]
    clusters = [ours("InferenceCluster", f"c{i}", random_cluster(rng, i)) for i in range(rng.randint(2, 4))]
    return [*classes, *clusters, *(random_deployment(rng, i) for i in range(rng.randint(3, 6)))]


def ours(kind: str, name: str, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": versions.MODELPLANE, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


def gpus(memory: str, count: int) -> dict[str, Any]:
    driver = "gpu.nvidia.com"
    capacity = {"memory": {"value": memory}}
    return {"name": "gpu", "driver": driver, "deviceClassName": driver, "count": count, "capacity": capacity}


def random_cluster(rng: random.Random, index: int) -> dict[str, Any]:
    pool = {"name": "p", "className": rng.choice(["large", "small"]), "nodeCount": rng.randint(1, 3)}
    taint = {"key": "team", "value": "vision", "effect": "NoSchedule"}
    return {
        "cluster": {"source": "Existing", "existing": {"secretRef": {"name": f"kubeconfig-{index}"}}},
        "nodePools": [{**pool, "sharing": rng.choice(["Nodes", "Devices"])}],
        "taints": [taint] if rng.random() < 0.3 else [],
    }


def random_deployment(rng: random.Random, index: int) -> dict[str, Any]:
    least = rng.choice(["16Gi", "100Gi", "200Gi"])
    selector = f'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{least}")) >= 0'
    devices = [{"name": "gpu", "count": rng.choice([1, 2, 3, 8]), "selectors": [{"cel": selector}]}]
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.23.0"}]}}
    member = {"role": "Standalone", "nodeSelector": {"devices": devices}, "template": template}
    spec: dict[str, Any] = {"replicas": rng.randint(1, 3), "engines": [{"name": "main", "members": [member]}]}
    if rng.random() < 0.2:
        spec["clusterSelector"] = {"matchLabels": {"zone": "nowhere"}}
    return ours("ModelDeployment", f"d{index}", spec, namespace="chat")


def compare(paths: list[str]) -> list[str]:
    """Compare what the two commands say of each deployment. Returns those that clusters reject."""
    planned = json.loads(CliRunner().invoke(main, ["plan", *paths, "-o", "json"]).output)
    rejected = [one for one in planned["deployments"] if one["rejections"]]
    for one in rejected:
        got = explained.explained(*paths, f"ModelDeployment/{one['namespace']}/{one['name']}")["clusters"]
        want = {rejection["cluster"]: rejection["reason"] for rejection in one["rejections"]}
        assert {cluster["name"]: cluster["reason"] for cluster in got} == want
    return [one["name"] for one in rejected]
