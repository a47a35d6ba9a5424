"""The deadline of the call that is being answered, for loops that may take long.

`check()` costs less than a microsecond: call it once for each step of a loop. It raises `Exceeded` when the caller's
deadline passed or the caller left. Outside of a call, offline for example, no deadline is set and it does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class Exceeded(BaseException):
    """The call is to be given up. It is an error of the call, never an answer to it.

    A BaseException, as `asyncio.CancelledError` is: code that turns exceptions into decisions must not catch it.
    """

    def __init__(self, *, cancelled: bool) -> None:
        super().__init__("the caller left" if cancelled else "the deadline passed")
        self.cancelled = cancelled
        """Whether the caller left. Otherwise the deadline passed."""


@dataclass(slots=True)
class Deadline:
    """When a call is to be given up. Another thread may cancel it at any time."""

    at: float = float("inf")
    """In seconds of `time.monotonic()`."""
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True

    def check(self) -> None:
        """Raise Exceeded when the call is to be given up."""
        if self.cancelled or time.monotonic() > self.at:
            raise Exceeded(cancelled=self.cancelled)


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def check() -> None:
    """Raise Exceeded when the current call is to be given up. Without a current call it does nothing."""
    current = _current.get()
    if current is not None:
        current.check()


@contextmanager
def within(limit: Deadline) -> Iterator[None]:
    """Code inside runs under this deadline. Raises Exceeded at once where it is over already."""
    limit.check()
    token = _current.set(limit)
    try:
        yield
    finally:
        _current.reset(token)
