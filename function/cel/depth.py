"""Room for expressions that nest deeply: Kubernetes takes 250 levels, and each is several calls here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import RLock
from typing import TypeVar

_ROOM = 20_000
_LOCK = RLock()

T = TypeVar("T")


def roomy(run: Callable[[], T]) -> T:
    """What `run` gives; if the interpreter's limit of nested calls is too low for it, with a higher one meanwhile."""
    try:
        return run()
    except RecursionError:
        with _LOCK:
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(limit, _ROOM))
            try:
                return run()
            finally:
                sys.setrecursionlimit(limit)
