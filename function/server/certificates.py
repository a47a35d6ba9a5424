"""The server's certificates: checked as a set, and read again when they change."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc
import structlog

_KEY, _CERTIFICATE, _AUTHORITY = "tls.key", "tls.crt", "ca.crt"
_Files = tuple[bytes, bytes, bytes]


class UnusableCertificates(ValueError):
    """The certificate files cannot be used. The message names the file and the fault."""


def rotating(folder: Path) -> grpc.ServerCredentials:
    """Return mutual TLS credentials from a mounted Secret.

    A change takes effect once the new files are valid as a set; until then the old ones stay in use. Raises OSError if
    a file is missing, and UnusableCertificates.
    """
    taken = refused = load(folder)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        """Return new certificates, or None to keep the current ones. gRPC calls it before each handshake."""
        nonlocal taken, refused
        try:
            now = _read(folder)
            if now in (taken, refused):
                return None
            refused = now
            taken = load(folder)
        except (OSError, UnusableCertificates) as problem:  # a Secret that is being replaced, or is broken
            structlog.get_logger().warning("Kept the certificates", problem=str(problem))
            return None
        structlog.get_logger().info("Took new certificates")
        return _configuration(taken)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(taken),
        fetch,  # type: ignore[arg-type]  # None keeps the current ones, which the stubs leave out
        require_client_authentication=True,
    )


def load(folder: Path) -> _Files:
    """Read and check a folder's files. Raises OSError and UnusableCertificates."""
    files = _read(folder)
    _check_certificates(folder / _CERTIFICATE, files[1])
    _check_certificates(folder / _AUTHORITY, files[2])
    _check_key(folder)
    if _read(folder) != files:
        raise UnusableCertificates(f"{folder}: its files are being replaced")
    return files


def _read(folder: Path) -> _Files:
    return (folder / _KEY).read_bytes(), (folder / _CERTIFICATE).read_bytes(), (folder / _AUTHORITY).read_bytes()


def _configuration(files: _Files) -> grpc.ServerCertificateConfiguration:
    key, certificate, authority = files
    return grpc.ssl_server_certificate_configuration([(key, certificate)], root_certificates=authority)


def _check_certificates(path: Path, content: bytes) -> None:
    if not content.strip():
        raise UnusableCertificates(f"{path}: it is empty, and must hold certificates as PEM")
    try:
        _context().load_verify_locations(cadata=content.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise UnusableCertificates(f"{path}: it holds something that is no certificate as PEM") from None


def _check_key(folder: Path) -> None:
    """Check the key of a certificate that is valid."""
    key = folder / _KEY
    try:
        _context().load_cert_chain(folder / _CERTIFICATE, key, password=_no_password)
    except ssl.SSLError as problem:
        if problem.reason == "KEY_VALUES_MISMATCH":
            raise UnusableCertificates(f"{key}: it is not the key of {_CERTIFICATE}") from None
        raise UnusableCertificates(f"{key}: it holds no private key as PEM without a password") from None


def _no_password() -> str:
    """Return no password: otherwise OpenSSL would ask for one on the terminal."""
    return ""


def _context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
