"""The connections of the process, to close one that gRPC cannot be told to close.

gRPC for Python ends a call of a server only once its response is sent, and has no way to give that up.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Collection, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import unquote

_FILES = Path("/dev/fd")
_INTERNET = (socket.AF_INET, socket.AF_INET6)
_End = tuple[IPv4Address | IPv6Address, int]


def close(peers: Collection[str]) -> int:
    """Close the connections of peers, which are named as gRPC does. Return how many there were.

    gRPC then sees that they ended, and frees what belongs to them.
    """
    ends = {end for peer in peers if (end := _named(peer)) is not None}
    return _close(lambda connection: _end(*connection.getpeername()[:2]) in ends)


def close_all(port: int) -> int:
    """Close all connections to a port of the process. Return how many there were."""
    return _close(lambda connection: connection.getsockname()[1] == port and bool(connection.getpeername()))


def _close(is_meant: Callable[[socket.socket], bool]) -> int:
    closed = 0
    for connection in _sockets():
        with connection, contextlib.suppress(OSError):  # it is no connection, or its peer has left
            if connection.family in _INTERNET and is_meant(connection):
                connection.shutdown(socket.SHUT_RDWR)
                closed += 1
    return closed


def _sockets() -> Iterator[socket.socket]:
    """Yield duplicates of all sockets: a descriptor itself can be another file's at any moment.

    Yields none while the process can open no file.
    """
    with contextlib.suppress(OSError):
        for file in _FILES.iterdir():
            with contextlib.suppress(OSError):  # the file is closed by now, or is no socket
                yield _duplicate(int(file.name))


def _duplicate(descriptor: int) -> socket.socket:
    """Raises OSError."""
    duplicate = os.dup(descriptor)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _named(peer: str) -> _End | None:
    """Return the end that gRPC names, such as `ipv4:10.0.0.1:4711` and `ipv6:%5B::1%5D:4711`."""
    host, _, port = unquote(peer.partition(":")[2]).rpartition(":")
    try:
        return _end(host.strip("[]"), int(port))
    except ValueError:
        return None


def _end(host: str, port: int) -> _End:
    address = ip_address(host.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address, port
