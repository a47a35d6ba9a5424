"""Room for expressions that nest deep: Kubernetes allows more levels than the interpreter's stack has by default."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from function.cel.checking.checked import Checked
from function.cel.program.code import Frame, Run

DEEP = 40
"""Levels from which an evaluation needs room of its own."""
_FRAMES = 30_000
_lock = Lock()
_users: list[int] = []
"""The limit that stood before, once for each who has raised it: the first of them puts it back when all have left."""


@contextmanager
def room() -> Iterator[None]:
    """Raise the interpreter's recursion limit, and put it back."""
    with _lock:
        _users.append(_users[0] if _users else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_FRAMES, _users[0]))
    try:
        yield
    finally:
        with _lock:
            before = _users.pop()
            if not _users:
                sys.setrecursionlimit(before)


def roomy(run: Run, checked: Checked) -> Run:
    """A program that has the room that its tree needs."""
    if checked.depth <= DEEP:
        return run

    def call(frame: Frame) -> object:
        with room():
            return run(frame)

    return call
