"""What a violation says: the level, the check, the container, the field, and what the field must be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from function.podspec import security
from function.podspec.security.violation import shown
from function.vocabulary.pod_security import LEVELS

GOOD: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""What restricted asks of a container."""


def container(name: str = "engine", **fields: Any) -> dict[str, Any]:
    return {"name": name, "securityContext": GOOD, **fields}


def secured(**security: Any) -> dict[str, Any]:
    return container(securityContext=GOOD | security)


def pod(*containers: Any, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": list(containers) or [container()], **spec}}


_AT = "spec.containers[0]"
_IN = f"{_AT}.securityContext"
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/engine"
_VOLUMES = (
    "must be a volume of type configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected"
    " or secret"
)
_PROFILE = "must be RuntimeDefault or Localhost"
BASELINE: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "hostNamespaces": (pod(hostNetwork=True), "", "spec.hostNetwork", "must not be true"),
    "hostPathVolumes": (
        pod(volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/"}}]),
        "",
        "spec.volumes[1].hostPath",
        "must not be set",
    ),
    "hostPorts": (
        pod(container(ports=[{"containerPort": 1}, {"containerPort": 2, "hostPort": 3.0}])),
        "engine",
        f"{_AT}.ports[1].hostPort",
        "must not be set",
    ),
    "hostProbesAndHostLifecycle": (
        pod(container(lifecycle={"preStop": {"tcpSocket": {"port": 1, "host": "10.0.0.1"}}})),
        "engine",
        f"{_AT}.lifecycle.preStop.tcpSocket.host",
        "must not be set",
    ),
    "privileged": (pod(secured(privileged=True)), "engine", f"{_IN}.privileged", "must not be true"),
    "capabilities_baseline": (
        pod(secured(capabilities={"add": ["SYS_PTRACE", "IPC_LOCK", "KILL"]})),
        "engine",
        f"{_IN}.capabilities.add",
        "must not contain IPC_LOCK, SYS_PTRACE",
    ),
    "procMount": (pod(secured(procMount="Unmasked")), "engine", f"{_IN}.procMount", "must be Default"),
    "appArmorProfile": (
        {"metadata": {"annotations": {_APPARMOR: "unconfined"}}, **pod()},
        "engine",
        f"metadata.annotations[{_APPARMOR}]",
        "must be runtime/default or localhost/…",
    ),
    "seLinuxOptions": (
        pod(securityContext={"seLinuxOptions": {"user": "u"}}),
        "",
        "spec.securityContext.seLinuxOptions.user",
        "must not be set",
    ),
    "seccompProfile_baseline": (
        pod(secured(seccompProfile={"type": "Unconfined"})),
        "engine",
        f"{_IN}.seccompProfile.type",
        _PROFILE,
    ),
    "sysctls": (
        pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
        "",
        "spec.securityContext.sysctls[0].name",
        "must be a safe sysctl (kubernetes.io, Pod Security Standards)",
    ),
    "windowsHostProcess": (
        pod(secured(windowsOptions={"hostProcess": True})),
        "engine",
        f"{_IN}.windowsOptions.hostProcess",
        "must not be true",
    ),
}
"""A pod that one check of baseline refuses, and what it says."""
RESTRICTED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "allowPrivilegeEscalation": (
        pod(secured(allowPrivilegeEscalation=None)),
        "engine",
        f"{_IN}.allowPrivilegeEscalation",
        "must be false",
    ),
    "capabilities_restricted": (
        pod(secured(capabilities={"drop": ["KILL"]})),
        "engine",
        f"{_IN}.capabilities.drop",
        "must contain ALL",
    ),
    "procMount_restricted": (
        pod(secured(procMount="Unmasked"), hostUsers=False),
        "engine",
        f"{_IN}.procMount",
        "must be Default",
    ),
    "restrictedVolumes": (pod(volumes=[{"name": "a", "nfs": {}}]), "", "spec.volumes[0].nfs", _VOLUMES),
    "runAsNonRoot": (
        pod(container(), initContainers=[secured(runAsNonRoot=None) | {"name": "init"}]),
        "init",
        "spec.initContainers[0].securityContext.runAsNonRoot",
        "must be true, on the container or on the pod",
    ),
    "runAsUser": (pod(securityContext={"runAsUser": 0}), "", "spec.securityContext.runAsUser", "must not be 0"),
    "seccompProfile_restricted": (
        pod(secured(seccompProfile=None)),
        "engine",
        f"{_IN}.seccompProfile.type",
        f"{_PROFILE}, on the container or on the pod",
    ),
}
"""A pod that baseline admits and one check of restricted refuses, and what it says."""


