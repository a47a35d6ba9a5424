"""Which function is asked: the one in this program, or one that is served somewhere."""

from __future__ import annotations

from function.sandbox.settle import Compose


def function(target: str | None) -> Compose:
    """`target` is host and port; None is ours, in process."""
    if target is None:
        from function.planning.control_plane import in_process

        return in_process
    from function.sandbox.remote import Remote

    return Remote(target)
