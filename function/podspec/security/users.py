"""Checks of the users that the processes of a pod run as.

Restricted forbids root, except to a pod whose users are none of the node's (Kubernetes 1.35).
"""

from __future__ import annotations

from collections.abc import Iterator

from function.podspec.security.pod import Pod
from function.podspec.security.violation import Found


def non_root(pod: Pod) -> Iterator[Found]:
    """What the pod says holds for each container that says nothing."""
    if pod.has_user_namespace:
        return
    for security in pod.securities:
        if security.flag("runAsNonRoot") is False:
            yield Found(security.container, security.field("runAsNonRoot"), "must not be false")
    if pod.security.flag("runAsNonRoot"):
        return
    for security in pod.securities[1:]:
        if security.flag("runAsNonRoot") is None:
            what = "must be true, on the container or on the pod"
            yield Found(security.container, security.field("runAsNonRoot"), what)


def root_user(pod: Pod) -> Iterator[Found]:
    if pod.has_user_namespace:
        return
    for security in pod.securities:
        if security.number("runAsUser") == 0:
            yield Found(security.container, security.field("runAsUser"), "must not be 0")
