"""Whether the provider reaches a cluster and may log in to it, judging by the Objects on it."""

from __future__ import annotations

from function.core import Manifest, condition, denial, dig

_LOST = (
    "connection refused",
    "connection reset by peer",
    "no such host",
    "no route to host",
    "network is unreachable",
    "i/o timeout",
    "TLS handshake timeout",
    "context deadline exceeded",
    "Client.Timeout exceeded",
    "server misbehaving",
    "http2: client connection lost",
)
"""Errors of Go's net, net/http and client-go packages about a peer that does not answer (go 1.26). Any other error does
not count as a lost cluster: an object that the cluster refuses proves that it answers."""


def lost(observed: Manifest) -> str | None:
    """Return the error with which an Object's cluster fails to answer, or None if it answers.

    Only the kind of error is returned: the provider's whole message contains ports that differ from try to try.
    """
    synced = condition(observed, "Synced")
    if dig(synced, "status") != "False":
        return None
    message = str(dig(synced, "message") or "")
    return next((fault for fault in _LOST if fault in message), None)


def locked_out(observed: Manifest) -> str | None:
    """Return why the provider cannot log in to an Object's cluster; None if it can, or if the cluster is lost."""
    synced = condition(observed, "Synced")
    if dig(synced, "status") != "False" or lost(observed):
        return None
    return denial.credentials(str(dig(synced, "message") or ""))
