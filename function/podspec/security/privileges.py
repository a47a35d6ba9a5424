"""Checks of what the processes of a container may do: privileges, capabilities, and the view of /proc."""

from __future__ import annotations

from collections.abc import Iterator

from function.core import enumerate_names
from function.podspec.security.pod import Place, Pod
from function.podspec.security.violation import Found, shown

_DEFAULT_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
"""Capabilities that baseline allows to add."""
_RESTRICTED_CAPABILITIES = frozenset({"NET_BIND_SERVICE"})
"""Capabilities that restricted allows to add."""
ALL_CAPABILITIES = "ALL"
_ADD, _DROP = ("capabilities", "add"), ("capabilities", "drop")


def privileged(pod: Pod) -> Iterator[Found]:
    for security in _of_containers(pod):
        if security.flag("privileged"):
            yield Found(security.container, security.field("privileged"), "must not be true")


def escalation(pod: Pod) -> Iterator[Found]:
    if pod.is_windows:  # Windows has no such flag, and the API server refuses it there
        return
    for security in _of_containers(pod):
        if security.flag("allowPrivilegeEscalation") is not False:
            yield Found(security.container, security.field("allowPrivilegeEscalation"), "must be false")


def added_capabilities(pod: Pod) -> Iterator[Found]:
    for security in _of_containers(pod):
        yield from _added(security, _DEFAULT_CAPABILITIES)


def restricted_capabilities(pod: Pod) -> Iterator[Found]:
    if pod.is_windows:  # Windows has no capabilities, and the API server refuses them there
        return
    for security in _of_containers(pod):
        if ALL_CAPABILITIES not in security.values(*_DROP):
            yield Found(security.container, security.field(*_DROP), f"must contain {ALL_CAPABILITIES}")
        yield from _added(security, _RESTRICTED_CAPABILITIES)


def _added(security: Place, allowed: frozenset[str]) -> Iterator[Found]:
    added = {name if isinstance(name, str) else "" for name in security.values(*_ADD)}
    if forbidden := sorted(added - allowed):
        names = enumerate_names([shown(name) or '""' for name in forbidden])
        yield Found(security.container, security.field(*_ADD), f"must not contain {names}")


def masked_proc(pod: Pod) -> Iterator[Found]:
    """Baseline allows an unmasked /proc to a pod whose users are none of the node's."""
    if not pod.has_user_namespace:
        yield from always_masked_proc(pod)


def always_masked_proc(pod: Pod) -> Iterator[Found]:
    for security in _of_containers(pod):
        if security.text("procMount") not in (None, "Default"):
            yield Found(security.container, security.field("procMount"), "must be Default")


def _of_containers(pod: Pod) -> tuple[Place, ...]:
    return pod.securities[1:]
