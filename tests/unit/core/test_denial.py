"""Denied access in the words of API servers and providers: which right is missing, and what grants it."""

from __future__ import annotations

import pytest

from function.core import denial, quote_condition

PROVIDER = "system:serviceaccount:crossplane-system:provider-kubernetes"
ON_A_CLUSTER = (
    "create failed: cannot create object: configmaps is forbidden: "
    'User "modelplane" cannot create resource "configmaps" in API group "" in the namespace "ml-team"'
)
AT_THE_SCOPE = (
    "cannot get object: "
    'customresourcedefinitions.apiextensions.k8s.io "gateways.gateway.networking.k8s.io" is forbidden: '
    f'User "{PROVIDER}" cannot get resource "customresourcedefinitions" in API group "apiextensions.k8s.io" '
    "at the cluster scope"
)
SUBRESOURCE = (
    'deployments.apps "x" is forbidden: User "u" cannot patch resource "deployments/scale" in API group "apps" '
    'in the namespace "n": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found'
)
ESCALATION = (
    "failed to install release: 1 error occurred:\n\t* "
    'clusterroles.rbac.authorization.k8s.io "traefik" is forbidden: user '
    '"system:serviceaccount:crossplane-system:provider-helm" '
    '(groups=["system:serviceaccounts" "system:authenticated"]) is attempting to grant RBAC permissions not currently '
    'held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["list" "watch"]}'
)


@pytest.mark.parametrize(
    ("message", "want"),
    [
        (
            ON_A_CLUSTER,
            (
                'User modelplane may not create configmaps in namespace "ml-team"; a ClusterRole bound to it '
                "grants this by "
                'apiGroups: [""], resources: ["configmaps"], verbs: [create]'
            ),
        ),
        (
            AT_THE_SCOPE,
            (
                "ServiceAccount crossplane-system/provider-kubernetes may not get "
                'customresourcedefinitions.apiextensions.k8s.io "gateways.gateway.networking.k8s.io" '
                "at the cluster scope; "
                'a ClusterRole bound to it grants this by apiGroups: ["apiextensions.k8s.io"], '
                'resources: ["customresourcedefinitions"], verbs: [get]'
            ),
        ),
        (
            SUBRESOURCE,
            (
                'User u may not patch deployments/scale.apps "x" in namespace "n"; a ClusterRole bound to it '
                "grants this by "
                'apiGroups: ["apps"], resources: ["deployments/scale"], verbs: [patch]'
            ),
        ),
        (
            ESCALATION,
            (
                "ServiceAccount crossplane-system/provider-helm may not write clusterroles.rbac.authorization.k8s.io "
                '"traefik" with rights that it does not have itself; a ClusterRole bound to it '
                "grants this by "
                'apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: [escalate]'
            ),
        ),
        (
            ESCALATION.replace("clusterroles.", "rolebindings."),
            (
                "ServiceAccount crossplane-system/provider-helm may not write rolebindings.rbac.authorization.k8s.io "
                '"traefik" with rights that it does not have itself; a ClusterRole bound to it '
                "grants this by "
                'apiGroups: ["rbac.authorization.k8s.io"], resources: ["clusterroles"], verbs: [bind]'
            ),
        ),
        ('pods "x" is forbidden: exceeded quota: team', None),
        ('pods "x" is forbidden: violates PodSecurity "restricted:latest"', None),
        ('namespaces "ml-team" not found', None),
        ("", None),
    ],
)
def test_a_missing_right_is_named_with_the_rule_that_grants_it(message: str, want: str | None) -> None:
    assert denial.explain(message) == want


@pytest.mark.parametrize(
    ("message", "want"),
    [
        (
            "cannot get REST config for provider: cannot get credentials: cannot get credentials secret",
            "or the key in it",
        ),
        ("failed to load kubeconfig: yaml: cannot unmarshal !!str `hunter2` into Config", "holds no kubeconfig"),
        ("currentContext not set in kubeconfig", "no current context"),
        ("illegal base64 data at input byte 4", "cannot make a client"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_told_without_a_word_of_it(message: str, want: str) -> None:
    got = quote_condition({"message": f"connect failed: cannot build kube client for provider config: {message}"})

    assert want in got
    assert "hunter2" not in got


def test_a_registry_that_answers_unauthorized_is_quoted() -> None:
    """It is no cluster that did not accept a kubeconfig."""
    message = "failed to pull chart: 401 Unauthorized"

    assert quote_condition({"message": message}) == message


def test_no_name_of_others_makes_a_message_endless_or_acts() -> None:
    got = denial.explain(ON_A_CLUSTER.replace("modelplane", "x\x1b" + "y" * 9999)) or ""

    assert len(got) < 1000
    assert got.isprintable()
