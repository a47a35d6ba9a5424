"""Pod templates at random: most of their fields are set to what a level allows, some to what none does.

All of them can be decoded by Kubernetes. It need not admit them: the policy is judged, not validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Made = Callable[[Random], Any]

_PROFILES = "RuntimeDefault", "Localhost", "Unconfined", "", "runtime/default"
_CAPABILITIES = "NET_BIND_SERVICE", "CHOWN", "KILL", "SYS_ADMIN", "NET_ADMIN", "CAP_CHOWN", "ALL", "chown", ""
_SYSCTLS = (
    "kernel.shm_rmid_forced",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_slow_start_after_idle",
    "kernel.msgmax",
    "net.ipv4.ip_local_port_range",
    "net.core.somaxconn",
)
_VOLUMES = (
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cephfs",
    "cinder",
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "glusterfs",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "persistentVolumeClaim",
    "photonPersistentDisk",
    "portworxVolume",
    "projected",
    "quobyte",
    "rbd",
    "scaleIO",
    "secret",
    "storageos",
    "vsphereVolume",
)
_ALLOWED_VOLUMES = "configMap", "csi", "emptyDir", "persistentVolumeClaim", "projected", "secret", "image"
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_ANNOTATIONS = (
    "seccomp.security.alpha.kubernetes.io/pod",
    "container.seccomp.security.alpha.kubernetes.io/c0",
    f"{_APPARMOR}c0",
    f"{_APPARMOR}c1",
    _APPARMOR,
    "example.com/any",
)


def template(random: Random) -> dict[str, Any]:
    """A pod template, whose containers are named c0, c1 …"""
    wild = random.choice((0.0, 0.02, 0.1, 0.4))
    names = (f"c{number}" for number in range(100))

    def containers(most: int) -> list[Any]:
        return [_container(random, wild, next(names)) for _ in range(random.randint(0, most))]

    spec = {
        **_flags(random, wild, "hostNetwork", "hostPID", "hostIPC"),
        **_some(random, wild, hostUsers=lambda r: r.random() < 0.3, os=_os),
        **_maybe(random, 0.7, "securityContext", lambda r: _of_pod(r, wild)),
        "volumes": [_volume(random, wild, f"v{number}") for number in range(random.choice((0, 0, 1, 2, 4)))],
        "initContainers": containers(2),
        "containers": containers(3),
        **_maybe(random, 0.1, "ephemeralContainers", lambda _: containers(2)),
    }
    return {**_maybe(random, 0.4, "metadata", lambda r: {"annotations": _annotations(r, wild)}), "spec": spec}


def _os(random: Random) -> dict[str, Any]:
    return random.choice(({"name": "windows"}, {"name": "windows"}, {"name": "linux"}, {"name": ""}, {}))


def _annotations(random: Random, wild: float) -> dict[str, str]:
    good, bad = ("runtime/default", "localhost/x", "localhost/"), ("", "unconfined", "localhost", "RuntimeDefault")
    return {key: _either(random, wild, good, bad) for key in _ANNOTATIONS if random.random() < 0.3}


def _of_pod(random: Random, wild: float) -> Any:
    return {
        **_in_common(random, wild, sets=0.7),
        **_maybe(random, 0.2, "sysctls", lambda r: [_sysctl(r, wild) for _ in range(r.randint(0, 3))]),
    }


def _sysctl(random: Random, wild: float) -> Any:
    return {"name": _either(random, wild, _SYSCTLS[:4], _SYSCTLS), "value": "1"} if random.random() < 0.98 else None


def _container(random: Random, wild: float, name: str) -> Any:
    if random.random() < wild / 20:
        return None
    return {
        "name": name,
        **_maybe(random, 0.9, "securityContext", lambda r: _of_container(r, wild)),
        **_maybe(random, 0.3, "ports", lambda r: [_port(r, wild) for _ in range(r.randint(0, 2))]),
        **{
            probe: _handler(random, wild)
            for probe in ("livenessProbe", "readinessProbe", "startupProbe")
            if random.random() < 0.2
        },
        **_maybe(random, 0.2, "lifecycle", lambda r: _lifecycle(r, wild)),
    }


def _of_container(random: Random, wild: float) -> Any:
    return {
        **_in_common(random, wild, sets=0.4),
        **_maybe(random, 0.95, "allowPrivilegeEscalation", lambda r: r.random() < wild),
        **_maybe(random, 0.95, "capabilities", lambda r: _capabilities(r, wild)),
        **_some(random, wild, procMount=lambda r: r.choice(("Default", "Unmasked", "")), privileged=_coin),
    }


def _capabilities(random: Random, wild: float) -> Any:
    added = [_either(random, wild, _CAPABILITIES[:3], _CAPABILITIES) for _ in range(random.randint(1, 2))]
    return {
        **_maybe(random, 0.95, "drop", lambda r: [_either(r, wild, ("ALL",), ("all", "CHOWN", "ALL", ""))]),
        **_maybe(random, 0.2, "add", lambda _: added),
    }


def _in_common(random: Random, wild: float, sets: float) -> dict[str, Any]:
    """Fields of the security contexts of pods and of containers."""
    return {
        **_maybe(random, sets, "runAsNonRoot", lambda r: r.random() >= wild),
        **_maybe(random, sets / 3, "runAsUser", lambda r: _either(r, wild, (1000, 1), (0, 1000))),
        **_maybe(random, sets, "seccompProfile", lambda r: _profile(r, wild)),
        **_maybe(random, sets / 4, "appArmorProfile", lambda r: _profile(r, wild)),
        **_maybe(random, sets / 4, "seLinuxOptions", lambda r: _selinux(r, wild)),
        **_some(random, wild, windowsOptions=lambda r: _flags(r, 0.4, "hostProcess")),
    }


def _profile(random: Random, wild: float) -> Any:
    return {"type": _either(random, wild, _PROFILES[:2], _PROFILES)} if random.random() >= wild / 4 else {}


def _selinux(random: Random, wild: float) -> Any:
    types = "container_t", "container_init_t", "container_kvm_t", "container_engine_t", "spc_t", ""
    return {
        **_maybe(random, 0.7, "type", lambda r: _either(r, wild, types[:4], types)),
        **_some(random, wild, user=lambda r: r.choice(("", "u")), role=lambda r: r.choice(("", "r"))),
        **_maybe(random, 0.3, "level", lambda _: "s0"),
    }


def _port(random: Random, wild: float) -> Any:
    return {"containerPort": 8000, **_some(random, wild, hostPort=lambda r: r.choice((0, 80, 8000)))}


def _handler(random: Random, wild: float) -> Any:
    action = random.choice(("httpGet", "tcpSocket", "exec"))
    host = _some(random, wild, host=lambda r: r.choice(("", "localhost", "10.0.0.1"))) if action != "exec" else {}
    return {action: {**({"port": 8000} if action != "exec" else {}), **host}}


def _lifecycle(random: Random, wild: float) -> Any:
    return {hook: _handler(random, wild) for hook in ("preStop", "postStart") if random.random() < 0.5}


def _volume(random: Random, wild: float, name: str) -> Any:
    if random.random() < wild / 20:
        return random.choice((None, {"name": name}))
    sources = random.choice((1, 1, 1, 2)) if random.random() < wild else 1
    return {"name": name} | {_either(random, wild, _ALLOWED_VOLUMES, _VOLUMES): {} for _ in range(sources)}


# Chances


def _maybe(random: Random, chance: float, field: str, make: Made) -> dict[str, Any]:
    """The field, or nothing. Now and then it is null, which is nothing too."""
    if random.random() >= chance:
        return {}
    return {field: make(random) if random.random() < 0.98 else None}


def _some(random: Random, wild: float, **fields: Made) -> dict[str, Any]:
    """Each field with a chance: the wilder, the higher."""
    return {name: made for field, make in fields.items() for name, made in _maybe(random, wild, field, make).items()}


def _flags(random: Random, wild: float, *fields: str) -> dict[str, Any]:
    return _some(random, wild, **dict.fromkeys(fields, _coin))


def _coin(random: Random) -> bool:
    return random.random() < 0.5


def _either(random: Random, wild: float, good: tuple[Any, ...], other: tuple[Any, ...]) -> Any:
    return random.choice(other if random.random() < wild else good)


# Smaller ones


def smaller(value: Any) -> Iterator[Any]:
    """Yield a value without one of its parts, at any depth."""
    if isinstance(value, dict):
        for key in value:
            yield {other: part for other, part in value.items() if other != key}
            yield from ({**value, key: less} for less in smaller(value[key]))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
            yield from ([*value[:at], less, *value[at + 1 :]] for less in smaller(value[at]))
