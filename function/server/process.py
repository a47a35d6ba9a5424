"""What the server asks of its own process: memory that stays, threads that take turns."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt (glibc, malloc.h)."""
_KEEP = 512 * 2**20
"""Bytes of freed memory kept for the next request: to give 70 MB back and fetch them again doubles a parse."""
_TURN = 0.001
"""Seconds."""


def settle_memory() -> None:
    """After start: what was imported stays for ever, so the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    with contextlib.suppress(OSError, AttributeError):  # another libc has no mallopt
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEEP)
        libc.mallopt(_M_MMAP_THRESHOLD, _KEEP)


def settle_threads() -> None:
    """Threads take turns more often than CPython's 5 ms: a short call beside long ones needs several turns."""
    sys.setswitchinterval(_TURN)
