"""What the API server lets a tenant write: our roles, our definitions and our admission policies.

`make e2e` tries the same against a real API server (tests/e2e/test_admission.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from function import cel
from function.core import Manifest, plain
from function.publish import admission, catalog, roles, xrd
from function.schema import Audience
from function.vocabulary import labels, versions
from tests.tenancy.attacks.labels import LABELS, OWNERS
from tests.tenancy.fleet import endpoint, with_metadata

TEAM = [kind for kind in catalog.KINDS if kind.audience is Audience.TEAM]
ROLES = {role["metadata"]["name"]: role["rules"] for role in roles.cluster_roles()}
WRITES = {"create", "update", "patch", "delete", "deletecollection", "*", "escalate", "bind", "impersonate"}


def writable(name: str) -> set[str]:
    return {
        f"{resource}.{group}"
        for one in ROLES[name]
        if WRITES & set(one["verbs"])
        for group in one["apiGroups"]
        for resource in one["resources"]
    }


def test_a_team_writes_its_kinds_and_no_status() -> None:
    """A status is what others believe: where an endpoint leads, what a caller's keys are."""
    kinds = {f"{kind.plural}.{versions.MODELPLANE.partition('/')[0]}" for kind in TEAM}

    assert writable("modelplane-ml-team") == kinds | {"modeldeployments/scale.modelplane.ai"}


@pytest.mark.parametrize("name", sorted(set(ROLES) - {"modelplane-ml-team", "modelplane-platform-team"}))
def test_readers_write_nothing(name: str) -> None:
    assert writable(name) == set()


# Definitions

_REFERENCE = re.compile("(Ref|Secret|ref)$")


def references(schema: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every field of a schema that names another object, with its properties."""
    for name, child in (schema.get("properties") or {}).items():
        at = f"{path}.{name}"
        if _REFERENCE.search(name) and "name" in (child.get("properties") or {}):
            yield at, child["properties"]
        yield from references(child, at)
    if isinstance(schema.get("items"), Mapping):
        yield from references(schema["items"], f"{path}[]")


REFERENCES = {
    f"{kind.kind}{path}": properties
    for kind in TEAM
    for path, properties in references(
        xrd.definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"], ".spec"
    )
}


def test_the_references_of_all_kinds_are_found() -> None:
    assert {path.partition(".")[0] for path in REFERENCES} == {
        "ModelCache", "ModelCaller", "ModelDeployment", "ModelEndpoint",
    }  # fmt: skip


@pytest.mark.parametrize("path", REFERENCES)
def test_a_reference_names_no_namespace(path: str) -> None:
    assert set(REFERENCES[path]) <= {"name", "key"}


@pytest.mark.parametrize("path", REFERENCES)
@pytest.mark.parametrize("name", ["victim/key", "../victim/key", "..", ".", "", "victim%2fkey", "a\nb", "Ä"])
def test_a_reference_cannot_spell_another_namespace(path: str, name: str) -> None:
    """References of pod templates are checked by the function (tests/tenancy/attacks/references.py)."""
    field = REFERENCES[path]["name"]
    rules = [one["rule"] for one in field["x-kubernetes-validations"]]

    assert len(name) < field["minLength"] or not all(cel.rule(one).evaluate(self=name) for one in rules)


# Admission policies


@cache
def policy(name: str, *, is_writer: bool) -> cel.Rule:
    """The expression of a policy as a rule of a definition, whose variables have other names."""
    [spec] = [
        one["spec"]
        for one in admission.manifests()
        if one["kind"] == "ValidatingAdmissionPolicy" and one["metadata"]["name"] == name
    ]
    [validation] = spec["validations"]
    text = validation["expression"].replace("variables.isWriter", str(is_writer).lower())
    return cel.rule(text.replace("oldObject", "oldSelf").replace("object.", "self."))


def admits(name: str, new: Manifest, old: Manifest | None = None, *, is_writer: bool = False) -> bool:
    return policy(name, is_writer=is_writer).evaluate(self=plain(new), oldSelf=plain(old) if old else None)


ENDPOINTS = "composed-endpoints.modelplane.ai"
_PLAIN = with_metadata(endpoint("mine"), labels={"app": "mine"}, annotations={labels.SERVED_NAMES: "a"})
_CLAIMING = {
    **{f"labels {what}": with_metadata(_PLAIN, labels=claimed) for what, claimed in LABELS.items()},
    **{
        f"owner {what}": with_metadata(_PLAIN, ownerReferences=[{**owner, "uid": "u", "controller": True}])
        for what, owner in OWNERS.items()
    },
}


def test_a_team_writes_endpoints_of_its_own() -> None:
    assert admits(ENDPOINTS, _PLAIN)
    assert admits(ENDPOINTS, _PLAIN, _PLAIN)


@pytest.mark.parametrize("what", _CLAIMING)
def test_an_endpoint_that_claims_to_be_a_deployments_is_refused(what: str) -> None:
    """By the API server: the lists of denied hosts do not apply to endpoints of deployments.

    A label of Crossplane and an owner that is no kind of ours claim nothing: the function does not read them.
    """
    is_ours = what not in ("labels of the victim's composite", "owner the victim's route")

    assert admits(ENDPOINTS, _CLAIMING[what]) is not is_ours
    assert admits(ENDPOINTS, _CLAIMING[what], is_writer=True)


COMPOSED = "composed-references.modelplane.ai"
_REF = {"apiVersion": "v1", "kind": "Secret", "name": "found"}
_FOUND = {**_PLAIN, "spec": {**_PLAIN["spec"], "crossplane": {"resourceRefs": [_REF]}}}
_MORE = {**_PLAIN, "spec": {**_PLAIN["spec"], "crossplane": {"resourceRefs": [_REF, {**_REF, "name": "more"}]}}}
_CHOSEN = {**_PLAIN, "spec": {**_PLAIN["spec"], "crossplane": {"compositionUpdatePolicy": "Manual"}}}


def test_only_crossplane_adds_what_an_object_is_composed_of() -> None:
    """Crossplane deletes what is named there, has no other controller, and is not wanted."""
    refused = [(_FOUND, None), (_FOUND, _PLAIN), (_MORE, _FOUND)]
    admitted = [(_PLAIN, None), (_FOUND, _FOUND), (_FOUND, _MORE), (_PLAIN, _FOUND), (_CHOSEN, _PLAIN)]

    assert [admits(COMPOSED, *one) for one in refused] == [False] * len(refused)
    assert [admits(COMPOSED, *one) for one in admitted] == [True] * len(admitted)
    assert all(admits(COMPOSED, *one, is_writer=True) for one in refused)


def test_an_endpoint_of_a_deployment_cannot_be_taken_over() -> None:
    """Nor can its owner be dropped, which would be an edit of its own."""
    composed = _CLAIMING["owner the victim's deployment"]

    assert not admits(ENDPOINTS, _PLAIN, composed)
    assert not admits(ENDPOINTS, composed, composed)
