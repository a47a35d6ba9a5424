"""Pod templates judged by us and by Kubernetes' own policy library.

CONFORMANCE_SEED repeats a run, CONFORMANCE_CASES says how many templates each part compares.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from function.podspec import security
from function.vocabulary.pod_security import LEVELS
from tests.conformance import programs
from tests.conformance.oracle import wanted
from tests.conformance.seeds import seed
from tests.support import pod_templates

_PARTS = 4
_CASES = int(os.environ.get("CONFORMANCE_CASES", "3000"))
_STEPS = 60
_FEWER_NAMED = {"runAsNonRoot", "seccompProfile_restricted"}
"""Checks of which Kubernetes names those that set a wrong value, and only if there are none those that set nothing."""

Template = dict[str, Any]
Verdict = dict[str, dict[str, set[str]]]
"""By level: each check that fails, with the containers that it names."""

_C0 = {"name": "c0"}
_GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_GOOD_POD = {"containers": [_C0 | {"securityContext": _GOOD}]}
FOUND: dict[str, tuple[Template, dict[str, list[str]]]] = {
    "a volume of two types passes restricted by the better one": (
        {"spec": _GOOD_POD | {"volumes": [{"name": "v", "hostPath": {}, "emptyDir": {}}]}},
        {"baseline": ["hostPathVolumes"], "restricted": []},
    ),
    "a volume without a type passes baseline": (
        {"spec": _GOOD_POD | {"volumes": [{"name": "v"}]}},
        {"baseline": [], "restricted": ["restrictedVolumes"]},
    ),
    "a pod for Windows may add capabilities under restricted, and not under baseline": (
        {
            "spec": {
                "os": {"name": "windows"},
                "containers": [
                    _C0 | {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}, "runAsNonRoot": True}}
                ],
            }
        },
        {"baseline": ["capabilities_baseline"], "restricted": []},
    ),
    "a pod with its own users may unmask /proc under baseline, and be root under restricted": (
        {
            "spec": {
                "hostUsers": False,
                "containers": [
                    _C0 | {"securityContext": _GOOD | {"procMount": "Unmasked", "runAsUser": 0, "runAsNonRoot": False}}
                ],
            }
        },
        {"baseline": [], "restricted": ["procMount_restricted"]},
    ),
    "an empty profile is one of no type": (
        {"spec": {"containers": [_C0 | {"securityContext": _GOOD | {"seccompProfile": {}, "appArmorProfile": {}}}]}},
        {
            "baseline": ["appArmorProfile", "seccompProfile_baseline"],
            "restricted": ["appArmorProfile", "seccompProfile_restricted"],
        },
    ),
    "null is an empty container, an empty volume and a sysctl without a name": (
        {"spec": {"containers": [None], "volumes": [None], "securityContext": {"sysctls": [None]}}},
        {
            "baseline": ["sysctls"],
            "restricted": [
                "allowPrivilegeEscalation",
                "capabilities_restricted",
                "restrictedVolumes",
                "runAsNonRoot",
                "seccompProfile_restricted",
                "sysctls",
            ],
        },
    ),
    "annotations of seccomp mean nothing, those of AppArmor do, even of no container": (
        {
            "metadata": {
                "annotations": {
                    "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
                    "container.apparmor.security.beta.kubernetes.io/": "unconfined",
                }
            },
            "spec": _GOOD_POD,
        },
        {"baseline": ["appArmorProfile"], "restricted": ["appArmorProfile"]},
    ),
    "a pod without containers is wrong in nothing": ({"spec": {}}, {"baseline": [], "restricted": []}),
}
"""Templates that are easily judged differently, with the checks that fail in Kubernetes."""


@pytest.mark.parametrize("case", FOUND)
def test_what_is_easily_judged_differently_is_judged_as_in_kubernetes(case: str) -> None:
    template, want = FOUND[case]
    assert {level: sorted(_ours(template)[level]) for level in ("baseline", "restricted")} == want


@pytest.mark.slow
def test_the_verdicts_kept_are_those_of_the_library() -> None:
    wanted()
    theirs = _theirs([template for template, _ in FOUND.values()])
    got = [{level: sorted(verdict[level]) for level in ("baseline", "restricted")} for verdict in theirs]
    assert got == [want for _, want in FOUND.values()]


@pytest.mark.slow
def test_every_check_of_the_library_is_ours() -> None:
    """Each fails on some random template, and none that is not in our table does."""
    wanted()
    templates = _made("table", 4000)
    failing = {check for verdict in _theirs(templates) for level in LEVELS for check in verdict[level]}
    assert failing == {check.id for check in security.CHECKS}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(_PARTS))
def test_random_pods_fail_the_checks_that_they_fail_in_kubernetes(part: int, record_property: Any) -> None:
    wanted()
    chosen = seed(f"pods-{part}")
    templates = _made(chosen, _CASES)
    theirs = _theirs(templates)
    record_property("random pods judged", len(templates))
    admitted = {level: sum(not verdict[level] for verdict in theirs) for level in LEVELS}
    assert 0 < admitted["restricted"] < admitted["baseline"] < len(templates), "pods of each level are compared"
    differing = [t for t, want in zip(templates, theirs, strict=True) if not _agree(_ours(t), want)]
    assert not differing, "\n".join(f"seed {chosen}: {_shown(_smallest(template))}" for template in differing[:5])


def _made(chosen: str, count: int) -> list[Template]:
    random = Random(chosen)
    return [pod_templates.template(random) for _ in range(count)]


def _ours(template: Template) -> Verdict:
    verdict: Verdict = {}
    for level in LEVELS:
        named: dict[str, set[str]] = verdict.setdefault(level, {})
        for found in security.violations(template, level):
            named.setdefault(found.check, set()).add(found.container)
    return verdict


def _theirs(templates: Sequence[Template]) -> list[Verdict]:
    found = programs.answers("podsecurity", ({"template": template} for template in templates))
    return [
        {
            level: {check: set(re.findall(r'"(c\d+)"', said)) for check, said in checks.items()}
            for level, checks in v.items()
        }
        for v in found
    ]


def _agree(ours: Verdict, theirs: Verdict) -> bool:
    return all(
        ours[level].keys() == theirs[level].keys()
        and all(_same_containers(check, ours[level][check], named) for check, named in theirs[level].items())
        for level in LEVELS
    )


def _same_containers(check: str, ours: set[str], theirs: set[str]) -> bool:
    """Whether both name the same. Annotations of AppArmor name a container that Kubernetes' message does not list."""
    if check in _FEWER_NAMED or check == "appArmorProfile":
        return theirs <= ours
    return ours - {""} == theirs


def _smallest(template: Template) -> Template:
    """The template with ever fewer fields, as long as the verdicts differ."""
    for _ in range(_STEPS):
        tried = list(pod_templates.smaller(template))
        differing = [t for t, want in zip(tried, _theirs(tried), strict=True) if not _agree(_ours(t), want)]
        if not differing:
            break
        template = min(differing, key=lambda one: len(json.dumps(one)))
    return template


def _shown(template: Template) -> str:
    return f"want {_theirs([template])[0]}, got {_ours(template)}\n{json.dumps(template)}"
