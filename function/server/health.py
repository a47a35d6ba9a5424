"""What the probes of the function tell the kubelet.

- `/healthz` (liveness) fails if only a restart helps: the event loop stands still, or no worker is left that could
  compute a call.
- `/readyz` (readiness) fails if the function cannot be called: it has not started yet, it is stopping, or its
  certificates are not valid now. It also fails when `/healthz` does.

Probes are answered by another thread than that of the event loop, so that they can tell what is wrong with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from function.probes import Check
from function.server.admission import Admission
from function.server.certificates import Certificates
from function.server.workers import Workers

_TURN = 1.0
"""Seconds between two turns that prove that the event loop goes on."""
_STALLED = 30.0
"""Seconds without a turn after which the loop is dead. It computes nothing long itself: the workers do."""


class Phase(Enum):
    STARTING = "the server does not listen yet"
    SERVING = ""
    STOPPING = "the server is stopping: it finishes the calls that it accepted"


@dataclass(slots=True)
class Health:
    """Written by the event loop, and read by the thread of the probes."""

    workers: Workers
    certificates: Certificates | None = None
    """None without TLS."""
    clock: Callable[[], float] = time.monotonic
    phase: Phase = Phase.STARTING
    turned_at: float = 0.0
    """When the event loop last turned."""
    admission: Admission | None = None
    """None where no calls are received."""

    def __post_init__(self) -> None:
        self.turn()

    def turn(self) -> None:
        self.turned_at = self.clock()

    @property
    def idle(self) -> float:
        """Seconds since the event loop last turned."""
        return self.clock() - self.turned_at

    async def turning(self) -> None:
        """Turn until the task is cancelled."""
        while True:
            self.turn()
            await asyncio.sleep(_TURN)

    def live(self) -> Iterator[Check]:
        idle = self.idle
        yield Check("loop", f"the event loop has not turned for {idle:.0f} seconds" if idle > _STALLED else "")
        yield Check("workers", self.workers.problem())

    def ready(self) -> Iterator[Check]:
        yield from self.live()
        yield Check("serving", self.phase.value)
        yield Check("certificates", self.certificates.problem(time.time()) if self.certificates else "")
