"""Exit codes for faults of the network and the volume, which all clients wrap in exceptions of their own."""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator

from function.vocabulary.exit_codes import ExitCode

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM_TOLD = ("No space left on device", "Disk quota exceeded")
"""Messages of the Xet client, whose errors have no number (hf-xet 1.x, a Rust library)."""
_UNTRUSTED_TOLD = ("CERTIFICATE_VERIFY_FAILED", "InvalidCertificate")
"""Of OpenSSL through any Python client, and of rustls in the Xet client."""
_PROXY_TOLD = ("407 Proxy Authentication Required", "407 authenticationrequired", "proxy authorization required")
"""The status of a proxy that wants another password (httpx2 2.16, urllib3 2.8, hyper-util 0.1)."""


def exit_code(fault: BaseException) -> ExitCode:
    """Return the exit code for an exception, from what caused it directly or indirectly."""
    for cause in _causes(fault):
        text = str(cause)
        if (isinstance(cause, OSError) and cause.errno in _NO_ROOM) or _tells(text, _NO_ROOM_TOLD):
            return ExitCode.NO_ROOM
        if isinstance(cause, ssl.SSLCertVerificationError) or _tells(text, _UNTRUSTED_TOLD):
            return ExitCode.UNTRUSTED
        if _tells(text, _PROXY_TOLD):
            return ExitCode.PROXY_REFUSED
    return ExitCode.RETRY


def _tells(text: str, known: tuple[str, ...]) -> bool:
    return any(told.lower() in text.lower() for told in known)


def _causes(fault: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that it was raised from, or while they were handled."""
    seen: set[int] = set()
    while fault is not None and id(fault) not in seen:
        seen.add(id(fault))
        yield fault
        fault = fault.__cause__ or fault.__context__
