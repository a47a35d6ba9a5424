"""Whether the provider reaches a cluster, as the Objects on it tell."""

from __future__ import annotations

from function.core import Manifest, condition, dig

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
"""What Go's net, net/http and client-go packages say of a peer that does not answer (go 1.26). Nothing else is taken
for a lost cluster: an object that the cluster refuses proves that it is there."""


def lost(observed: Manifest) -> str | None:
    """How an Object's cluster fails to answer; None where it answers.

    Only the kind of the fault: the provider's whole message has ports in it that differ from try to try.
    """
    synced = condition(observed, "Synced")
    if dig(synced, "status") != "False":
        return None
    message = str(dig(synced, "message") or "")
    return next((fault for fault in _LOST if fault in message), None)
