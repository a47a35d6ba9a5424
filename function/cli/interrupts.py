"""Ctrl-C while modules are imported."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def end_at_once() -> Iterator[None]:
    """End the process at once on Ctrl-C, and without a traceback, while the enclosed code imports modules.

    Nothing runs yet that has to be undone. A KeyboardInterrupt would be raised inside another module, which may turn it
    into any other error.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
