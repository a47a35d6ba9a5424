"""The custom role of the examples has what the composed resources need, and the docs limit what it can grant."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from function.clouds.gke import facts

ROOT = Path(__file__).parents[4]
ROLE = json.loads((ROOT / "examples/clouds/permissions/gke.json").read_text())
CREATE, GET, DELETE = "create", "get", "delete"
OF_KIND = {
    "ProjectService": ("serviceusage.services", ("enable", GET)),
    "ServiceAccount": ("iam.serviceAccounts", (CREATE, GET, DELETE, "actAs")),
    "ServiceAccountKey": ("iam.serviceAccountKeys", (CREATE, GET, DELETE)),
    "ProjectIAMMember": ("resourcemanager.projects", ("getIamPolicy", "setIamPolicy")),
    "Network": ("compute.networks", (CREATE, GET, DELETE, "updatePolicy")),
    "Subnetwork": ("compute.subnetworks", (CREATE, GET, DELETE)),
    "Router": ("compute.routers", (CREATE, GET, DELETE)),
    "RouterNAT": ("compute.routers", (GET, "update")),
    "Cluster": ("container.clusters", (CREATE, GET, DELETE, "update")),
    "NodePool": ("container.clusters", (GET, "update")),
}
"""Resource and verbs of each kind (IAM permissions reference): a NAT is part of its router, a pool of its cluster."""


@pytest.mark.parametrize("kind", [kind.kind for kind in facts.MANAGED])
def test_every_composed_kind_may_be_made_and_deleted(kind: str) -> None:
    resource, verbs = OF_KIND[kind]

    assert {f"{resource}.{verb}" for verb in verbs} <= {*ROLE["includedPermissions"]}


def test_nothing_is_listed_twice_and_nothing_is_a_wildcard() -> None:
    listed = ROLE["includedPermissions"]

    assert len(listed) == len(set(listed))
    assert [permission for permission in listed if not re.fullmatch(r"[a-z]+\.[A-Za-z]+\.[A-Za-z]+", permission)] == []
    assert {"title", "stage", "description", "includedPermissions"} == ROLE.keys()


def test_the_docs_let_it_grant_the_composed_roles_alone() -> None:
    section = (ROOT / "docs/clouds.md").read_text().partition("## GKE")[2].partition("## AKS")[0]
    condition = section.partition("hasOnly([")[2].partition("])")[0]

    assert set(re.findall(r"'([^']+)'", condition)) == {*facts.NODE_ROLES.values(), facts.ACCESS_ROLE}