@pytest.mark.parametrize("check", BASELINE)
def test_a_violation_of_baseline_names_its_field(check: str) -> None:
    template, named, field, what = BASELINE[check]
    want = security.Violation("baseline", check, named, field, what)
    assert security.violations(template, "baseline") == (want,)
    assert str(want) == f"{field} {what}"
    assert security.strictest(template) == "privileged"


@pytest.mark.parametrize("check", RESTRICTED)
def test_a_violation_of_restricted_names_its_field(check: str) -> None:
    template, *want = RESTRICTED[check]
    assert security.violations(template, "restricted") == (security.Violation("restricted", check, *want),)
    assert security.strictest(template) == "baseline"


def test_every_check_has_a_case() -> None:
    assert {check.id: check.level for check in security.CHECKS} == {
        **dict.fromkeys(BASELINE, "baseline"),
        **dict.fromkeys(RESTRICTED, "restricted"),
    }


def test_a_pod_that_does_as_restricted_asks_is_restricted() -> None:
    assert security.strictest(pod()) == "restricted"


def test_all_lists_of_containers_are_judged() -> None:
    bad = {"name": "x", "securityContext": {"privileged": True}}
    template = {"spec": {kind: [bad] for kind in ("initContainers", "containers", "ephemeralContainers")}}
    assert [found.field for found in security.violations(template, "baseline")] == [
        f"spec.{kind}[0].securityContext.privileged" for kind in ("initContainers", "containers", "ephemeralContainers")
    ]


def test_violations_are_in_the_order_of_the_checks_and_then_of_the_pod() -> None:
    template = pod({"name": "a"}, {"name": "b", "ports": [{"hostPort": 1}]}, hostPID=True)
    assert [(v.check, v.container) for v in security.violations(template, "restricted")] == [
        ("hostNamespaces", ""),
        ("hostPorts", "b"),
        ("allowPrivilegeEscalation", "a"),
        ("allowPrivilegeEscalation", "b"),
        ("capabilities_restricted", "a"),
        ("capabilities_restricted", "b"),
        ("runAsNonRoot", "a"),
        ("runAsNonRoot", "b"),
        ("seccompProfile_restricted", "a"),
        ("seccompProfile_restricted", "b"),
    ]


def test_many_and_long_capabilities_are_cut() -> None:
    template = pod(secured(capabilities={"add": ["X" * 500, *(f"Y{number}" for number in range(9))]}))
    [found] = security.violations(template, "baseline")
    assert found.what == f"must not contain {'X' * 62}…, Y0, Y1, Y2, Y3 and 5 more"
    assert shown("Y" * 63) == "Y" * 63


# Junk

_FULL: dict[str, Any] = {
    "metadata": {"annotations": {_APPARMOR: "localhost/x"}},
    "spec": {
        "os": {"name": "linux"},
        "hostUsers": True,
        "hostPID": False,
        "securityContext": {
            "sysctls": [{"name": "net.ipv4.tcp_rmem"}],
            "seLinuxOptions": {"type": "container_t", "user": ""},
            "runAsUser": 1,
            **GOOD,
        },
        "volumes": [{"name": "v", "emptyDir": {}}],
        **{
            kind: [
                {
                    "name": "c",
                    "ports": [{"hostPort": 0}],
                    "livenessProbe": {"httpGet": {"host": ""}},
                    "lifecycle": {"preStop": {"tcpSocket": {"host": ""}}},
                    "securityContext": {
                        "procMount": "Default",
                        "appArmorProfile": {"type": "Localhost"},
                        "windowsOptions": {"hostProcess": False},
                        **GOOD,
                    },
                }
            ]
            for kind in ("initContainers", "containers", "ephemeralContainers")
        },
    },
}
"""A template with a value in each field that a check reads."""
_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3),
    max_leaves=5,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [path, *(deeper for key in keys for deeper in _paths(value[key], (*path, key)))]


def _with(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    if not path:
        return junk
    if isinstance(value, dict):
        return {**value, path[0]: _with(value[path[0]], path[1:], junk)}
    return [_with(item, path[1:], junk) if at == path[0] else item for at, item in enumerate(value)]


@given(st.sampled_from([path for path in _paths(_FULL) if path]), _JUNK)
def test_junk_in_any_field_is_judged_and_hardened_without_an_exception(path: tuple[Any, ...], junk: Any) -> None:
    template = _with(_FULL, path, junk)
    for level in LEVELS:
        assert all(found.field and found.what for found in security.violations(template, level))
    assert security.hardened(security.hardened(template)) == security.hardened(template)


def test_the_template_of_the_junk_is_restricted_without_it() -> None:
    """Otherwise a check might stop before it reads the junk."""
    assert security.violations(_FULL, "restricted") == ()
