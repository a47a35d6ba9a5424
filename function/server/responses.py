"""Responses that are being sent, and the end of those that their clients do not read.

gRPC sends a response as fast as its client reads it, and holds it in memory until then. A client can be there, answer
pings, and never read:

1. The further calls of a client that is slow to read come after those of others, so that it does not take their room.
2. The connection of a client that does not read in time is closed, which ends all its calls.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass

import structlog

from function.server import connections

IN_TIME = 20.0
"""Seconds in which a client must read a response. They are fewer than a call waits for room: it gets that of others
that are not read."""
_SLOW = 2.0
"""Seconds after which a client is slow to read."""
_AGAIN = 1.0
"""Seconds between two looks at the connections: each costs a look at all of them."""


@dataclass(slots=True, eq=False)
class Response:
    peer: str
    size: int
    is_slow: bool = False
    """Whether its client is slow to read it."""
    timer: asyncio.TimerHandle | None = None


class Responses:
    def __init__(
        self,
        in_time: float = IN_TIME,
        close: Callable[[Collection[str]], int] = connections.close,
        on_slow: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`on_slow` takes a client that is slow to read."""
        self.size = 0
        """Bytes of all responses that are being sent."""
        self._in_time = in_time
        self._slow_after = min(_SLOW, in_time)
        self._close = close
        self._on_slow = on_slow
        self._slow: Counter[str] = Counter()
        """The number of responses that a client is slow to read."""
        self._late: dict[Response, None] = {}
        self._closing: asyncio.TimerHandle | None = None

    def sends(self, peer: str, size: int) -> Response:
        """Count a response until `ended` is told, and bound the time until then."""
        response = Response(peer, size)
        response.timer = asyncio.get_running_loop().call_later(self._slow_after, self._becomes_slow, response)
        self.size += size
        return response

    def ended(self, response: Response) -> None:
        self.size -= response.size
        self._late.pop(response, None)
        if response.timer is not None:
            response.timer.cancel()
        if response.is_slow:
            self._slow[response.peer] -= 1
            if not self._slow[response.peer]:
                del self._slow[response.peer]

    def is_slow(self, peer: str) -> bool:
        """Return whether a client is slow to read a response."""
        return peer in self._slow

    def _becomes_slow(self, response: Response) -> None:
        left = self._in_time - self._slow_after
        response.timer = asyncio.get_running_loop().call_later(left, self._becomes_late, response)
        response.is_slow = True
        self._slow[response.peer] += 1
        self._on_slow(response.peer)

    def _becomes_late(self, response: Response) -> None:
        self._late[response] = None
        if self._closing is None:
            self._close_late()

    def _close_late(self) -> None:
        """Close connections as long as a late response is left: the system can lack files for it."""
        self._closing = None
        if not self._late:
            return
        peers = {response.peer for response in self._late}
        if closed := self._close(peers):
            why = f"their clients did not read a response within {self._in_time:.0f} seconds"
            structlog.get_logger().warning("Closed connections", problem=why, count=closed, peer=min(peers))
        self._closing = asyncio.get_running_loop().call_later(_AGAIN, self._close_late)
