"""ValidatingAdmissionPolicies: the API server's own checks of our kinds, with one ConfigMap of settings for all.

They enforce what no schema can: who may write an internal kind, and in which namespaces models may run. The function
refuses the same, but it sees only the object, and anyone can write owner references.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from function.api import tenancy
from function.core import Manifest
from function.publish.catalog import KINDS, Kind
from function.schema import Audience
from function.vocabulary import labels, namespaces, versions

SETTINGS = "modelplane-admission"
"""Name of the ConfigMap in Crossplane's namespace, where the function can read it too."""
RESERVED = "reserved-namespaces"
"""Key for changes to the list of reserved namespaces, in the syntax of MODELPLANE_RESERVED_NAMESPACES."""
WRITERS = "writers"
"""Key for the users and groups that may write what only Crossplane writes."""
CROSSPLANE_USER = f"system:serviceaccount:{namespaces.CROSSPLANE}:crossplane"
"""Crossplane's service account (crossplane v2.3, cluster/charts/crossplane/templates/serviceaccount.yaml)."""
_CLUSTER_USER, _CLUSTER_GROUP = "system:kube-controller-manager", "system:serviceaccounts:kube-system"
"""The cluster's own controllers, such as the garbage collector, which removes finalizers and owner references. They run
as this user, or each as a ServiceAccount of kube-system (kubernetes v1.36, --use-service-account-credentials)."""

_CREATE, _UPDATE = "CREATE", "UPDATE"
_IS_WRITER = "variables.isWriter"
_WRITES = (
    f"request.userInfo.username in variables.writers || request.userInfo.username == '{_CLUSTER_USER}'"
    f" || request.userInfo.?groups.orValue([]).exists(group, group in variables.writers || group == '{_CLUSTER_GROUP}')"
)
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def manifests() -> list[dict[str, Any]]:
    """Return the settings, and every policy with its binding."""
    reserved = (_reserved(kind) for kind in KINDS if kind.runs_in_namespace)
    policies = [*reserved, *_scales(), _internal(), _endpoints(), _references()]
    return [settings(), *(manifest for policy in policies for manifest in (policy, _binding(policy)))]


def settings(*, reserved: str = "", writers: str = CROSSPLANE_USER) -> dict[str, Any]:
    return {
        "apiVersion": versions.CORE,
        "kind": "ConfigMap",
        "metadata": {"name": SETTINGS, "namespace": namespaces.CROSSPLANE},
        "data": {RESERVED: reserved, WRITERS: writers},
    }


# Reserved namespaces


def _reserved(kind: Kind) -> dict[str, Any]:
    """Refuse new objects and changed specs in a reserved namespace.

    What already runs there can be scaled down and deleted, and its metadata and status can be written, so that it can
    leave.
    """
    composed = kind.audience is Audience.INTERNAL
    return _policy(
        name=f"{kind.plural}-in-reserved-namespaces",
        resources=_resources([kind], _CREATE) if composed else _resources([kind], _CREATE, _UPDATE),
        variables=_reserved_variables(),
        unless=("!variables.isReserved", _IS_WRITER),
        expression="false" if composed else _keeps_its_spec(kind),
        message=_RESERVED_MESSAGE,
    )


def _keeps_its_spec(kind: Kind) -> str:
    """Return CEL that compares the spec field by field.

    Crossplane and users also write a Composition choice into it, which may change.
    """
    fields = [name for name in kind.spec.model_fields if not (kind.scale and name == "replicas")]
    same = [f"object.spec.?{name} == oldObject.spec.?{name}" for name in fields]
    shrinks = ["object.spec.?replicas.orValue(1) <= oldObject.spec.?replicas.orValue(1)"] if kind.scale else []
    return " && ".join(["oldObject != null", *same, *shrinks])


def _scales() -> Iterable[dict[str, Any]]:
    for kind in KINDS:
        if kind.scale and kind.runs_in_namespace:
            yield _policy(
                name=f"{kind.plural}-scale-in-reserved-namespaces",
                resources=_resources([kind], _UPDATE, below="/scale"),
                variables=_reserved_variables(),
                unless=("!variables.isReserved", _IS_WRITER),
                expression="object.spec.?replicas.orValue(0) <= oldObject.spec.?replicas.orValue(0)",
                message=_RESERVED_MESSAGE,
            )


def _reserved_variables() -> dict[str, str]:
    remaining = f"{json.dumps(list(tenancy.built_in()))}.filter(name, !(('-' + name) in variables.changes))"
    added = "variables.changes.filter(change, change.startsWith('+')).map(change, change.substring(1))"
    matches = (
        "name.endsWith('*') ? request.namespace.startsWith(name.substring(0, size(name) - 1))"
        " : request.namespace == name"
    )
    return {
        "changes": _listed(RESERVED),
        "reserved": f"{remaining} + {added}",
        "isReserved": f"variables.reserved.exists(name, {matches})",
    }


