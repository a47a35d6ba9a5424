"""`modelplane convert`: its options, its two outputs and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from function.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: b}
spec:
  template:
    spec:
      nodeSelector: {pool: gpu}
      containers: [{name: vllm, image: "vllm/vllm-openai:v0.23.0", resources: {limits: {nvidia.com/gpu: 1}}}]
"""
OLD = """
apiVersion: modelplane.ai/v1alpha1
kind: ModelDeployment
metadata: {name: a, namespace: b}
spec:
  template:
    spec:
      engines:
      - name: vllm
        members:
        - nodeSelector:
            devices:
            - name: gpu
              selectors:
              - cel: device.attributes["gpu.nvidia.com"].productName.lowerAscii() == "nvidia l4"
          template: {spec: {containers: [{name: engine, image: "vllm/vllm-openai:v0.23.0"}]}}
"""


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["convert", *arguments], input=stdin)


def test_a_field_that_is_not_carried_fails_only_if_asked() -> None:
    lax, strict = run("-", stdin=DEPLOYMENT), run("-", "--strict", stdin=DEPLOYMENT)

    assert (lax.exit_code, strict.exit_code) == (0, 1)
    assert lax.stdout == strict.stdout
    assert "not carried  spec.template.spec.nodeSelector.pool: Modelplane picks the pool" in lax.stderr


def test_a_namespace_replaces_that_of_the_input() -> None:
    got = run(str(EXAMPLES / "convert"), "-n", "other")

    written = [one for one in yaml.safe_load_all(got.stdout) if one]
    assert (got.exit_code, {one["metadata"]["namespace"] for one in written}) == (0, {"other"})


def test_cluster_scoped_objects_get_no_namespace() -> None:
    stdin = "{apiVersion: modelplane.ai/v1alpha1, kind: InferenceClass, metadata: {name: a}, spec: {devices: []}}"

    [written] = [one for one in yaml.safe_load_all(run("-", "-n", "other", stdin=stdin).stdout) if one]

    assert written["metadata"] == {"name": "a"}


def test_json_is_a_list_of_the_same_objects() -> None:
    as_yaml, as_json = run("-", stdin=DEPLOYMENT), run("-", "-o", "json", stdin=DEPLOYMENT)

    assert json.loads(as_json.stdout)["items"] == [one for one in yaml.safe_load_all(as_yaml.stdout) if one]


def test_a_selector_that_means_something_else_is_named_with_its_devices() -> None:
    got = run("-", "--classes", str(EXAMPLES / "tour/classes.yaml"), stdin=OLD)

    assert got.exit_code == 0
    assert 'read this selector differently: device.attributes["gpu.nvidia.com"].productName.lowerAscii()' in got.stderr
    assert "  match       error       gke-l4-1x-g2/gpu\n" in got.stderr
    assert "gke-a100-8x-a2" not in got.stderr


def test_selectors_that_the_conversion_wrote_are_not_compared() -> None:
    """cel-python never read them."""
    stdin = DEPLOYMENT.replace("pool: gpu", "nvidia.com/gpu.product: NVIDIA-L4")

    got = run("-", "--classes", str(EXAMPLES / "tour/classes.yaml"), stdin=stdin)

    assert "replace(" in got.stdout
    assert "differently" not in got.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["/no/such/file"], "no such file or folder"),
        (["-", "--classes", "/no/such/file"], "no such file or folder"),
        (["-", "-o", "toml"], "Invalid value"),
        ([], "Missing argument"),
    ],
)
def test_what_cannot_be_used_exits_with_2(arguments: list[str], said: str) -> None:
    got = run(*arguments, stdin=DEPLOYMENT)

    assert got.exit_code == 2
    assert said in got.stderr


def test_objects_of_which_none_is_converted_exit_with_2() -> None:
    got = run("-", stdin="{apiVersion: v1, kind: Namespace, metadata: {name: a}}")

    assert (got.exit_code, got.stdout) == (2, "")
    assert got.stderr.splitlines()[-1] == "error: nothing to convert"


def test_a_document_that_is_no_object_does_not_hide_the_others() -> None:
    got = run("-", stdin=f"just words\n---{DEPLOYMENT}")

    assert got.exit_code == 2
    assert "kind: ModelDeployment" in got.stdout
    assert "not a Kubernetes object" in got.stderr


def test_the_pods_of_a_kind_that_is_not_known_are_named() -> None:
    stdin = """
apiVersion: workloads.x-k8s.io/v1alpha1
kind: RoleBasedGroup
metadata: {name: a}
spec: {roles: [{name: prefill, template: {spec: {containers: []}}}]}
"""

    assert "its pods at spec.roles[0].template.spec can be a member's template.spec" in run("-", stdin=stdin).stderr
