"""`modelplane explain` takes a "no" apart, and each change that it proposes does place one more replica."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from function.main import main

ROOT = Path(__file__).parents[3]
EXAMPLE = str(ROOT / "examples" / "explain")
GLM = "ModelDeployment/ml-team/glm"


def explain(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["explain", *arguments])
    return done.exit_code, done.output


@pytest.mark.slow
def test_three_clusters_say_no_for_three_reasons():
    """Down to the pool, the request and the value seen, with what would help."""
    eight = "8 needed on one node, none matches; closest is gpu with memory 81559Mi, which fails "
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0'
    want = f"""{GLM}: 1 of 2 replicas are placed.

full  Full: pool h200 has 1 node free, and a replica needs 2; held by ml-team/glm
  pool h200: 1 of 3 nodes free
  would help: add 1 node to pool h200

reserved  Tainted: the cluster has taint team=vision:NoSchedule, which spec.tolerations does not tolerate
  pool h200: 2 of 2 nodes free
  would help: tolerate team=vision:NoSchedule in spec.tolerations

small  NoDevice: no device matches request gpu of engine vllm (Leader)
  pool h100: 4 of 4 nodes free
    engine vllm (Leader), request gpu: {eight}{selector}
    engine vllm (Worker), request gpu: {eight}{selector}
  would help: request memory 81559Mi instead of 80Gi
"""
    assert explain(EXAMPLE, GLM) == (3, want)


HOST_PATH = """
          volumes:
          - name: weights
            hostPath: {path: /mnt/weights}
"""


def test_a_level_of_pod_security_is_explained_with_the_field_and_what_admits_it(tmp_path: Path):
    fleet = (Path(EXAMPLE) / "fleet.yaml").read_text()
    privileged = fleet.replace("  name: small\nspec:", "  name: small\nspec:\n  podSecurity: {enforce: privileged}")
    worker = (Path(EXAMPLE) / "deployment.yaml").read_text().rstrip("\n") + HOST_PATH
    (tmp_path / "fleet.yaml").write_text(privileged)
    (tmp_path / "deployment.yaml").write_text(worker)
    code, output = explain(str(tmp_path), GLM)
    demand = "spec.engines[0].members[1].template.spec.volumes[0].hostPath must not be set"
    raised = "set spec.podSecurity.enforce of the cluster to privileged"
    full = f"""full  PodSecurity: the cluster enforces Pod Security baseline, by which {demand}
  pool h200: 3 of 3 nodes free
  would help: {raised}
  may help, not tried: change the pods ({demand}) (whether the engine still works without it is not known here)
"""
    assert code == 3
    assert full in output


@pytest.mark.slow
def test_for_machines_it_says_the_same():
    code, output = explain(EXAMPLE, GLM, "-o", "json")
    data = json.loads(output)
    assert code == 3
    assert {c["name"]: c["reason"] for c in data["clusters"]} == {
        "full": "Full",
        "reserved": "Tainted",
        "small": "NoDevice",
    }
    assert yaml.safe_load(explain(EXAMPLE, GLM, "-o", "yaml")[1]) == data


def test_a_cluster_that_does_not_serve_says_why(tmp_path: Path):
    """Its own conditions know: the scheduler reads status.serving only."""
    clusters = """
apiVersion: modelplane.ai/v1alpha1
kind: InferenceCluster
metadata: {name: virginia}
spec:
  cluster: {source: EKS, eks: {region: us-east-1}}
  nodePools: [{name: l4, className: eks-l4-1x-g6, zones: [us-west-2a]}]
"""
    (tmp_path / "clusters.yaml").write_text(clusters)
    (tmp_path / "deployment.yaml").write_text((Path(EXAMPLE) / "deployment.yaml").read_text())

    code, output = explain(str(tmp_path), str(ROOT / "examples/classes/eks.yaml"), GLM)
    zones = "must have availability zones of us-east-1: us-east-1a to us-east-1g, not us-west-2a"
    assert code == 3
    assert output.endswith(f"""
