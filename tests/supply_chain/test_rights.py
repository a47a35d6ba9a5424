"""How the end-to-end tests compare the rights that were used with those that are granted."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import audit, compared, rights
from tests.e2e.audit import Right, Use
from tests.e2e.kube import CROSSPLANE, PROVIDER

AGENT = "crossplane/v2.4.0 (linux/amd64)"


def event(verb: str, resource: str, *, group: str = "", code: int = 200, **more: Any) -> dict[str, Any]:
    name, _, part = resource.partition("/")
    target = {"resource": name, "apiGroup": group} | ({"subresource": part} if part else {})
    status = {"responseStatus": {"code": code}}
    return {"user": {"username": CROSSPLANE}, "userAgent": AGENT, "verb": verb, "objectRef": target} | status | more


@pytest.mark.parametrize(
    ("one", "want"),
    [
        (event("get", "secrets"), ["get secrets"]),
        (event("patch", "objects/status", group="kubernetes.m.crossplane.io"),
         ["patch objects/status.kubernetes.m.crossplane.io"]),
        (event("patch", "services", code=201), ["patch services", "create services"]),
        (event("get", "secrets", userAgent=""), []),
        (event("get", "secrets", userAgent="kubectl/v1.36.3"), []),
        (event("get", "secrets", impersonatedUser={"username": "anna"}), []),
    ],
)  # fmt: skip
def test_an_event_names_the_rights_that_it_needed(one: dict[str, Any], want: list[str]) -> None:
    assert [str(use.right) for use in audit.uses(one)] == want


def test_a_log_is_read_up_to_the_line_that_is_being_written(tmp_path: Path) -> None:
    refused = {"annotations": {"authorization.k8s.io/decision": "forbid"}}
    text = "\n".join(json.dumps(one) for one in (event("get", "pods"), event("list", "pods", **refused)))
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / audit.LOG).write_text(f'{text}\n{{"verb": "wat')
    want = {Use(CROSSPLANE, Right("", "pods", verb), refused=verb == "list") for verb in ("get", "list")}
    assert audit.read(tmp_path) == want


RULE = {"apiGroups": ["apps"], "resources": ["deployments", "*/status"], "verbs": ["get"]}


@pytest.mark.parametrize(
    ("rule", "right", "allowed"),
    [
        (RULE, Right("apps", "deployments", "get"), True),
        (RULE, Right("apps", "deployments", "list"), False),
        (RULE, Right("", "deployments", "get"), False),
        (RULE, Right("apps", "deployments/scale", "get"), False),
        (RULE, Right("apps", "daemonsets/status", "get"), True),
        (RULE | {"resources": ["*"], "verbs": ["*"]}, Right("apps", "deployments/scale", "patch"), True),
        (RULE | {"resourceNames": ["one"]}, Right("apps", "deployments", "get"), False),
    ],
)
def test_rules_allow_as_kubernetes_reads_them(rule: dict[str, Any], right: Right, allowed: bool) -> None:
    assert rights.allows(rule, right) is allowed


def test_what_is_used_and_not_granted_is_named() -> None:
    rules = {CROSSPLANE: [RULE], PROVIDER: []}
    found = [
        Use(CROSSPLANE, Right("apps", "deployments", "get"), refused=False),
        Use(CROSSPLANE, Right("apps", "deployments", "delete"), refused=False),
        Use(PROVIDER, Right("", "pods", "list"), refused=True),
    ]
    assert compared.problems(found, rules) == [
        "Crossplane used delete deployments.apps: not granted",
        "provider-kubernetes was refused list pods: not granted",
    ]


def test_runs_are_taken_together(tmp_path: Path) -> None:
    for name, verb in (("one", "get"), ("two", "list")):
        path = tmp_path / name / "v" / compared.KEY
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(compared.kept([Use(CROSSPLANE, Right("", "pods", verb), refused=False)])))
    found = compared.used([tmp_path / "one", tmp_path / "two", tmp_path / "never"])
    assert found[CROSSPLANE] == {Right("", "pods", "get"), Right("", "pods", "list")}


def test_what_is_granted_and_not_used_needs_a_reason() -> None:
    granted = rights.expanded([RULE | {"resources": ["deployments", "daemonsets"], "verbs": ["get", "list"]}])
    used = [Right("apps", "deployments", "get")]
    reason = rights.Unused(("apps",), ("daemon*",), ("*",), "no story has one")
    assert rights.unexplained(granted, used, [reason]) == [Right("apps", "deployments", "list")]


def test_every_reason_is_for_rights_that_we_grant() -> None:
    granted = rights.expanded(rights.ours())
    assert [one for one in rights.explained() if not any(one.covers(right) for right in granted)] == []
    assert [one.groups for one in rights.explained() if len(one.reason) < 20] == []


def test_our_rules_have_no_wildcards() -> None:
    rules = [*rights.ours(), *rights.ours("roles"), *rights.ours("providers")]
    assert rules
    assert not [one for one in rules if "*" in (*one["apiGroups"], *one["resources"], *one["verbs"])]
