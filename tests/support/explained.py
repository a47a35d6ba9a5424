"""A small fleet with one deployment, edited, as `modelplane explain` takes it apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from function.main import main

DATA = Path(__file__).parents[1] / "data" / "explain"
FILES = ("fleet", "cache", "deployment", "service")
DEPLOYMENT = "ModelDeployment/chat/deepseek"
RIVAL = """
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: a-rival, namespace: chat}
spec:
  replicas: 1
  engines:
  - name: main
    members:
    - role: Standalone
      nodeSelector: {devices: [{name: gpu, count: 8, selectors: [{cel: device.driver == 'gpu.nvidia.com'}]}]}
      template: {spec: {containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]}}
"""
"""Another deployment, which is placed first: its name is before the other in the alphabet."""


def explain(*arguments: str) -> tuple[int, str]:
    """The exit code and the output of the command."""
    done = CliRunner().invoke(main, ["explain", *arguments])
    return done.exit_code, done.output


def explained(*arguments: str) -> dict[str, Any]:
    """The output of the command as data."""
    code, output = explain(*arguments, "-o", "json")
    assert code in (0, 3), output
    found: dict[str, Any] = json.loads(output)
    return found


def fleet(to: Path, *edits: tuple[str, str], more: str = "") -> str:
    """Write the fleet with texts replaced, and more objects beside it. Each text must be there."""
    texts = {name: (DATA / f"{name}.yaml").read_text() for name in FILES}
    for old, new in edits:
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    for name, text in {**texts, "more": more}.items():
        (to / f"{name}.yaml").write_text(text)
    return str(to)


def helping(found: dict[str, Any]) -> set[tuple[str, ...]]:
    """The changes of a deployment's explanation that help, those that help together as one."""
    return {tuple(one["changes"]) for one in remedies(found) if one["helps"]}


def remedies(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All remedies of all clusters."""
    return (remedy for cluster in found["clusters"] for remedy in cluster["remedies"])


def cluster(name: str, **spec: Any) -> str:
    """One more cluster like that of the fleet, as YAML."""
    north = next(m for m in yaml.safe_load_all((DATA / "fleet.yaml").read_text()) if m["kind"] == "InferenceCluster")
    north["metadata"]["name"] = name
    north["spec"]["cluster"]["existing"]["secretRef"]["name"] = f"{name}-kubeconfig"
    north["spec"] |= spec
    return f"---\n{yaml.safe_dump(north)}"
