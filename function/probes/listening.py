"""Addresses to listen on."""

from __future__ import annotations

import os
import socket
from typing import NamedTuple

ALL = "0.0.0.0"  # noqa: S104  (the kubelet and Crossplane ask from outside of the pod)
_ALL_V6 = "::"


class ListenAddress(NamedTuple):
    host: str
    """A name or an IP address, without brackets. 0.0.0.0 and :: are all addresses."""
    port: int
    """0 lets the system choose."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def overlaps(self, other: ListenAddress) -> bool:
        """Return whether two servers cannot listen on both."""
        shares_host = self.host == other.host or not {self.host, other.host}.isdisjoint((ALL, _ALL_V6))
        return self.port == other.port != 0 and shares_host


class CannotListen(OSError):
    """An address that cannot be used. The message says why."""

    def __init__(self, address: ListenAddress, problem: OSError) -> None:
        is_unknown_name = isinstance(problem, socket.gaierror)  # whose number is none of the system's
        why = problem.strerror if is_unknown_name or problem.errno is None else os.strerror(problem.errno)
        super().__init__(f"{address}: {why}")
        self.address = address


def listener(address: ListenAddress) -> socket.socket:
    """Return a socket that listens. Raises CannotListen.

    0.0.0.0 is all addresses of both families, as for gRPC: a pod may have one of IPv6 only.
    """
    host, port = address
    try:
        if host in (ALL, _ALL_V6) and socket.has_dualstack_ipv6():
            return socket.create_server((_ALL_V6, port), family=socket.AF_INET6, dualstack_ipv6=True)
        family, *_, found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(found[:2], family=family)
    except OSError as problem:
        raise CannotListen(address, problem) from problem
