"""Certificates are taken as a set, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from function.server import certificates

AUTHORITY = trustme.CA()
OWN, OTHER = AUTHORITY.issue_cert("localhost"), AUTHORITY.issue_cert("localhost")
CERTIFICATE, KEY = OWN.cert_chain_pems[0].bytes(), OWN.private_key_pem.bytes()


def folder(path: Path, **files: bytes) -> Path:
    sound = {"crt": CERTIFICATE, "key": KEY, "ca": AUTHORITY.cert_pem.bytes()}
    for name, content in (sound | files).items():
        (path / {"crt": "tls.crt", "key": "tls.key", "ca": "ca.crt"}[name]).write_bytes(content)
    return path


def test_a_sound_set_is_taken_as_it_is(tmp_path: Path) -> None:
    assert certificates.load(folder(tmp_path)) == (KEY, CERTIFICATE, AUTHORITY.cert_pem.bytes())


def test_several_authorities_may_be_trusted(tmp_path: Path) -> None:
    certificates.load(folder(tmp_path, ca=AUTHORITY.cert_pem.bytes() + trustme.CA().cert_pem.bytes()))


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"crt": b""}, "tls.crt: it is empty"),
        ({"crt": b"garbage"}, "tls.crt: it contains something other than PEM certificates"),
        ({"crt": CERTIFICATE[:200]}, "tls.crt: it contains something other than PEM certificates"),
        ({"crt": b"\xff\xfe"}, "tls.crt: it contains something other than PEM certificates"),
        ({"crt": KEY}, "tls.crt: it contains something other than PEM certificates"),
        ({"ca": b"\n"}, "ca.crt: it is empty"),
        ({"ca": b"garbage"}, "ca.crt: it contains something other than PEM certificates"),
        (
            {"ca": AUTHORITY.cert_pem.bytes() + CERTIFICATE[:200]},
            "ca.crt: it contains something other than PEM certificates",
        ),
        ({"key": b""}, "tls.key: it contains no PEM private key"),
        ({"key": b"garbage"}, "tls.key: it contains no PEM private key"),
        ({"key": CERTIFICATE}, "tls.key: it contains no PEM private key"),
        ({"key": OTHER.private_key_pem.bytes()}, "tls.key: it is not the key of tls.crt"),
    ],
)
def test_what_is_wrong_is_told_with_its_file(tmp_path: Path, files: dict[str, bytes], why: str) -> None:
    with pytest.raises(certificates.UnusableCertificates) as wrong:
        certificates.load(folder(tmp_path, **files))
    assert why in str(wrong.value)
    assert "PRIVATE" not in str(wrong.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (folder(tmp_path) / "ca.crt").unlink()
    with pytest.raises(certificates.UnusableCertificates, match=r"ca\.crt: No such file"):
        certificates.load(tmp_path)
