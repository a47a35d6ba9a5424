"""The admission policies: which kinds each is about, and that no field of a spec is forgotten. The API server itself
judges their CEL, in tests/e2e/test_admission.py."""

from __future__ import annotations

import pytest

from function.api import tenancy
from function.publish import admission
from function.publish.catalog import KINDS
from function.schema import Audience

MANIFESTS = admission.manifests()
POLICIES = {
    m["metadata"]["name"].partition(".")[0]: m["spec"] for m in MANIFESTS if m["kind"] == "ValidatingAdmissionPolicy"
}
RUNNING = [kind for kind in KINDS if kind.runs_in_namespace]


def test_every_policy_is_bound_and_denies() -> None:
    bindings = [m for m in MANIFESTS if m["kind"] == "ValidatingAdmissionPolicyBinding"]

    assert sorted(b["spec"]["policyName"].partition(".")[0] for b in bindings) == sorted(POLICIES)
    assert all(b["spec"]["validationActions"] == ["Deny"] for b in bindings)
    assert all(b["spec"]["paramRef"]["parameterNotFoundAction"] == "Deny" for b in bindings)


@pytest.mark.parametrize("kind", RUNNING, ids=lambda kind: kind.kind)
def test_a_kind_that_runs_something_has_a_policy_of_reserved_namespaces(kind: object) -> None:
    plural = kind.plural  # type: ignore[attr-defined]
    spec = POLICIES[f"{plural}-in-reserved-namespaces"]

    assert spec["matchConstraints"]["resourceRules"][0]["resources"] == [plural]


@pytest.mark.parametrize("kind", [k for k in RUNNING if k.audience is Audience.TEAM], ids=lambda kind: kind.kind)
def test_every_field_of_a_spec_is_compared(kind: object) -> None:
    plural, fields = kind.plural, set(kind.spec.model_fields)  # type: ignore[attr-defined]
    expression = POLICIES[f"{plural}-in-reserved-namespaces"]["validations"][0]["expression"]

    assert {field for field in fields if f"object.spec.?{field}" not in expression} == set()


def test_the_policies_have_the_functions_own_list() -> None:
    for kind in RUNNING:
        variables = POLICIES[f"{kind.plural}-in-reserved-namespaces"]["variables"]
        [reserved] = [one["expression"] for one in variables if one["name"] == "reserved"]
        assert all(f'"{name}"' in reserved for name in tenancy.built_in())


def test_every_internal_kind_is_closed() -> None:
    rules = POLICIES["internal-kinds"]["matchConstraints"]["resourceRules"]

    internal = {kind.plural for kind in KINDS if kind.audience is Audience.INTERNAL}
    assert {resource.partition("/")[0] for rule in rules for resource in rule["resources"]} == internal
    assert all("DELETE" not in rule["operations"] for rule in rules)
