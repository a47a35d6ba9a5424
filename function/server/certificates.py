"""The server's certificates: checked as a set, and read again when they change."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

import grpc
import structlog

from function.server import validity

_KEY, _CERTIFICATE, _AUTHORITY = "tls.key", "tls.crt", "ca.crt"
_OF_ANOTHER = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")
"""Reasons of OpenSSL for a key that is not the certificate's (ssl.SSLError.reason). The others are of another type."""
_Files = tuple[bytes, bytes, bytes]


class UnusableCertificates(ValueError):
    """The certificate files cannot be used. The message names the file and the fault."""


class Certificates:
    """The certificates of a mounted Secret, which is read again when somebody asks.

    A change takes effect once the new files are valid as a set; until then the old ones stay in use. Safe to use from
    several threads.
    """

    def __init__(self, folder: Path) -> None:
        """Raises UnusableCertificates."""
        self._folder = folder
        self._lock = Lock()
        self._taken = self._served = load(folder)
        self._seen: _Files | None = self._taken
        """What was read last. None if it could not be read."""
        self.refusal = ""
        """Why the files that are there now are not in use. Empty if they are."""

    def credentials(self) -> grpc.ServerCredentials:
        """Return credentials of mutual TLS that follow the files."""
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._served),
            self._fetch,  # type: ignore[arg-type]  # None keeps the current ones, which the stubs leave out
            require_client_authentication=True,
        )

    def problem(self, now: float) -> str:
        """Return why no client can connect at a time, in seconds since 1970. Empty if clients can."""
        for name, (begin, end) in self.validity().items():
            if not begin <= now <= end:
                return f"{self._folder / name}: it is valid from {_date(begin)} to {_date(end)} only"
        return ""

    def validity(self) -> Mapping[str, validity.Period]:
        """Return the period in which each file of certificates can be used."""
        with self._lock:
            self._refresh()
            _, certificate, authority = self._taken
        return {_CERTIFICATE: validity.of_chain(certificate), _AUTHORITY: validity.of_any(authority)}

    def _fetch(self) -> grpc.ServerCertificateConfiguration | None:
        """Return new certificates, or None to keep the current ones. gRPC calls it before each handshake."""
        with self._lock:
            self._refresh()
            if self._taken == self._served:
                return None
            self._served = self._taken
            return _configuration(self._taken)

    def _refresh(self) -> None:
        """Take the files if they have changed and are valid. A Secret may be being replaced, or be broken."""
        try:
            now = _read(self._folder)
        except UnusableCertificates as problem:
            self._seen = None
            self._keep(str(problem))
            return
        if now == self._seen:
            return
        self._seen = now
        try:
            taken = load(self._folder)
        except UnusableCertificates as problem:
            self._keep(str(problem))
            return
        self.refusal = ""
        if taken != self._taken:
            self._taken = taken
            structlog.get_logger().info("Took new certificates")

    def _keep(self, refusal: str) -> None:
        """Keep the certificates, and log why, once."""
        if refusal != self.refusal:
            self.refusal = refusal
            structlog.get_logger().warning("Kept the certificates", problem=refusal)


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00") + "Z"


def load(folder: Path) -> _Files:
    """Read and check a folder's files. Raises UnusableCertificates."""
    files = _read(folder)
    _check_certificates(folder / _CERTIFICATE, files[1])
    _check_certificates(folder / _AUTHORITY, files[2])
    _check_key(folder)
    if _read(folder) != files:
        raise UnusableCertificates(f"{folder}: its files are being replaced")
    return files


def _read(folder: Path) -> _Files:
    """Raises UnusableCertificates if a file cannot be read."""
    return _content(folder / _KEY), _content(folder / _CERTIFICATE), _content(folder / _AUTHORITY)


def _content(path: Path) -> bytes:
    try:
        if not path.is_file() and path.exists():
            raise UnusableCertificates(f"{path}: it is not a regular file")  # a pipe would be waited for
        return path.read_bytes()
    except OSError as problem:
        raise UnusableCertificates(f"{path}: {problem.strerror}") from None


def _configuration(files: _Files) -> grpc.ServerCertificateConfiguration:
    key, certificate, authority = files
    return grpc.ssl_server_certificate_configuration([(key, certificate)], root_certificates=authority)


def _check_certificates(path: Path, content: bytes) -> None:
    if not content.strip():
        raise UnusableCertificates(f"{path}: it is empty, and must contain PEM certificates")
    try:
        _context().load_verify_locations(cadata=content.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise UnusableCertificates(f"{path}: it contains something other than PEM certificates") from None


def _check_key(folder: Path) -> None:
    """Check the key of a certificate that is valid."""
    key = folder / _KEY
    try:
        _context().load_cert_chain(folder / _CERTIFICATE, key, password=_no_password)
    except ssl.SSLError as problem:
        if problem.reason in _OF_ANOTHER:
            raise UnusableCertificates(f"{key}: it is not the key of {_CERTIFICATE}") from None
        raise UnusableCertificates(f"{key}: it contains no PEM private key without a password") from None
    except OSError as problem:  # it was removed meanwhile
        raise UnusableCertificates(f"{folder}: {problem.strerror}") from None


def _no_password() -> str:
    """Return no password: otherwise OpenSSL would ask for one on the terminal."""
    return ""


def _context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
