"""Which of a pod's containers is the engine."""

from __future__ import annotations

from typing import Any

import pytest

from function import podspec
from function.podspec import container_names, definitions

VLLM = {"name": "server", "image": "vllm/vllm-openai:v0.33.0"}
SGLANG = {"name": "other", "image": "lmsysorg/sglang:v0.5.23"}
EXPORTER = {"name": "metrics", "image": "quay.io/prometheus/node-exporter:v1.9.1"}
NAMED = {"name": "engine", "image": "example.org/own:v1"}

CASES: list[tuple[list[dict[str, Any]], int | None]] = [
    ([EXPORTER], 0),
    ([EXPORTER, NAMED], 1),
    ([VLLM, NAMED], 1),
    ([VLLM, EXPORTER], 0),
    ([EXPORTER, {**EXPORTER, "name": "x", "command": ["vllm", "serve", "org/m"]}], 1),
    ([VLLM, SGLANG], None),
    ([EXPORTER, {**EXPORTER, "name": "x"}], None),
    ([], None),
]


@pytest.mark.parametrize(("containers", "want"), CASES)
def test_it_is_the_one_named_engine_the_only_one_or_the_only_known_one(containers: Any, want: int | None) -> None:
    assert podspec.engine_index(containers) == want


def test_where_that_is_unclear_the_name_is_asked_for() -> None:
    [fault] = podspec.read({"spec": {"containers": [VLLM, SGLANG]}}).faults
    assert fault.path == ("spec", "containers")
    assert "must have one container named engine" in fault.message
    assert "server, other" in fault.message


def test_no_init_container_has_the_name_that_the_engine_gets() -> None:
    helper = {"name": "engine", "image": "busybox:1.37"}
    [fault] = podspec.read({"spec": {"containers": [VLLM], "initContainers": [helper]}}).faults
    assert fault.path == ("spec", "initContainers", 0, "name")
    assert fault.message == "is engine, the name that container server gets; choose another name"


def test_an_engine_of_that_name_says_only_that_the_init_container_has_it() -> None:
    helper = {"name": "engine", "image": "busybox:1.37"}
    [fault] = podspec.read({"spec": {"containers": [NAMED], "initContainers": [helper]}}).faults
    assert fault.path == ("spec", "containers", 0, "name")


def test_all_that_can_name_a_container_is_known() -> None:
    """A definition that is added to Kubernetes is renamed as well, or this fails."""
    known = definitions.definitions().values()
    assert {one.definition for one in known if "containerName" in one.fields} == set(container_names.REFERRING)
