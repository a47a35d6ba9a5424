"""Calls that stay open for as long as their clients like: watches of health, and reflection.

Each costs little, and the server's admission does not count them. So they are bounded here, and end when it stops.
Otherwise they would delay its stop for the whole grace period.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import grpc

MOST = 1_000
"""Calls at the same time."""


class OpenCalls:
    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._count = 0
        self._ended = asyncio.Event()

    async def enter(self, context: Any) -> None:
        """Count a call until it ends. Abort it if there are too many."""
        if self._count >= self._most:
            problem = f"{self._most:,} watches and calls of reflection are open, the limit of a server; end some"
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, problem)
        self._count += 1
        context.add_done_callback(self._left)

    def _left(self, _context: Any) -> None:
        self._count -= 1

    def end(self) -> None:
        """End all calls."""
        self._ended.set()

    async def wait_end(self) -> None:
        """Wait until calls are to end."""
        await self._ended.wait()

    async def requests(self, sent: AsyncIterable[Any]) -> AsyncIterator[Any]:
        """Yield the requests of a call, until its client sends no more or calls are to end."""

        arriving = aiter(sent)

        async def received() -> Any:
            return await anext(arriving, None)

        ended = asyncio.ensure_future(self.wait_end())
        try:
            while True:
                request = asyncio.ensure_future(received())
                await asyncio.wait({request, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not request.done():
                    request.cancel()
                    return
                if request.result() is None:
                    return
                yield request.result()
        finally:
            ended.cancel()
