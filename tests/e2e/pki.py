"""Certificates of a run: one authority for API servers and functions as servers, and for Crossplane as their client."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Python 3.13 and newer refuse an authority that does not say what its key is for.
AUTHORITY = ("-addext=basicConstraints=critical,CA:TRUE", "-addext=keyUsage=critical,keyCertSign")
LEAF = ("-CA", "ca.crt", "-CAkey", "ca.key", "-addext=subjectAltName=IP:127.0.0.1,DNS:localhost")
CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Pki:
    """Where they are. `server` and `client` hold tls.crt, tls.key, ca.crt, as function SDKs look for them."""

    folder: Path

    @property
    def authority(self) -> Path:
        return self.folder / "ca.crt"

    @property
    def server(self) -> Path:
        return self.folder / "server"

    @property
    def client(self) -> Path:
        return self.folder / "client"

    @property
    def accounts(self) -> Path:
        """The key that signs tokens of service accounts."""
        return self.folder / "accounts.key"


def issue(folder: Path) -> Pki:
    """Make a new authority and what it signs; valid for two days."""
    pki = Pki(folder)
    for one in (pki.server, pki.client):
        one.mkdir(parents=True)
    (folder / "openssl.cnf").write_text("[req]\ndistinguished_name = dn\n[dn]\n")
    certify(folder, "ca", *AUTHORITY)
    for one in (pki.server, pki.client):
        certify(folder, f"{one.name}/tls", *LEAF)
        shutil.copy(pki.authority, one)
    openssl(folder, "genrsa", "-out", pki.accounts.name, "2048")
    return pki


def certify(folder: Path, name: str, *options: str) -> None:
    files = ("-out", f"{name}.crt", "-keyout", f"{name}.key", "-subj", f"/CN={name.partition('/')[0]}")
    openssl(folder, "req", "-x509", "-config", "openssl.cnf", "-days", "2", *CURVE, *files, *options)


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(("openssl", *arguments), cwd=folder, check=True, capture_output=True)
