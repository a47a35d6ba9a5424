"""What the server asks of its own process: memory that stays, certificates that rotate."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from pathlib import Path

import grpc
import structlog

_FILES = ("tls.key", "tls.crt", "ca.crt")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Parameters of mallopt (glibc, malloc.h)."""
_KEEP = 512 * 2**20
"""Bytes of freed memory kept for the next request: to give 70 MB back and fetch them again doubles a parse."""


def settle_memory() -> None:
    """After start: what was imported stays for ever, so the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    with contextlib.suppress(OSError, AttributeError):  # another libc has no mallopt
        libc = ctypes.CDLL(None)
        libc.mallopt(_M_TRIM_THRESHOLD, _KEEP)
        libc.mallopt(_M_MMAP_THRESHOLD, _KEEP)


def rotating_credentials(folder: Path) -> grpc.ServerCredentials:
    """Mutual TLS from a mounted Secret, read again whenever it changes. Raises OSError where a file is missing."""
    seen = _read(folder)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        nonlocal seen
        try:
            now = _read(folder)
        except OSError as problem:  # a Secret that is being replaced
            structlog.get_logger().warning("Kept the certificates", problem=str(problem))
            return None
        if now == seen:
            return None
        seen = now
        return _configuration(now)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(seen),
        fetch,  # type: ignore[arg-type]  # None is "as before", which the stubs leave out
        require_client_authentication=True,
    )


def _read(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / name).read_bytes() for name in _FILES)


def _configuration(files: tuple[bytes, ...]) -> grpc.ServerCertificateConfiguration:
    key, certificate, authority = files
    return grpc.ssl_server_certificate_configuration([(key, certificate)], root_certificates=authority)
