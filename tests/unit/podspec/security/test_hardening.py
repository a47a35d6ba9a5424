"""A hardened template has what restricted asks, where the user has not set it and the pod can have it."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from function.podspec import security
from tests.support import pod_templates

DEFAULT = {"type": "RuntimeDefault"}
HARD = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def hardened(container: dict[str, Any], **spec: Any) -> Any:
    return security.hardened({"spec": {"containers": [container], **spec}})["spec"]


def test_a_plain_pod_gets_all_but_a_user() -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"initContainers": [{"name": "i"}], "containers": [{"name": "e", "image": "x"}], "hostname": "h"},
    }
    before = copy.deepcopy(template)
    assert security.hardened(template) == {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "securityContext": {"seccompProfile": DEFAULT},
            "initContainers": [{"name": "i", "securityContext": HARD}],
            "containers": [{"name": "e", "image": "x", "securityContext": HARD}],
            "hostname": "h",
        },
    }
    assert template == before
    assert {found.check for found in security.violations(security.hardened(template), "restricted")} == {"runAsNonRoot"}


@pytest.mark.parametrize(
    "set_by_user",
    [
        {"allowPrivilegeEscalation": True},
        {"capabilities": {"drop": ["KILL"]}},
        {"capabilities": {"drop": []}},
        {"seccompProfile": {"type": "Unconfined"}},
        {"runAsNonRoot": False, "runAsUser": 0},
    ],
)
def test_what_the_user_sets_stays(set_by_user: dict[str, Any]) -> None:
    security_context = hardened({"securityContext": set_by_user})["containers"][0]["securityContext"]
    assert security_context == {**HARD, **set_by_user}


def test_a_profile_of_the_pod_stays() -> None:
    profile = {"type": "Localhost", "localhostProfile": "p"}
    got = hardened({}, securityContext={"seccompProfile": profile, "fsGroup": 1})
    assert got["securityContext"] == {"seccompProfile": profile, "fsGroup": 1}


def test_capabilities_that_are_added_stay_beside_the_drop() -> None:
    got = hardened({"securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"]}}})
    assert got["containers"][0]["securityContext"]["capabilities"] == {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}


@pytest.mark.parametrize("escalating", [{"privileged": True}, {"capabilities": {"add": ["CAP_SYS_ADMIN"]}}])
def test_a_container_that_escalates_is_not_told_not_to(escalating: dict[str, Any]) -> None:
    """The API server would refuse the pod, whose level is another's to judge."""
    assert (
        "allowPrivilegeEscalation" not in hardened({"securityContext": escalating})["containers"][0]["securityContext"]
    )


def test_a_pod_for_windows_stays_as_it_is() -> None:
    template = {"spec": {"os": {"name": "windows"}, "containers": [{"name": "e"}]}}
    assert security.hardened(template) == template


def test_a_hardened_pod_violates_nothing_that_it_did_not_before() -> None:
    random = Random("hardening")
    for template in (pod_templates.template(random) for _ in range(300)):
        for level in ("baseline", "restricted"):
            before = {found.check for found in security.violations(template, level)}
            assert {found.check for found in security.violations(security.hardened(template), level)} <= before
