"""Checks of what a pod takes from its node: namespaces, paths, ports, and processes of the host."""

from __future__ import annotations

from collections.abc import Iterator

from function.podspec.security.pod import Pod
from function.podspec.security.violation import Found

_HANDLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)
_HOSTS = tuple((*handler, action, "host") for handler in _HANDLERS for action in ("httpGet", "tcpSocket"))
"""Where a container names the host that the kubelet connects to."""


def namespaces(pod: Pod) -> Iterator[Found]:
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.spec.flag(field):
            yield Found("", pod.spec.field(field), "must not be true")


def path_volumes(pod: Pod) -> Iterator[Found]:
    for volume in pod.spec.items("volumes"):
        if volume.at("hostPath"):
            yield Found("", volume.field("hostPath"), "must not be set")


def ports(pod: Pod) -> Iterator[Found]:
    for container in pod.containers:
        for port in container.items("ports"):
            if port.number("hostPort"):
                yield Found(container.container, port.field("hostPort"), "must not be set")


def probes_and_handlers(pod: Pod) -> Iterator[Found]:
    """The kubelet sends requests from the node: a host of the pod's choice would be reached past network policies."""
    for container in pod.containers:
        for steps in _HOSTS:
            if container.text(*steps):
                yield Found(container.container, container.field(*steps), "must not be set")


def processes(pod: Pod) -> Iterator[Found]:
    for security in pod.securities:
        if security.flag("windowsOptions", "hostProcess"):
            yield Found(security.container, security.field("windowsOptions", "hostProcess"), "must not be true")
