"""A cluster is lost when nothing answers there; whatever it refuses proves that it is there."""

from __future__ import annotations

import pytest

from function.manifests.reached import lost


def unsynced(message: str) -> dict:
    return {"status": {"conditions": [{"type": "Synced", "status": "False", "message": message}]}}


@pytest.mark.parametrize(
    ("message", "want"),
    [
        ("cannot get object: dial tcp 1.2.3.4:6443: connect: connection refused", "connection refused"),
        ('Get "https://a:6443/api": dial tcp: lookup a on 10.0.0.10:53: no such host', "no such host"),
        ('Get "https://a:6443/api": net/http: TLS handshake timeout', "TLS handshake timeout"),
        ("read tcp 10.0.0.5:51324->1.2.3.4:6443: read: connection reset by peer", "connection reset by peer"),
        ('Get "https://a:6443/api": dial tcp 1.2.3.4:6443: i/o timeout', "i/o timeout"),
        ('Get "https://a:6443/api": context deadline exceeded', "context deadline exceeded"),
        ("Unauthorized", None),
        ('namespaces "ml-team" not found', None),
        ('Deployment.apps "x" is invalid: spec.selector: field is immutable', None),
        ("x509: certificate has expired or is not yet valid", None),
    ],
)  # fmt: skip
def test_only_silence_is_loss(message: str, want: str | None) -> None:
    assert lost(unsynced(message)) == want


def test_who_is_synced_is_not_lost_and_neither_is_who_was_never_asked() -> None:
    """Whatever an old message says."""
    synced = {"status": {"conditions": [{"type": "Synced", "status": "True", "message": "connection refused"}]}}

    assert (lost(synced), lost({})) == (None, None)
