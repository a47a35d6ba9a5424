"""Why a replica that is placed does not serve, as `modelplane explain` tells it from a dump."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from function.main import main

TOUR = Path(__file__).parents[3] / "examples" / "shared-nodes"
REPLICA = """
apiVersion: modelplane.ai/v1alpha1
kind: ModelReplica
metadata:
  name: qwen3-8b-00000000
  namespace: {namespace}
  labels: {{modelplane.ai/deployment: qwen3-8b, modelplane.ai/cluster: lab, modelplane.ai/replica-index: "7"}}
  ownerReferences: [{{apiVersion: modelplane.ai/v1alpha1, kind: ModelDeployment, name: qwen3-8b, uid: u, controller: true}}]
spec:
  clusterName: lab
  engines:
  - name: main
    members:
    - nodePoolName: h100
      template: {{spec: {{containers: [{{name: engine, image: example.org/engine}}]}}}}
status:
  conditions:
  - type: ModelReady
    status: "False"
    reason: ModelStarting
    message: "engine main: 0 of 1 copies are available: pod a: ImagePullBackOff: not found"
    lastTransitionTime: "2026-01-01T00:00:00Z"
"""


def explained(tmp_path: Path, namespace: str) -> str:
    (tmp_path / "replica.yaml").write_text(REPLICA.format(namespace=namespace))
    return CliRunner().invoke(main, ["explain", str(TOUR), str(tmp_path), "md/chat/qwen3-8b"]).output


def test_a_pods_own_reason_is_told(tmp_path):
    assert "Replica qwen3-8b-00000000 does not serve. ModelStarting: engine main" in explained(tmp_path, "chat")


def test_a_namesakes_reason_is_not(tmp_path):
    assert "does not serve" not in explained(tmp_path, "search")
