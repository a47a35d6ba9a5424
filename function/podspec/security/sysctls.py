"""The check of kernel parameters: those that affect one pod alone are safe."""

from __future__ import annotations

from collections.abc import Iterator

from function.podspec.security.pod import Pod
from function.podspec.security.violation import Found

_SAFE = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_notsent_lowat",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_slow_start_after_idle",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)


def unsafe(pod: Pod) -> Iterator[Found]:
    for sysctl in pod.security.items("sysctls"):
        if (sysctl.text("name") or "") not in _SAFE:
            yield Found("", sysctl.field("name"), "must be a safe sysctl (kubernetes.io, Pod Security Standards)")