_RESERVED_MESSAGE = (
    "'metadata.namespace: must be a namespace that the infrastructure does not use, not ' + request.namespace"
    " + '; these are reserved: ' + variables.reserved.join(', ')"
    " + '. What runs there can be scaled down and deleted'"
)


# What only Crossplane writes


def _internal() -> dict[str, Any]:
    kinds = [kind for kind in KINDS if kind.audience is Audience.INTERNAL]
    return _policy(
        name="internal-kinds",
        resources=[*_resources(kinds, _CREATE, _UPDATE), *_resources(kinds, _UPDATE, below="/*")],
        expression=_IS_WRITER,
        message="'only Crossplane may write a ' + request.kind.kind + ', not ' + request.userInfo.username",
    )


def _endpoints() -> dict[str, Any]:
    """Refuse ModelEndpoints of users that look like those of a deployment, and edits of the latter."""
    [kind] = [kind for kind in KINDS if kind.kind == "ModelEndpoint"]
    managed = f"object.metadata.?labels.orValue({{}}).exists(key, key.startsWith('{labels.PREFIX}'))"
    controlled = (
        "{which}.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false)"
        f" && owner.apiVersion.startsWith('{kind.group}/'))"
    )
    before = controlled.format(which="oldObject")
    return _policy(
        name="composed-endpoints",
        resources=_resources([kind], _CREATE, _UPDATE),
        unless=(_IS_WRITER,),
        expression=f"!{managed} && !{controlled.format(which='object')} && (oldObject == null || !{before})",
        message=(
            f"'only Crossplane may write a ModelEndpoint with labels under {labels.PREFIX} or a controller of ours,"
            " not ' + request.userInfo.username"
        ),
    )


def _references() -> dict[str, Any]:
    """Refuse references to composed resources that Crossplane did not write.

    Crossplane takes what they name for its own unless another object controls it, and deletes what the function does
    not want (crossplane v2.3.4, internal/controller/apiextensions/composite/composition_functions.go). It does so with
    its own rights, and cluster-scoped objects are found from every namespace.
    """
    references = "{which}.spec.?crossplane.?resourceRefs.orValue([])"
    new, old = references.format(which="object"), references.format(which="oldObject")
    unchanged = f"oldObject != null && {new} == {old}"  # the usual case; a comparison of each would cost the square
    return _policy(
        name="composed-references",
        resources=_resources([kind for kind in KINDS if kind.audience is Audience.TEAM], _CREATE, _UPDATE),
        unless=(_IS_WRITER,),
        expression=f"{unchanged} || {new}.all(one, oldObject != null && one in {old})",
        message=(
            "'spec.crossplane.resourceRefs: only Crossplane may add what a ' + request.kind.kind"
            " + ' is composed of; leave the field out'"
        ),
    )


# The shape of a policy


def _policy(
    *,
    name: str,
    resources: list[dict[str, Any]],
    expression: str,
    message: str,
    unless: Iterable[str] = (),
    variables: Mapping[str, str] = _NO_VARIABLES,
) -> dict[str, Any]:
    """Return a policy.

    The expression is skipped if one of `unless` is true: a match condition could not read variables.
    """
    every = {"writers": _listed(WRITERS), "isWriter": _WRITES, **variables}
    return {
        "apiVersion": versions.ADMISSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": f"{name}.modelplane.ai"},
        "spec": {
            "failurePolicy": "Fail",
            "paramKind": {"apiVersion": versions.CORE, "kind": "ConfigMap"},
            "matchConstraints": {"resourceRules": resources},
            "variables": [{"name": name, "expression": text} for name, text in every.items()],
            "validations": [
                {
                    "expression": " || ".join([*unless, f"({expression})"]),
                    "messageExpression": message,
                    "reason": "Forbidden",
                }
            ],
        },
    }


def _binding(policy: Manifest) -> dict[str, Any]:
    """Bind a policy to the settings. Without them, everything is denied rather than allowed."""
    name = policy["metadata"]["name"]
    return {
        "apiVersion": versions.ADMISSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "paramRef": {
                "name": SETTINGS,
                "namespace": namespaces.CROSSPLANE,
                "parameterNotFoundAction": "Deny",
            },
            "validationActions": ["Deny"],
        },
    }


def _listed(key: str) -> str:
    """Return CEL that splits a comma-separated setting."""
    return f"params.?data[?'{key}'].orValue('').split(',').map(item, item.trim()).filter(item, item != '')"


def _resources(kinds: Iterable[Kind], *operations: str, below: str = "") -> list[dict[str, Any]]:
    """Return rules for kinds, or for their subresources `below`, such as `/scale`."""
    plurals: dict[str, list[str]] = {}
    for kind in kinds:
        plurals.setdefault(kind.group, []).append(f"{kind.plural}{below}")
    return [
        {
            "apiGroups": [group],
            "apiVersions": ["*"],
            "operations": list(operations),
            "resources": sorted(plurals[group]),
        }
        for group in sorted(plurals)
    ]
