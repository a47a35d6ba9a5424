"""Whatever stands where in a manifest: an answer, no traceback, and no value that may be secret in the report."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from function.cli.convert import convert as command
from function.cli.files import parse
from function.conversion import checks
from function.conversion.convert import convert

CASES = Path(__file__).parent / "cases"
SOURCES = [
    one.manifest
    for path in sorted(CASES.glob("*.yaml"))
    if not path.name.endswith(".out.yaml")
    for one in parse(path.read_text(), path.name)
    if len(one.manifest) > len(("apiVersion", "kind", "metadata"))
]
JUNK: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [
            "",
            "engine",
            "http",
            "0",
            "-1",
            "1.5",
            "hf://a/b",
            "pvc://",
            "nvidia.com/gpu",
            "\ud800",
            "é" * 300,
            "9" * 5000,
        ]
    ),
    st.lists(
        st.one_of(st.none(), st.integers(), st.text(max_size=3), st.dictionaries(st.text(max_size=3), st.none())),
        max_size=3,
    ),
    st.dictionaries(
        st.sampled_from(["name", "spec", "containers", "image", "template", "key", "x"]), st.text(max_size=3)
    ),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path of a value, but for what every object must have."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [place for key, child in inner for place in places(child, (*path, key))]
    is_identity = path in (
        (),
        ("apiVersion",),
        ("kind",),
        ("metadata",),
        ("metadata", "name"),
        ("metadata", "namespace"),
    )
    return below if is_identity else [path, *below]


def replaced(source: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    holder: Any = source
    for step in path[:-1]:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return  # another replacement took the place away
    step = path[-1]
    if isinstance(holder, dict) or (isinstance(holder, list) and isinstance(step, int) and step < len(holder)):
        holder[path[-1]] = value


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_junk_anywhere_gets_an_answer(data: st.DataObject) -> None:
    sources = copy.deepcopy(data.draw(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=3)))
    for source in sources:
        for path in data.draw(st.lists(st.sampled_from(places(source)), max_size=3)):
            replaced(source, path, data.draw(JUNK))
    for source in sources:  # as files are read
        for field in ("labels", "annotations"):
            if not isinstance(source["metadata"].get(field), dict):
                source["metadata"].pop(field, None)
        for field in ("ownerReferences", "finalizers"):
            if not isinstance(source["metadata"].get(field), list):
                source["metadata"].pop(field, None)

    results = convert(sources)
    checks.left(results)

    assert [result for result in results if result.problem and result.targets] == []
    assert [r.source["kind"] for r in results if not (r.targets or r.problem or r.advice)] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "just words",
        "apiVersion: apps/v1",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: []}",
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: []}}}}",
        "{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: a}}",
        "{apiVersion: serving.kserve.io/v1alpha1, kind: LLMInferenceService, metadata: {name: a}, spec: 7}",
        "{apiVersion: modelplane.ai/v1alpha1, kind: ModelDeployment, metadata: {name: a}, spec: {template: {spec: 1}}}",
        (
            "{apiVersion: modelplane.ai/v1alpha1, kind: ModelDeployment, metadata: {name: a},"
            " spec: {template: {spec: {engines: 1}}}}"
        ),
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {a: 1}}}",
        "{apiVersion: v1, kind: List, items: 5}",
        "a: [",
    ],
)
def test_bad_input_exits_with_2(text: str) -> None:
    got = CliRunner().invoke(command, ["-"], input=text)

    assert (got.exit_code, got.stdout, "bug" in got.stderr) == (2, "", False)
    assert got.stderr


def test_the_report_repeats_no_value_that_may_be_secret() -> None:
    secret = "hunter2"
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "b", "annotations": {"token": secret}},
        "spec": {
            "template": {
                "metadata": {"annotations": {"modelplane.ai/x": secret, "token": secret}},
                "spec": {
                    "containers": [
                        {
                            "name": "a",
                            "image": "vllm/vllm-openai:v0.23.0",
                            "command": ["sh", "-c", secret],
                            "args": [f"--api-key={secret}"],
                            "env": [{"name": "TOKEN", "value": secret}, {"name": "no name", "value": secret}],
                            "resources": {"limits": {"nvidia.com/gpu": 1}},
                            "unknown": secret,
                        }
                    ]
                },
            }
        },
    }
    other = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "LLMInferenceService",
        "metadata": {"name": "k", "namespace": "b"},
        "spec": {
            "model": {"uri": "hf://a/b"},
            "template": {
                "containers": [{"name": "main", "env": [{"name": "VLLM_ADDITIONAL_ARGS", "value": f"'{secret}"}]}]
            },
        },
    }

    got = CliRunner().invoke(command, ["-"], input=yaml.safe_dump_all([manifest, other]))

    assert secret in got.stdout
    assert secret not in got.stderr
