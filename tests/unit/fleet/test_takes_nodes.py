"""Which replicas of other deployments take nodes."""

from __future__ import annotations

from typing import Any

import pytest

from function.fleet.replicas import takes_nodes
from function.vocabulary import versions

OWNER = {"apiVersion": versions.MODELPLANE, "kind": "ModelDeployment", "name": "d", "uid": "1", "controller": True}
COMPOSED = {"crossplane": {"resourceRefs": [{"apiVersion": "v1", "kind": "Object", "name": "o"}]}}


@pytest.mark.parametrize(
    ("owners", "spec", "want"),
    [([OWNER], {}, True), ([], COMPOSED, True), ([], {}, False), ([], {"crossplane": {"resourceRefs": []}}, False)],
    ids=["of a deployment", "orphaned with its Objects", "written by hand", "refused"],
)
def test_what_has_pods_takes_nodes(owners: list[Any], spec: dict[str, Any], want: bool) -> None:
    assert takes_nodes({"metadata": {"name": "r", "ownerReferences": owners}, "spec": spec}) is want
