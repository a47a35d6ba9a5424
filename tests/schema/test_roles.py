"""ClusterRoles for people: what each gives, and what none gives."""

from __future__ import annotations

from typing import Any

import pytest

from function.publish import roles
from function.publish.catalog import KINDS
from function.schema import Audience

ROLES = {role["metadata"]["name"]: role for role in roles.cluster_roles()}
WRITING = {"create", "update", "patch"}


def may(role: str, verbs: set[str]) -> set[str]:
    """The resources on which a role gives any of the verbs."""
    rules: list[dict[str, Any]] = ROLES[role]["rules"]
    return {resource for rule in rules if verbs & set(rule["verbs"]) for resource in rule["resources"]}


@pytest.mark.parametrize("role", ROLES)
def test_nobody_writes_an_internal_kind_or_a_providers(role: str) -> None:
    internal = {kind.plural for kind in KINDS if kind.audience is Audience.INTERNAL}

    assert may(role, WRITING) & (internal | {"objects", "releases", "clusterproviderconfigs"}) == set()
    written = [rule for rule in ROLES[role]["rules"] if WRITING & set(rule["verbs"])]
    assert {group for rule in written for group in rule["apiGroups"]} <= {kind.group for kind in KINDS}


def test_an_ml_team_writes_its_own_kinds_and_no_others() -> None:
    own = {kind.plural for kind in KINDS if kind.audience is Audience.TEAM}

    assert may("modelplane-ml-team", WRITING) == own | {"modeldeployments/scale"}


def test_a_viewer_sees_every_object_of_a_namespace_and_changes_none() -> None:
    namespaced = {kind.plural for kind in KINDS if kind.scope == "Namespaced"}

    assert may("modelplane-viewer", {"get"}) == namespaced
    assert may("modelplane-viewer", WRITING | {"delete"}) == set()


def test_who_sees_what_was_composed_sees_no_secret_and_changes_nothing() -> None:
    seen = may("modelplane-composed-viewer", {"list"})

    assert {"objects", "releases", "usages", "httproutes", "clusterproviderconfigs"} <= seen
    assert seen & {"secrets", "configmaps"} == set()
    assert may("modelplane-composed-viewer", WRITING | {"delete"}) == set()


def test_a_platform_team_cleans_up_what_it_does_not_write() -> None:
    assert {"modelreplicas", "servingstacks"} <= may("modelplane-platform-team", {"delete"})


def test_only_roles_of_a_namespace_are_aggregated_into_kubernetes_own() -> None:
    got = {name: sorted(role["metadata"].get("labels") or {}) for name, role in ROLES.items()}

    prefix = "rbac.authorization.k8s.io/aggregate-to-"
    assert got == {
        "modelplane-ml-team": [f"{prefix}edit"],
        "modelplane-viewer": [f"{prefix}view"],
        "modelplane-fleet-viewer": [],
        "modelplane-composed-viewer": [],
        "modelplane-platform-team": [],
    }
