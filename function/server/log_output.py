"""Standard output, as the log writes to it. A line that cannot be written is lost, and counted; nothing else is.

A full disk, or a pipe whose reader has left or reads no more, must not end the server, nor fail or delay its calls.
"""

from __future__ import annotations

import io
import os
import select
import sys
from threading import Lock

_STALLED = 1.0
"""Seconds to wait for a reader that does not read. Further lines are lost at once until it reads again."""
_AT_ONCE = 4096
"""Bytes that a pipe that is ready takes without blocking (pipe(7), PIPE_BUF)."""


class LogOutput(io.TextIOBase):
    """Writes to the descriptor without a buffer. A buffer would keep a line that failed, and fail again with it."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._patience = _STALLED
        self.lost = 0
        """Number of writes that failed."""

    def write(self, text: str, /) -> int:
        with self._lock:
            is_written = _is_written(text.encode(errors="backslashreplace"), self._patience)
            self._patience = _STALLED if is_written else 0.0
            self.lost += not is_written
        return len(text)


def _is_written(data: bytes, patience: float) -> bool:
    if sys.stdout is None:  # the descriptor was closed before the process began, and may be another file's by now
        return False
    try:
        descriptor = sys.stdout.fileno()
        ready = select.poll()
        ready.register(descriptor, select.POLLOUT)
        while data:
            if not ready.poll(patience * 1000):
                return False
            data = data[os.write(descriptor, data[:_AT_ONCE]) :]
    except (OSError, ValueError):  # ValueError: the stream is closed
        return False
    return True
