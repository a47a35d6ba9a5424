"""What Crossplane is allowed covers all that our composers compose and ask for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from function import clouds, registry
from function.core import Result
from function.publish import access
from function.publish.catalog import BY_KIND
from tests.support.cases import CASES, answer

CRDS = Path(__file__).parents[1] / "data/crds"
ALLOWED = {(r.api_version, r.kind): r for r in (*access.COMPOSED, *access.REQUIRED)}


def results() -> list[Result]:
    return [answer(case) for case in CASES if case.parent.name in {kind.lower() for _, kind in registry.COMPOSERS}]


@pytest.fixture(scope="module")
def answers() -> list[Result]:
    return results()


def test_every_kind_that_is_composed_may_be_written(answers: list[Result]) -> None:
    composed = {
        (resource.manifest["apiVersion"], resource.manifest["kind"])
        for result in answers
        for resource in result.resources.values()
    }

    assert composed - created() == set()


def created() -> set[tuple[str, str]]:
    """What Crossplane may create: not the kinds that only people write."""
    written = {r for r in access.COMPOSED if r not in access.AUTHORED}
    allowed = {
        (group, plural)
        for rule in access.cluster_role()["rules"]
        if set(access.WRITE) <= set(rule["verbs"])
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }
    assert {(r.group, r.plural) for r in written} == allowed
    return {(r.api_version, r.kind) for r in (*written, *access.ALLOWED_ALREADY)}


def test_kinds_that_only_people_write_are_not_created() -> None:
    assert {r.kind for r in access.AUTHORED} == {
        "InferenceClass",
        "InferenceCluster",
        "InferenceGateway",
        "ModelCache",
        "ModelCaller",
        "ModelDeployment",
        "ModelService",
    }


def test_every_kind_that_is_asked_for_may_be_read(answers: list[Result]) -> None:
    asked = {(requirement.api_version, requirement.kind) for result in answers for requirement in result.requirements}

    assert asked - ALLOWED.keys() == set()


def test_plurals_are_those_of_the_real_kinds() -> None:
    for (api_version, kind), resource in ALLOWED.items():
        file = CRDS / f"{api_version.replace('/', '_')}_{kind}.json"
        if file.exists():
            assert json.loads(file.read_text())["plural"] == resource.plural


def test_every_managed_kind_is_activated_by_the_name_of_its_crd() -> None:
    got = access.activation()["spec"]["activate"]

    clouds_ = {f"{kind.plural}.{kind.api_version.partition('/')[0]}" for kind in clouds.managed_kinds()}
    assert got == sorted({"objects.kubernetes.m.crossplane.io", "releases.helm.m.crossplane.io", *clouds_})


@pytest.mark.parametrize("provisioner", clouds.PROVISIONERS, ids=lambda provisioner: provisioner.model.KIND)
def test_exactly_what_a_cloud_composes_is_activated(provisioner: clouds.Provisioner) -> None:
    """Every kind of its provider that a golden case composes, and no kind that none composes."""
    cases = [case for case in CASES if case.parent.name == provisioner.model.KIND.lower()]
    of_cloud = provisioner.provider.partition("/")[0]
    composed = {
        (resource.manifest["apiVersion"], resource.manifest["kind"])
        for case in cases
        for resource in answer(case).resources.values()
        if resource.manifest["apiVersion"].partition("/")[0].endswith(of_cloud)
    }

    assert composed == {(kind.api_version, kind.kind) for kind in provisioner.managed}


def test_every_provider_config_of_a_cloud_may_be_read_and_none_written() -> None:
    wanted = {
        (provisioner.provider.partition("/")[0], plural)
        for provisioner in clouds.PROVISIONERS
        for plural in ("clusterproviderconfigs", "providerconfigs")
    }
    verbs = {
        (group, resource): set(rule["verbs"])
        for rule in access.cluster_role()["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if (group, resource) in wanted
    }

    assert verbs == {key: {"get", "list", "watch"} for key in wanted}


def test_nothing_is_listed_twice() -> None:
    """Two clouds may compose one kind, or name one provider."""
    rules = [
        (group, resource, tuple(rule["verbs"]))
        for rule in access.cluster_role()["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]
    activated = access.activation()["spec"]["activate"]

    assert [len(listed) for listed in (rules, activated)] == [len(set(listed)) for listed in (rules, activated)]


def test_our_own_kinds_may_be_reconciled() -> None:
    """Status, and finalizers: an owner reference that blocks deletion asks for the right to the owner's."""
    allowed = {
        f"{resource}.{group}"
        for rule in access.cluster_role()["rules"]
        if "update" in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }

    want = {f"{kind.plural}{part}.{kind.group}" for kind in BY_KIND.values() for part in ("", "/status", "/finalizers")}
    assert want - allowed == set()


def test_no_secret_may_be_written() -> None:
    secrets = [rule for rule in access.cluster_role()["rules"] if "secrets" in rule["resources"]]

    assert [rule["verbs"] for rule in secrets] == [["get", "list", "watch"]]
