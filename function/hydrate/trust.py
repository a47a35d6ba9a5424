"""Certificates of authorities to trust in addition to public ones, for every client that stages weights."""

from __future__ import annotations

import atexit
import os
import ssl
import tempfile
from pathlib import Path

VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE")
"""Variables that name a file with all trusted certificates. The hub's client (httpx2 2.16) and the Xet client
(rustls-native-certs) read the first, botocore 1.44 the third, else the second."""


class Untrustworthy(Exception):
    """A file holds no certificate."""


def also(bundle: Path) -> None:
    """Trust the certificates of a bundle in addition to the system's. Call it before a client is made.

    Raises:
        Untrustworthy: The file is not there, or holds something else than certificates in PEM.
    """
    try:
        added = bundle.read_text(encoding="ascii")
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=added)
    except (OSError, ValueError, ssl.SSLError) as fault:
        raise Untrustworthy(f"{bundle} holds no certificates in PEM: {fault}") from fault
    system = ssl.get_default_verify_paths().cafile
    public = Path(system).read_text() if system else ""
    with tempfile.NamedTemporaryFile("w", prefix="ca-", suffix=".crt", delete=False) as merged:
        merged.write(f"{public}\n{added}\n")
    atexit.register(Path(merged.name).unlink, missing_ok=True)
    os.environ.update(dict.fromkeys(VARIABLES, merged.name))
