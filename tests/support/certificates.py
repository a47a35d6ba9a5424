"""Certificates for tests, as Crossplane mounts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trustme


def write(folder: Path, authority: trustme.CA | None = None, **options: Any) -> Path:
    """Write an authority, and one certificate of it that serves for both sides. Return the folder."""
    authority = authority or trustme.CA()
    own = authority.issue_cert("localhost", "127.0.0.1", **options)
    authority.cert_pem.write_to_path(folder / "ca.crt")
    own.private_key_pem.write_to_path(folder / "tls.key")
    own.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    return folder
