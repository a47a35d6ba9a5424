"""The deadline of the current call, for loops that may run long.

`check()` takes less than a microsecond, so call it in every step of such a loop. It raises DeadlineExceeded once the
caller's deadline or the server's limit has passed, or the caller has left. Outside a call, for example offline, no
deadline is set and it does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from function.core.errors import DeadlineExceeded


@dataclass(slots=True)
class Deadline:
    """The moment at which a call must stop. Another thread may cancel it at any time."""

    at: float = float("inf")
    """Seconds on the clock of `time.monotonic()`."""
    cancelled: bool = False
    limit: float = 0.0
    """Seconds that the server lets a call compute, if that is what sets `at`."""

    def shorten(self, seconds: float) -> None:
        """Let the call take at most this long from now."""
        end = time.monotonic() + seconds
        if end < self.at:
            self.at, self.limit = end, seconds

    def cancel(self) -> None:
        self.cancelled = True

    def check(self) -> None:
        """Raise DeadlineExceeded if the call must stop."""
        if self.cancelled or time.monotonic() > self.at:
            raise DeadlineExceeded(cancelled=self.cancelled, limit=self.limit)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def check() -> None:
    """Raise DeadlineExceeded if the current call must stop. Does nothing outside a call."""
    current = _current.get()
    if current is not None:
        current.check()


@contextmanager
def within(limit: Deadline) -> Iterator[None]:
    """Run the enclosed code under a deadline. Raises DeadlineExceeded at once if it has already passed."""
    limit.check()
    token = _current.set(limit)
    try:
        yield
    finally:
        _current.reset(token)