virginia  NotReady: the cluster does not serve: its status.serving is not true
  ClusterReady: InvalidNodePool: spec.nodePools[0].zones: {zones}
  BackendReady: WaitingForCluster: The cluster cannot be reached yet
  may help, not tried: make the cluster serve (it depends on what its conditions show)
""")


@pytest.mark.parametrize(
    ("cluster", "change"),
    [
        ("full", ("nodeCount: 3", "nodeCount: 4")),
        ("reserved", ("  replicas: 2\n", "  replicas: 2\n  tolerations: [{key: team, value: vision}]\n")),
        ("small", ('quantity("80Gi")', 'quantity("81559Mi")')),
    ],
)
def test_each_change_that_would_help_does(cluster: str, change: tuple[str, str], tmp_path: Path):
    for file in Path(EXAMPLE).glob("*.yaml"):
        (tmp_path / file.name).write_text(file.read_text().replace(*change))
    assert explain(str(tmp_path), GLM) == (0, f"{GLM}: 2 of 2 replicas are placed.\nNothing is missing.\n")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            (EXAMPLE, "md/ml-team/nope"),
            1,
            "ModelDeployment ml-team/nope not found; did you mean ModelDeployment/ml-team",
        ),
        ((EXAMPLE, "md/ml-team/x/glm"), 2, "use KIND/NAMESPACE/NAME"),
        ((EXAMPLE, "Pod/ml-team/glm"), 2, "unknown kind Pod; known: AKSCluster, EKSCluster"),
        ((EXAMPLE, "ModelDeploymnt/ml-team/glm"), 2, "unknown kind ModelDeploymnt; did you mean ModelDeployment?"),
        (("no-such-folder", GLM), 1, "no-such-folder"),
    ],
)
def test_a_wrong_question_is_told_what_is_wrong(arguments: tuple[str, ...], code: int, said: str):
    got, output = explain(*arguments)
    assert (got, said in output, "Traceback" in output) == (code, True, False)


@pytest.mark.slow
def test_whatever_it_was_called_by_it_is_named_in_full():
    """A program compares the name with others."""
    data = json.loads(explain(EXAMPLE, "md/ml-team/glm", "-o", "json")[1])
    assert data["object"] == GLM


NIC = "  - {name: nic, claim: Synthetic, driver: nic.example.com, count: 8}\n"


@pytest.mark.slow
def test_a_device_of_another_kind_is_not_why_a_gpu_is_too_small(tmp_path: Path):
    """Kubernetes evaluates a selector on the devices of one DeviceClass only."""
    fleet = (Path(EXAMPLE) / "fleet.yaml").read_text()
    (tmp_path / "fleet.yaml").write_text(fleet.replace("  devices:\n", f"  devices:\n{NIC}"))
    (tmp_path / "deployment.yaml").write_text((Path(EXAMPLE) / "deployment.yaml").read_text())
    _, output = explain(str(tmp_path), GLM)

    assert "small  NoDevice: no device matches request gpu of engine vllm (Leader)" in output
    assert "closest is gpu with memory 81559Mi" in output
    assert "would help: request memory 81559Mi instead of 80Gi" in output


HARDWARE = ROOT / "examples/hardware"
NOTE = "a pod takes a whole node and leaves 6 devices of it unused; with sharing Devices, pods share nodes"


@pytest.mark.parametrize(("kind", "pool", "noted"), [("mig", "whole", True), ("time-slicing", "shared", False)])
def test_a_small_pod_that_takes_a_whole_node_is_noted(kind: str, pool: str, noted: bool):
    """Not where nodes are shared."""
    files = (str(HARDWARE / kind / f"{name}.yaml") for name in ("class", "models", pool))
    _, output = explain(*files, "ModelDeployment/ml-team/rerank")

    assert " Full: " in output
    assert (f"\n    {NOTE}\n" in output) is noted
    assert ("\n  would help: set sharing of pool slices to Devices\n" in output) is noted
