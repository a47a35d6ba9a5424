"""A network namespace for a pod: its containers use the ports that we compose, on every address and on loopback.

A run's network makes all addresses of pods local, and most stand-ins just listen on one. That is not enough for a
container that listens on all addresses, as the routing sidecar does, or that reaches its neighbour through loopback.
"""

import contextlib
import ctypes
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e.programs import NODE_ADDRESS

NETWORK = 0x40000000  # CLONE_NEWNET (linux/sched.h)
LIBC = ctypes.CDLL(None, use_errno=True)
LONGEST = 15  # characters of an interface's name
EVERY_ADDRESS = "0.0.0.0"


@dataclass(frozen=True, slots=True)
class PodNetwork:
    address: str
    handle: int  # a file descriptor; the namespace lives as long as it is open, or a process is in it

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Within the block, what this thread starts and listens on is in the pod. Sockets stay where they were made."""
        before = current()
        try:
            enter(self.handle)
            yield
        finally:
            enter(before)
            os.close(before)


@contextlib.contextmanager
def made(address: str) -> Iterator[PodNetwork]:
    """Give a pod its address: the run's network reaches it, and it reaches what listens in the run's network."""
    pod, outside = PodNetwork(address, separate()), current()
    link = "".join(("pod", *address.split(".")))[:LONGEST]
    try:
        with pod.entered():
            ip("link", "add", "eth0", "type", "veth", "peer", "name", link, "netns", f"/proc/self/fd/{outside}",
               inherited=outside)  # fmt: skip
            ip("link", "set", "lo", "up")
            ip("address", "add", f"{address}/32", "dev", "eth0")
            ip("link", "set", "eth0", "up")
            ip("route", "add", "default", "dev", "eth0")
        ip("link", "set", link, "up")
        # In the table that makes the whole range local, since that one is looked up first.
        ip("route", "add", f"{address}/32", "dev", link, "src", NODE_ADDRESS, "table", "local")
        yield pod
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            ip("link", "delete", link)
        os.close(outside)
        os.close(pod.handle)


def separate() -> int:
    """Make an empty network namespace."""
    before = current()
    try:
        check(LIBC.unshare(NETWORK))
        return current()
    finally:
        enter(before)
        os.close(before)


def current() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY)


def enter(handle: int) -> None:
    """Python has os.setns from 3.12 on."""
    check(LIBC.setns(handle, NETWORK))


def check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def ip(*arguments: str, inherited: int | None = None) -> None:
    kept = (inherited,) if inherited is not None else ()
    subprocess.run(("ip", *arguments), check=True, pass_fds=kept)
