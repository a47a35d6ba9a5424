"""Admission of requests: what is received into memory, and when.

gRPC reads a whole request into memory before it calls a handler, and a request's size is not known until it has
arrived. So the function reads the request itself, once there is room for it:

1. A call takes a *place* to be received. There are as many places as requests of the largest size fit into the limit,
   so that requests under way to the function never take more memory than the limit, whatever their sizes.
2. A request that has arrived counts with its size until no worker computes it and its response is sent. Nothing is
   received while that leaves no room for requests of the usual size.
3. A very large request is refused on arrival if it takes the room that the others need.
4. A connection is *prompt* if its last request arrived, and its responses are read, without delay. Its calls are
   received in order. Calls of other connections wait behind them and leave one place free, and the last one comes
   first: those before it may be of clients that send nothing. A call that does not arrive in time loses its place to
   those that wait, and its connection is *late*: its calls wait behind all others, also those that it makes anew.

A call waits unread: its client's data stays with the client, apart from a flow-control window. Everything here runs in
the event loop, apart from `woken`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from function.server.responses import Response, Responses
from function.server.sizes import LARGE, MIB, mib
from function.server.waiting import Queue, Waiting

OPTION = "--max-total-recv-size"
MOST_CALLS = 2_000
"""Calls in the server at the same time. Crossplane makes at most 100 for each kind (v2.4, --max-reconcile-rate)."""
_USUAL = LARGE
"""Bytes kept free for each place: a request of the usual size is never refused on arrival."""
_IN_TIME = 10.0
"""Seconds after which a request that has not arrived loses its place to calls that wait."""
_PATIENCE = 30.0
"""Seconds that a call waits for a place."""

_TOO_MANY = f"{MOST_CALLS:,} calls are in progress, the limit of a server; try again, or run more replicas of it"

Receive = Callable[[], Awaitable[bytes]]


class Overloaded(Exception):
    """A call that is refused to bound the memory of the process. The message names the limit, and what to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes."""

    message: int
    """Of one request, at most."""
    total: int
    """Of all requests in memory, at most."""

    @classmethod
    def of(cls, message_mib: int, total_mib: int | None = None) -> Limits:
        """Return limits in MiB. Without a total, two of the largest requests can be received."""
        return cls(message=message_mib * MIB, total=(total_mib or 2 * message_mib) * MIB)

    @property
    def places(self) -> int:
        """The number of requests that are received at the same time."""
        return max(1, self.total // self.message)

    @property
    def usual(self) -> int:
        return min(_USUAL, self.message)


@dataclass(slots=True, eq=False)
class Admitted:
    """A call in the server."""

    response: Response | None = None
    """Its response, while it is being sent."""


class Admission:
    def __init__(self, limits: Limits, in_workers: Callable[[], int], in_time: float = _IN_TIME) -> None:
        """`in_workers` returns the bytes of the requests that wait for a worker or are computed."""
        self.limits = limits
        self._in_workers = in_workers
        self._in_time = in_time
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: dict[Admitted, None] = {}
        self._receiving: dict[Waiting, None] = {}
        self._waiting = Queue()
        self.responses = Responses(on_slow=self._waiting.forget)

    @property
    def calls(self) -> int:
        """The number of calls in the server."""
        return len(self._calls)

    @property
    def held(self) -> int:
        """Bytes of requests that have arrived, and of responses that are being sent."""
        return self._in_workers() + self.responses.size

    @property
    def receiving(self) -> int:
        """The number of calls whose request is being received."""
        return len(self._receiving)

    @property
    def waiting(self) -> int:
        """The number of calls whose request is not read yet, for want of room."""
        return len(self._waiting)

    def entered(self, on_end: Callable[[Any], None]) -> Admitted:
        """Count a call until it ends: `on_end` takes what to call once nothing more is sent.

        With too many calls, one is refused that waits on a connection that is not prompt, or this one.
        Raises Overloaded.
        """
        self._loop = asyncio.get_running_loop()
        if len(self._calls) >= MOST_CALLS:
            least = self._waiting.least()
            if least is None:
                raise Overloaded(_TOO_MANY)
            self._waiting.remove(least)
            least.turn.set_exception(Overloaded(_TOO_MANY))
        call = Admitted()
        self._calls[call] = None
        on_end(lambda _: self._left(call))
        return call

    def sends(self, call: Admitted, peer: str, response: int) -> None:
        """Count the bytes of a call's response until the call ends, and bound the time until then."""
        call.response = self.responses.sends(peer, response)

    def _left(self, call: Admitted) -> None:
        del self._calls[call]
        if call.response is not None:
            self.responses.ended(call.response)
        self._admit()

    def woken(self) -> None:
        """Look again whether there is room. May be called from any thread, for example when a worker is done."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._admit)

    async def received(self, receive: Receive, peer: str) -> bytes:
        """Return the request, once there is room for it and it has arrived. Raises Overloaded."""
        async with self._place(peer):
            data = await self._arrival(receive, peer)
        self._check(len(data))
        return data

    # Places

    @asynccontextmanager
    async def _place(self, peer: str) -> AsyncIterator[None]:
        call = Waiting(peer)
        self._waiting.add(call)
        self._admit()
        try:
            await self._turn(call)
            yield
        finally:
            self._waiting.remove(call)
            self._receiving.pop(call, None)
            # A request that has arrived counts as held only once this step has handed it to a worker.
            asyncio.get_running_loop().call_soon(self._admit)

    async def _turn(self, call: Waiting) -> None:
        """Wait for a call's turn. Raises Overloaded.

        `asyncio.wait_for` would not do: it loses the cancellation of a call that gets its turn at the same moment.
        """
        try:
            async with asyncio.timeout(_PATIENCE):
                await call.turn
        except TimeoutError:
            raise Overloaded(self._full()) from None

    def _admit(self) -> None:
        while (call := self._next()) is not None:
            self._waiting.remove(call)
            if not call.turn.done():
                self._receiving[call] = None
                call.turn.set_result(None)

    def _next(self) -> Waiting | None:
        """Return the call that may be received next, if one may."""
        taken = len(self._receiving)
        if not self._waiting or taken >= self.limits.places or not self._has_room(taken + 1):
            return None
        others = sum(not self._waiting.is_prompt(call) for call in self._receiving)
        may_be_other = others < max(1, self.limits.places - 1)
        return self._waiting.first() if may_be_other else next(iter(self._waiting.prompt), None)

    def _has_room(self, places: int) -> bool:
        held = self.held
        return held == 0 or held + places * self.limits.usual <= self.limits.total

    # Arrival

    async def _arrival(self, receive: Receive, peer: str) -> bytes:
        """Return the request. Raises Overloaded if it takes long to arrive while other calls wait."""
        begun = time.monotonic()
        reading = asyncio.ensure_future(receive())
        try:
            while not (await asyncio.wait({reading}, timeout=self._in_time))[0]:
                self._waiting.forget(peer)
                if self._waiting:
                    raise Overloaded(
                        f"the request did not arrive within {time.monotonic() - begun:.0f} seconds, and "
                        f"{len(self._waiting):,} calls wait for its place; send it again"
                    )
        finally:
            reading.cancel()
        if time.monotonic() - begun <= self._in_time and not self.responses.is_slow(peer):
            self._waiting.remember(peer)
        return reading.result()

    def _check(self, size: int) -> None:
        """Raise Overloaded if a request takes the room that the others need."""
        held, kept = self.held, self.limits.places * self.limits.usual
        if size <= self.limits.usual or held == 0 or held + size + kept <= self.limits.total:
            return
        raise Overloaded(
            f"a request of {mib(size)} MiB does not fit beside {mib(held)} MiB of others in memory: "
            f"{OPTION} {self.limits.total // MIB} is the limit, of which {mib(kept)} MiB are for requests of usual "
            "size; try again later"
        )

    def _full(self) -> str:
        return (
            f"no room came free within {_PATIENCE:.0f} seconds: requests in memory have {mib(self.held)} MiB, and "
            f"{len(self._receiving)} of {self.limits.places} places to receive one are taken; the limit is "
            f"{OPTION} {self.limits.total // MIB}; try again, or run more replicas of the function"
        )
