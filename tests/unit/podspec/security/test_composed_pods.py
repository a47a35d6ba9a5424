"""The pods that are composed have the level of their template, and our own pods satisfy restricted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from function import podspec
from function.core import dig, plain
from function.podspec import security
from function.vocabulary import labels
from function.vocabulary.pod_security import LEVELS, RESTRICTED
from tests.support import cases, replicas
from tests.support.rendered import remote, templates

_GOOD = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
TEMPLATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "restricted by itself": ({"securityContext": _GOOD}, {}),
    "restricted by its pod": (
        {},
        {"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "Localhost", "localhostProfile": "x"}}},
    ),
    "privileged": ({"securityContext": {"privileged": True}}, {}),
    "on the host": (
        {"ports": [{"containerPort": 7000, "hostPort": 7000}, {"containerPort": 7001}]},
        {"hostNetwork": True, "hostIPC": True},
    ),
    "with a path of the host": ({}, {"volumes": [{"name": "shm", "hostPath": {"path": "/dev/shm"}}]}),
    "with a volume of another type": ({}, {"volumes": [{"name": "models", "nfs": {"server": "s", "path": "/"}}]}),
    "with capabilities": ({"securityContext": {"capabilities": {"add": ["IPC_LOCK", "NET_BIND_SERVICE"]}}}, {}),
    "root with its own users": ({"securityContext": {"runAsUser": 0, "procMount": "Unmasked"}}, {"hostUsers": False}),
    "probed elsewhere": ({"readinessProbe": {"tcpSocket": {"port": 1, "host": "10.0.0.1"}}}, {}),
    "with a hook": ({"lifecycle": {"postStart": {"httpGet": {"port": 1, "host": "10.0.0.1"}}}}, {}),
    "unconfined": ({"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, {}),
    "with an init container": ({}, {"initContainers": [{"name": "i", "image": "i", "securityContext": _GOOD}]}),
}
"""Fields of the engine's container and of the pod."""
REPLICAS = [case for case in cases.CASES if case.parent.name == "modelreplica"]


def pods(case: Path) -> list[dict[str, Any]]:
    """The templates of all pods that a case composes, for a cluster or for the control cluster.

    What is held as it was observed is left out: in the cases it is a stub.
    """
    observed = cases.load(case)[0].observed
    resources = {
        key: resource
        for key, resource in cases.answer(case).resources.items()
        if plain(resource.manifest).get("spec") != plain(observed.get(key) or {}).get("spec")
    }
    local = [plain(r.manifest) for r in resources.values() if r.manifest.get("kind") != "Object"]
    return [template for manifest in (*remote(resources), *local) for template in templates(manifest)]


def is_engine(template: dict[str, Any]) -> bool:
    return labels.WORKLOAD in (dig(template, "metadata", "labels") or {})


def failed(template: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """The checks that a pod fails at each level, with the containers. The engine's container counts by its new name."""
    names = [dig(container, "name") for container in template["spec"]["containers"]]
    renamed = {names[0]: podspec.ENGINE} if len(names) == 1 else {}
    return {
        level: sorted({(v.check, renamed.get(v.container, v.container)) for v in security.violations(template, level)})
        for level in LEVELS
    }


def users(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The templates of the members of a replica, hardened where its pods are."""
    for engine in spec["engines"]:
        for member in engine["members"]:
            written = podspec.read(member["template"]).template
            yield security.hardened(written) if spec.get("podSecurity") == RESTRICTED else written


def test_pods_of_our_own_satisfy_restricted() -> None:
    own = [(case, template) for case in cases.CASES for template in pods(case) if not is_engine(template)]
    found = [(case.name, v) for case, template in own for v in security.violations(template, RESTRICTED)]
    assert not found
    kinds = {"modelcache", "modelendpoint", "modelreplica", "modelservice", "servingstack"}
    assert {case.parent.name for case, _ in own} == kinds, "kinds with pods"


@pytest.mark.parametrize("case", REPLICAS, ids=lambda case: case.name)
def test_pods_of_engines_have_the_level_of_their_template(case: Path) -> None:
    """Nothing that is added to a template makes its pod fail another check."""
    got = [failed(template) for template in pods(case) if is_engine(template)]
    if got:
        assert sorted(got, key=str) == sorted(map(failed, users(cases.load(case)[0].xr["spec"])), key=str)


@pytest.mark.parametrize("hardened", [False, True])
@pytest.mark.parametrize("name", TEMPLATES)
def test_every_kind_of_pod_has_the_level_of_its_template(name: str, *, hardened: bool) -> None:
    """With all that is added to one: a claim, shared memory, weights, probes, variables, and the routing sidecar."""
    container, pod = TEMPLATES[name]
    member = replicas.member("Qwen/Qwen3-8B", **container)
    member["template"]["spec"] |= pod
    split = replicas.split(member, member, modelCacheRef={"name": "weights"})
    gang = {"engines": [replicas.engine("e", {**member, "role": "Leader"}, {**member, "role": "Worker"})]}
    for spec in (split, gang):
        replica = replicas.replica(**spec, **({"podSecurity": RESTRICTED} if hardened else {}))
        result = replicas.compose(replica, replicas.cluster(), replicas.cache(staged="main"))
        engines = [t for m in remote(result.resources) for t in templates(m) if is_engine(t)]
        assert len(engines) == 2
        assert [failed(template) for template in engines] == [failed(template) for template in users(replica["spec"])]
