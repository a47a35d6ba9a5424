"""What `kubectl apply` makes of an object."""

from __future__ import annotations

import json
from typing import Any

import pytest

from function.planning.applying import LAST_APPLIED, applied


def deployment(spec: dict[str, Any], last: dict[str, Any] | str | None = None, **labels: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "qwen", "namespace": "ml"}
    if labels:
        metadata["labels"] = labels
    if last is not None:
        text = last if isinstance(last, str) else json.dumps({"metadata": {"name": "qwen"}, "spec": last})
        metadata["annotations"] = {LAST_APPLIED: text}
    return {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelDeployment", "metadata": metadata, "spec": spec}


CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "what an autoscaler set stays": (
        deployment({"replicas": 5, "engines": [1]}, {"engines": [1]}),
        deployment({"engines": [2]}),
        {"replicas": 5, "engines": [2]},
    ),
    "what is no longer written is removed": (
        deployment({"replicas": 5, "engines": [1]}, {"replicas": 5, "engines": [1]}),
        deployment({"engines": [1]}),
        {"engines": [1]},
    ),
    "without a record nothing is removed": (
        deployment({"replicas": 5, "engines": [1]}), deployment({"engines": [2]}), {"replicas": 5, "engines": [2]},
    ),
    "a record that is broken is none": (
        deployment({"replicas": 5}, "{"), deployment({"engines": [2]}), {"replicas": 5, "engines": [2]},
    ),
    "a record that is no object is none": (
        deployment({"replicas": 5}, "[1]"), deployment({"engines": [2]}), {"replicas": 5, "engines": [2]},
    ),
    "mappings are merged, lists are replaced": (
        deployment({"a": {"x": 1, "y": 2}, "b": [1, 2]}), deployment({"a": {"y": 3}, "b": [3]}),
        {"a": {"x": 1, "y": 3}, "b": [3]},
    ),
    "null removes": (deployment({"replicas": 5, "a": 1}), deployment({"replicas": None}), {"a": 1}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_spec_is_merged(case: str) -> None:
    old, new, want = CASES[case]

    assert applied(old, new)["spec"] == want


def test_labels_are_merged_and_status_is_left_out() -> None:
    old = {**deployment({}, None, team="ml"), "status": {"replicas": {}}}

    got = applied(old, deployment({}, None, region="eu"))

    assert got["metadata"]["labels"] == {"team": "ml", "region": "eu"}
    assert "status" not in got
