"""The recursion limit: Kubernetes allows deeper nesting than the interpreter's stack has frames for by default.

The limit is the interpreter's, and so one for all threads. It is raised while any of them needs it; the last restores
it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from function.cel.language.limits import RECURSION_LIMIT

_lock = Lock()
_users: list[int] = []
"""The original limit, once for each user of the raised one."""


@contextmanager
def raised() -> Iterator[None]:
    """Raise the interpreter's recursion limit, and restore it afterwards."""
    with _lock:
        _users.append(_users[0] if _users else sys.getrecursionlimit())
        sys.setrecursionlimit(max(RECURSION_LIMIT, _users[0]))
    try:
        yield
    finally:
        with _lock:
            original = _users.pop()
            if not _users:
                sys.setrecursionlimit(original)


def with_raised_limit(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A program that is evaluated under the raised limit."""

    def call(frame: Any) -> Any:
        with raised():
            return run(frame)

    return call
