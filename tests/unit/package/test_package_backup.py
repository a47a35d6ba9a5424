"""A backup has what users wrote, and nothing that a cluster wrote."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import yaml

from package import backup

WRITTEN: dict[str, Any] = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelDeployment",
    "metadata": {"name": "qwen", "namespace": "ml-team", "labels": {"team": "a"}, "annotations": {"note": "b"}},
    "spec": {"replicas": 2},
}
SERVED = {
    **WRITTEN,
    "metadata": {
        **WRITTEN["metadata"],
        "annotations": {"note": "b", "kubectl.kubernetes.io/last-applied-configuration": "{}"},
        "uid": "1",
        "resourceVersion": "2",
        "generation": 3,
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["composite.apiextensions.crossplane.io"],
        "managedFields": [],
    },
    "spec": {"replicas": 2, "crossplane": {"compositionRevisionRef": {"name": "gone"}}},
    "status": {"conditions": []},
}


def restored(*objects: dict[str, Any]) -> list[dict[str, Any]]:
    target = io.StringIO()
    backup.main(io.StringIO(json.dumps({"kind": "List", "items": objects})), target)
    return list(yaml.safe_load_all(target.getvalue()))


def test_what_a_cluster_wrote_is_left_out() -> None:
    assert restored(SERVED) == [WRITTEN]


def test_what_something_controls_is_left_out() -> None:
    """A ModelEndpoint of a deployment, a Secret of Crossplane's."""
    owner = {"kind": "ModelDeployment", "name": "qwen", "controller": True}
    composed = {**SERVED, "kind": "ModelEndpoint", "metadata": {**SERVED["metadata"], "ownerReferences": [owner]}}

    assert restored(composed, SERVED) == [WRITTEN]


def test_a_secret_keeps_its_data_and_a_token_is_left_out() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": {"name": "a"}, "data": {"k": "dg=="}}

    assert restored(secret, {**secret, "type": "kubernetes.io/service-account-token"}) == [secret]


def test_one_object_is_no_list() -> None:
    target = io.StringIO()
    backup.main(io.StringIO(json.dumps(SERVED)), target)

    assert yaml.safe_load(target.getvalue()) == WRITTEN


@pytest.mark.parametrize("text", ["", "no", "[]", "{}"])
def test_anything_else_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(SystemExit, match=r"standard input: .*kubectl get KINDS -o json"):
        backup.main(io.StringIO(text), io.StringIO())
