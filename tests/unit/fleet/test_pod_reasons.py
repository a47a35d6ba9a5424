"""Why pods wait, as an observer reports it: read in bounds, and never an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.fleet import pod_reasons
from function.vocabulary.observation import MOST_MESSAGE, MOST_REASONS, REASONS_KEY

POD = {"name": "a", "node": "n1", "container": "engine", "reason": "OOMKilled", "message": "killed", "exitCode": 137}


def reported(told: Any) -> dict[str, Any]:
    text = told if isinstance(told, str) else json.dumps(told)
    return {"status": {"atProvider": {"manifest": {"data": {REASONS_KEY: text}}}}}


def report(*pods: Any, waiting: Any = 1, version: Any = 1) -> dict[str, Any]:
    return {"version": version, "namespace": "ml", "workloads": {"w": {"waiting": waiting, "pods": list(pods)}}}


def said(*pods: Any, **fields: Any) -> str:
    return str(pod_reasons.read(reported(report(*pods, **fields)))["w"])


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        (POD, "pod a on node n1: OOMKilled of container engine (exit code 137): killed"),
        ({**POD, "signal": 9}, "pod a on node n1: OOMKilled of container engine (signal 9): killed"),
        ({"name": "a", "reason": "Unschedulable", "message": "0/3 nodes"}, "pod a: Unschedulable: 0/3 nodes"),
        ({**POD, "terminated": "CUDA error"}, 'killed; it wrote "CUDA error"'),
        ({"name": "a", "reason": "Error", "message": "one\ntwo"}, "pod a: Error: one two"),
    ],
)
def test_a_pod_is_described_in_one_line(pod, text):
    assert said(pod).endswith(text)


def test_more_pods_are_counted():
    assert said(POD, waiting=3).endswith("and 2 more")
    assert said(POD, {**POD, "name": "b"}, waiting="x").endswith("and 1 more")


@pytest.mark.parametrize(
    "told",
    [
        "",
        "{",
        "[" * 100_000,
        "null",
        [],
        {},
        report(POD, version=2),
        report(),
        report(1, None, []),
        report({"name": "a"}),
        report({**POD, "reason": ["x"]}),
        {"version": 1, "workloads": []},
        {"version": 1, "workloads": {"w": 3}},
        {"version": 1, "workloads": {"w": {"pods": "x"}}},
        json.dumps(report(POD)) + " " * MOST_REASONS,
    ],
)
def test_what_cannot_be_read_is_not_reported(told):
    assert pod_reasons.read(reported(told)) == {}


@pytest.mark.parametrize("found", [None, {}, {"status": None}, {"status": {"atProvider": {"manifest": {"data": []}}}}])
def test_no_report_is_none(found):
    assert pod_reasons.read(found) == {}


def test_texts_are_bounded():
    assert len(said({**POD, "message": "x" * 10_000, "terminated": "y" * 10_000})) < 2 * MOST_MESSAGE + 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(
    pods=st.lists(st.dictionaries(st.sampled_from([*POD, "signal", "terminated"]), json_values), max_size=6),
    waiting=json_values,
)
def test_no_report_raises(pods, waiting):
    for found in pod_reasons.read(reported(report(*pods, waiting=waiting))).values():
        assert "\n" not in str(found)
        assert len(found.pods) <= 4
