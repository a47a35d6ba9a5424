"""Settings of the server's process: how it keeps memory and switches threads."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt (glibc, malloc.h)."""
_KEEP = 512 * 2**20
"""Bytes of freed memory kept for the next request: fetching 70 MB from the kernel again doubles a parse."""
_TURN = 0.001
"""Seconds between switches of threads."""


def configure_memory() -> None:
    """Turn off automatic garbage collection, exempt what startup allocated, and keep freed memory.

    Call it once, after startup.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    with contextlib.suppress(OSError, AttributeError):  # other libcs have no mallopt
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEEP)
        libc.mallopt(_M_MMAP_THRESHOLD, _KEEP)


def configure_files() -> None:
    """Let the process open as many files as the system allows: the default of 1,024 is 1,000 connections."""
    with contextlib.suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def configure_threads() -> None:
    """Switch threads more often than CPython's 5 ms: a short call beside long ones needs several turns."""
    sys.setswitchinterval(_TURN)
