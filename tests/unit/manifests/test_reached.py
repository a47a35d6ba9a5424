"""A cluster is lost when nothing answers there; whatever it refuses proves that it is there."""

from __future__ import annotations

import pytest

from function.manifests.reached import locked_out, lost


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


@pytest.mark.parametrize(
    ("message", "want"),
    [
        ("cannot get object: Unauthorized", "does not accept the credentials"),
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "does not trust"),
        ("connect failed: cannot build kube client for provider config: x", "cannot make a client"),
    ],
)
def test_who_is_not_let_in_is_locked_out_and_not_lost(message: str, want: str) -> None:
    assert lost(unsynced(message)) is None
    assert want in (locked_out(unsynced(message)) or "")


@pytest.mark.parametrize("message", ['namespaces "kube-system" is forbidden', "connection refused", ""])
def test_who_is_refused_an_object_or_lost_is_not_locked_out(message: str) -> None:
    assert locked_out(unsynced(message)) is None
