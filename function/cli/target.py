"""The composition function that a command calls: the one in this program, or one that is served elsewhere."""

from __future__ import annotations

from function.sandbox.extensions import CompositionFunction


def chosen(target: str | None) -> CompositionFunction:
    """The function at `target` (host and port), called over gRPC without TLS; for None the one in this program."""
    if target is None:
        from function.planning.control_plane import in_process

        return in_process
    from function.sandbox.remote import RemoteFunction

    return RemoteFunction(target)
