"""Periods of certificates are those that another reader finds."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from function.server import validity
from function.server.certificates import Certificates
from tests.support import certificates

FAR = datetime(2120, 1, 2, 3, 4, 5, tzinfo=UTC)  # a GeneralizedTime: UTCTime ends in 2049
NEAR = datetime(2040, 1, 2, 3, 4, 5, tzinfo=UTC)
OLD = datetime(1990, 1, 2, 3, 4, 5, tzinfo=UTC)


def certificate(not_after: datetime, key_type: trustme.KeyType = trustme.KeyType.ECDSA) -> bytes:
    own = trustme.CA().issue_cert("localhost", not_before=OLD, not_after=not_after, key_type=key_type)
    return own.cert_chain_pems[0].bytes()


@pytest.mark.parametrize("key_type", list(trustme.KeyType))
@pytest.mark.parametrize("not_after", [NEAR, FAR])
def test_a_period_is_read_from_the_certificate(not_after: datetime, key_type: trustme.KeyType) -> None:
    pem = certificate(not_after, key_type)
    other = x509.load_pem_x509_certificate(pem)

    want = (other.not_valid_before_utc.timestamp(), other.not_valid_after_utc.timestamp())
    assert validity.of_chain(pem) == validity.of_any(pem) == want
    assert want == (OLD.timestamp(), not_after.timestamp())


def test_a_chain_ends_with_its_first_and_a_bundle_with_its_last() -> None:
    both = certificate(FAR) + b"a comment\n" + certificate(NEAR)

    assert validity.of_chain(both)[1] == NEAR.timestamp()
    assert validity.of_any(both)[1] == FAR.timestamp()


def test_an_old_label_of_a_certificate_is_read_as_openssl_does(tmp_path: Path) -> None:
    folder = certificates.write(tmp_path)
    for name in ("tls.crt", "ca.crt"):
        file = folder / name
        period = validity.of_any(file.read_bytes())
        file.write_bytes(file.read_bytes().replace(b"CERTIFICATE", b"X509 CERTIFICATE"))
        assert validity.of_any(file.read_bytes()) == period

    assert Certificates(folder).problem(time.time()) == ""
