"""Bounds on one attempt: CPU time and memory. Whatever it raises is a fault."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

_CPU_SECONDS = 5.0
"""For one attempt, which takes 0.02. One that takes more is a fault."""
_MEMORY = 2 * 2**30
"""Bytes that all attempts together may add to the process. An attempt that asks for more gets a MemoryError."""

_HELD = Path("/proc/self/statm")
"""Pages that this process holds. Only Linux has it; elsewhere memory is not bounded."""


class _TooLong(BaseException):
    """Not an Exception: no handler of the function may turn it into an answer."""


def _interrupt(*_: object) -> NoReturn:
    raise _TooLong(f"more than {_CPU_SECONDS} CPU seconds")


def begin() -> None:
    """Bound the attempts of this process."""
    signal.signal(signal.SIGPROF, _interrupt)
    if _HELD.exists():
        now = int(_HELD.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + _MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def end() -> None:
    """Bound the memory of this process no more, and not that of the processes that it starts."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def faults_of(attempt: Callable[[], Iterable[str]]) -> list[str]:
    """Return the faults that an attempt finds, or the exception that ends it."""
    signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
    try:
        return list(attempt())
    except (Exception, _TooLong) as bug:  # noqa: BLE001  (whatever the function raises is the fault that is searched for)
        return [f"{type(bug).__name__} at {_where(bug)}: {bug!s:.200}"]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _where(bug: BaseException) -> str:
    at = bug.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    return f"{at.tb_frame.f_code.co_filename.rpartition('/function/')[2]}:{at.tb_lineno}" if at else "nowhere"
