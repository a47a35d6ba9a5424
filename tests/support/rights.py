"""Fewer rights for a process that a test starts, whoever runs the test."""

from __future__ import annotations

import ctypes
import resource

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
"""Capabilities of root (capabilities(7), linux/prctl.h)."""


def obey_permissions() -> None:
    """Let the permissions of files bind the program that comes next, even if it runs as root."""
    libc = ctypes.CDLL(None)
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for other users, who are bound anyway


def write_no_file() -> None:
    """Let no file take a byte, as on a disk that may only be read. Pipes and sockets take some."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
