"""A dump that somebody edited: what no API server would serve is an error with its place, and no bug."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from function.cli import dump_check, files
from function.main import main

REPLICA = """apiVersion: modelplane.ai/v1alpha1
kind: ModelReplica
metadata:
  name: a
  namespace: b
  uid: x
  generation: 1
  ownerReferences: [{kind: X, name: x}]
spec: {crossplane: {resourceRefs: []}}
status:
  conditions: [{type: Ready, status: "True", reason: Available, lastTransitionTime: "2026-01-01T00:00:00Z"}]
"""
CARRIED = """apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata: {name: a, namespace: b}
spec: {forProvider: {manifest: {apiVersion: v1, kind: X, metadata: {name: x}}}}
"""
COMPOSED = """apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: b, labels: {crossplane.io/composite: x}}
spec: {replicas: 2}
"""


def said(text: str) -> list[str]:
    return [str(fault) for fault in dump_check.faults(files.parse(text, "f.yaml"))]


@pytest.mark.parametrize("text", [REPLICA, CARRIED, COMPOSED, "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"])
def test_what_an_api_server_serves_is_taken(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "old", "new", "want"),
    [
        (REPLICA, "uid: x", "uid: [x]", "f.yaml:6:8: metadata.uid must be text"),
        (REPLICA, "generation: 1", "generation: one", "f.yaml:7:15: metadata.generation must be a whole number"),
        (REPLICA, "kind: X, ", "", "f.yaml:8:21: metadata.ownerReferences[0].kind is missing"),
        (REPLICA, "crossplane: {resourceRefs: []}", "crossplane: 5", "f.yaml:9:20: spec.crossplane must be a mapping"),
        (REPLICA, "[]}}", "[{kind: X}]}}", "f.yaml:9:36: spec.crossplane.resourceRefs[0].apiVersion is missing"),
        (REPLICA, "type: Ready, ", "", "f.yaml:11:16: status.conditions[0].type is missing"),
        (
            REPLICA,
            "conditions: [",
            "served: 5\n  conditions: [",
            "f.yaml:11:11: status.served must be a boolean, not 5",
        ),
        (CARRIED, ", metadata: {name: x}", "", "f.yaml:4:32: spec.forProvider.manifest.metadata is missing"),
        (CARRIED, "spec:", "spce:", "f.yaml:1:1: spec is missing"),
        (COMPOSED, "spec:", "spce:", "f.yaml:1:1: spec is missing"),
        (COMPOSED, "2", "two", "f.yaml:4:18: spec.replicas must be a whole number"),
    ],
)
def test_what_it_would_not_serve_says_where_it_stands(text: str, old: str, new: str, want: str) -> None:
    assert (old in text, said(text.replace(old, new, 1))[:1]) == (True, [want])


def test_a_plan_says_so_and_is_no_bug() -> None:
    got = CliRunner().invoke(main, ["plan", "-"], input=CARRIED.replace("spec:", "spec: 5 #"))

    want = "<stdin>:4:7: error: spec must be a mapping [unreadable]\nError: 1 error; nothing was planned\n"
    assert (got.exit_code, got.stdout, got.stderr) == (1, "", want)
