"""Our ClusterRoles as the API server reads them: every right of package/roles.yaml and package/rbac.yaml is one to a
resource that is served, and who has a role has its rights and no others."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from function import clouds
from tests.e2e import objects, rights
from tests.e2e.audit import Right
from tests.e2e.control import Control
from tests.e2e.kube import Api, Object
from tests.e2e.waiting import until

ROLES = [one["metadata"]["name"] for one in rights.manifests(rights.REPOSITORY / "package/roles.yaml")]
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
RBAC = "rbac.authorization.k8s.io"
NOT_DEFINED = {(each.provider.partition("/")[0], "providerconfigs") for each in clouds.PROVISIONERS}
"""Of the kinds of clouds, cloud_kinds.py defines ClusterProviderConfigs alone."""
AGGREGATED = {"modelplane-ml-team": "edit", "modelplane-viewer": "view"}


@dataclass(frozen=True, slots=True)
class Court:
    """Asks the API server who may do what."""

    api: Api

    def bind(self, role: str) -> str:
        """A user who has a ClusterRole, and nothing else, everywhere."""
        user = f"only-{role}"
        self.api.apply(
            {
                "apiVersion": f"{RBAC}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": user},
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}],
            }
        )
        return user

    def allows(self, user: str, right: Right) -> bool:
        resource, _, part = right.resource.partition("/")
        asked = {"group": right.group, "resource": resource, "verb": right.verb, "namespace": objects.TEAM}
        attributes = asked | ({"subresource": part} if part else {})
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {},
            "spec": {"user": user, "resourceAttributes": attributes},
        }
        answer = self.api.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
        return bool(answer["status"]["allowed"])


@pytest.fixture(scope="module")
def court(crossplane: Control) -> Court:
    return Court(crossplane.api)


def granted(role: str) -> frozenset[Right]:
    found = rights.manifests(rights.REPOSITORY / "package/roles.yaml")
    return rights.expanded(rule for one in found if one["metadata"]["name"] == role for rule in one["rules"])


def ours() -> set[tuple[str, str]]:
    """Every resource of our roles, by group and plural."""
    return {(right.group, right.resource) for role in ROLES for right in granted(role)}


@pytest.mark.parametrize("role", ROLES)
def test_who_has_a_role_has_its_rights_and_no_others(court: Court, role: str) -> None:
    user, want = court.bind(role), granted(role)
    a_right = min(want)
    until(functools.partial(court.allows, user, a_right), f"{user} to have its rights")
    asked = [Right(group, resource, verb) for group, resource in sorted(ours()) for verb in VERBS]
    assert {one for one in asked if court.allows(user, one)} == want


@pytest.mark.parametrize(("role", "aggregate"), AGGREGATED.items())
def test_roles_of_teams_are_in_the_roles_of_kubernetes(court: Court, role: str, aggregate: str) -> None:
    user, right = court.bind(aggregate), min(granted(role))
    until(functools.partial(court.allows, user, right), f"{aggregate} to have the rights of {role}")
    assert [str(one) for one in granted(role) if not court.allows(user, one)] == []


def test_our_rules_name_resources_that_are_served(crossplane: Control) -> None:
    """A misspelt plural grants nothing, and nobody says so. Subresources `finalizers` are served by no API server:
    they are a right to own other objects."""
    named = {(right.group, right.resource) for right in rights.expanded(rights.ours())} | ours()
    there = {(group, name) for group in {group for group, _ in named} for name in served(crossplane.api, group)}
    lacking = {(group, name) for group, name in named - there if not name.endswith("/finalizers")}
    assert lacking - NOT_DEFINED == set()


def served(api: Api, group: str) -> Iterator[str]:
    """The resources of a group, in all its versions."""
    prefixes = [f"/apis/{one['groupVersion']}" for one in versions(api, group)] if group else ["/api/v1"]
    for prefix in prefixes:
        answer: dict[str, Any] = api.look(prefix) or {"resources": []}
        yield from (one["name"] for one in answer["resources"])


def versions(api: Api, group: str) -> list[Object]:
    return list((api.look(f"/apis/{group}") or {"versions": []})["versions"])
