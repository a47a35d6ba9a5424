"""A network of a run's own, so that two runs at once never meet.

provider-kubernetes holds two ports that cannot be chosen, and Crossplane listens on all interfaces. In a network
namespace neither matters. Where the system lets nobody make one, runs take turns.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

INSIDE = "MODELPLANE_E2E_NAMESPACE"
# A user who may not make a namespace may do so as the root of a user namespace, where the system allows those.
# When the command dies, all that it started dies with it: its number is the first of a namespace of numbers.
ATTEMPTS = (
    ("--net", "--pid", "--fork", "--kill-child"),
    ("--net", "--pid", "--fork", "--kill-child", "--map-root-user"),
)
LOCAL = ("ip link set lo up", "ip address add 198.18.0.1/15 dev lo")


def enclose(command: list[str]) -> list[str] | None:
    """The command as it runs in a network of its own; None where none can be made."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return None
    script = " && ".join((*LOCAL, 'exec "$0" "$@"'))
    for options in ATTEMPTS:
        prefix = ["unshare", *options, "sh", "-c", script]
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return [*prefix, *command]
    return None


def enclosed() -> bool:
    return INSIDE in os.environ


@contextlib.contextmanager
def turn(root: Path) -> Iterator[None]:
    """Wait until no other run uses this network."""
    if enclosed():
        yield
        return
    with (root / "locks" / "turn").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("wait   for another run: without a network namespace they take turns", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
