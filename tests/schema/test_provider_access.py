"""The providers may write on the control cluster what an InferenceGateway has them write, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from function.core import dig
from function.publish import access, provider_access, runtime
from function.vocabulary import names, namespaces
from tests.support.cases import CASES, answer

GATEWAYS = [case for case in CASES if case.parent.name == "inferencegateway"]


def granted(provider: str) -> set[tuple[str, str]]:
    """Group and plural of every kind that a provider may write."""
    [role] = [
        one
        for one in provider_access.manifests()
        if (one["kind"], one["metadata"]["name"]) == ("ClusterRole", f"modelplane-{provider}")
    ]
    return {
        (group, resource)
        for rule in role["rules"]
        if set(access.WRITE) <= set(rule["verbs"])
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def written() -> set[tuple[str, str]]:
    """Group and kind of every manifest that golden cases have written to the control cluster."""
    resources = [resource for case in GATEWAYS for resource in answer(case).resources.values()]
    ours = [
        r.manifest for r in resources if dig(r.manifest, "spec", "providerConfigRef", "name") == names.CONTROL_CONFIG
    ]
    objects = [dig(one, "spec", "forProvider", "manifest") for one in ours if one["kind"] == "Object"]
    return {(group(one), one["kind"]) for one in objects}


def group(manifest: Any) -> str:
    return str(manifest["apiVersion"].rpartition("/")[0])


def test_exactly_what_gateways_compose_is_granted() -> None:
    listed = {(one.group, one.kind) for one in provider_access.OBJECTS}

    assert written() == listed
    assert granted(runtime.PROVIDER_KUBERNETES) == {(one.group, one.plural) for one in provider_access.OBJECTS}


def test_charts_may_be_installed_and_waited_for() -> None:
    assert granted(runtime.PROVIDER_HELM) == {(one.group, one.plural) for one in provider_access.RELEASED}


@pytest.mark.parametrize("provider", [runtime.PROVIDER_KUBERNETES, runtime.PROVIDER_HELM])
def test_rights_are_bound_to_the_service_account_that_the_runtime_names(provider: str) -> None:
    accounts = {
        dig(one, "spec", "serviceAccountTemplate", "metadata", "name")
        for one in runtime.manifests()
        if one["kind"] == "DeploymentRuntimeConfig"
    }
    subjects = [
        subject
        for one in provider_access.manifests()
        if (one["kind"], one["metadata"]["name"]) == ("ClusterRoleBinding", f"modelplane-{provider}")
        for subject in one["subjects"]
    ]

    assert subjects == [{"kind": "ServiceAccount", "name": provider, "namespace": namespaces.CROSSPLANE}]
    assert provider in accounts
