"""Which call gets a worker next, and what becomes of those that are over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from function.core import DeadlineExceeded, deadline
from function.server.workers import Workers
from function.wire import Origin

_BOUND = 30


def origin(namespace: str, name: str = "x", generation: int = 1) -> Origin:
    return Origin(namespace, "ModelDeployment", name, generation)


class Calls:
    """Calls that go on until they are let go, and the order in which they began."""

    def __init__(self, workers: Workers) -> None:
        self.began: list[Origin] = []
        self.go = threading.Event()
        self._workers = workers
        self._tasks: list[asyncio.Task[bytes]] = []

    def start(self, who: Origin, size: int = 1, limit: deadline.Deadline | None = None) -> asyncio.Task[bytes]:
        def work() -> bytes:
            self.began.append(who)
            self.go.wait(_BOUND)
            return who.name.encode()

        task = asyncio.ensure_future(self._workers.run(work, who, size, limit or deadline.Deadline()))
        self._tasks.append(task)
        return task

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(_BOUND):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.001)

    async def settled(self, count: int) -> list[Origin]:
        """What began once so many did, and all that may have begun."""
        await self.until(lambda: len(self.began) >= count)
        for _ in range(10):
            await asyncio.sleep(0.001)
        return list(self.began)

    async def end(self) -> None:
        self.go.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def short(workers: Workers, who: Origin) -> None:
    await workers.run(lambda: b"", who, 1, deadline.Deadline())


def test_unproven_calls_of_a_namespace_leave_two_workers_and_of_all_one() -> None:
    async def story() -> None:
        calls = Calls(Workers(4))
        for i in range(5):
            calls.start(origin("a", f"x{i}"))
        assert len(await calls.settled(2)) == 2
        calls.start(origin("b"))
        calls.start(origin("c"))
        assert [o.namespace for o in await calls.settled(3)] == ["a", "a", "b"]
        await calls.end()
        assert len(calls.began) == 7

    asyncio.run(story())


def test_a_call_that_was_short_gets_the_worker_that_is_left() -> None:
    async def story() -> None:
        workers = Workers(4)
        await short(workers, origin("d"))
        calls = Calls(workers)
        for namespace in ("a", "b", "c"):
            calls.start(origin(namespace))
        await calls.settled(3)
        calls.start(origin("d", generation=2))
        calls.start(origin("d"))
        assert (await calls.settled(4))[3:] == [origin("d")]
        await calls.end()

    asyncio.run(story())


def test_a_namespace_never_has_all_workers_however_short_its_calls_were() -> None:
    async def story() -> None:
        workers = Workers(3)
        known = [origin("a", f"x{i}") for i in range(4)]
        for who in known:
            await short(workers, who)
        calls = Calls(workers)
        for who in known:
            calls.start(who)
        assert await calls.settled(2) == known[:2]
        calls.start(origin("b"))
        assert (await calls.settled(3))[2:] == [origin("b")]
        await calls.end()

    asyncio.run(story())


def test_namespaces_take_turns_and_each_keeps_its_order() -> None:
    async def story() -> None:
        calls = Calls(Workers(1))
        calls.start(origin("a", "first"))
        await calls.settled(1)
        for i in range(3):
            calls.start(origin("a", f"{i}"))
        calls.start(origin("b", "0"))
        calls.start(origin("c", "0"))
        await asyncio.sleep(0)
        await calls.end()
        assert [f"{o.namespace}{o.name}" for o in calls.began] == ["afirst", "a0", "b0", "c0", "a1", "a2"]

    asyncio.run(story())


def test_of_very_large_requests_one_is_answered_at_a_time() -> None:
    async def story() -> None:
        calls = Calls(Workers(4))
        for namespace in ("a", "b"):
            calls.start(origin(namespace), size=100 * 2**20)
        calls.start(origin("c"))
        assert [o.namespace for o in await calls.settled(2)] == ["a", "c"]
        await calls.end()

    asyncio.run(story())


def test_a_call_that_is_over_before_its_turn_never_begins() -> None:
    async def story() -> None:
        calls, limit = Calls(Workers(1)), deadline.Deadline()
        calls.start(origin("a"))
        await calls.settled(1)
        late = calls.start(origin("b"), limit=limit)
        left = calls.start(origin("c"))
        await asyncio.sleep(0)
        limit.at = 0
        left.cancel()
        await asyncio.wait({left})
        await calls.end()
        assert calls.began == [origin("a")]
        with pytest.raises(DeadlineExceeded):
            await late
        assert left.cancelled()

    asyncio.run(story())


def test_nothing_is_kept_of_the_namespaces_of_calls_that_left_the_queue() -> None:
    async def story() -> None:
        workers = Workers(1)
        calls = Calls(workers)
        calls.start(origin("a"))
        await calls.settled(1)
        left = [calls.start(origin(f"team-{i}")) for i in range(100)]
        await asyncio.sleep(0)
        for one in left:
            one.cancel()
        await asyncio.wait(left)
        await calls.end()
        assert workers._waiting == {}

    asyncio.run(story())


def test_a_call_whose_caller_leaves_is_told() -> None:
    async def story() -> None:
        workers, told = Workers(1), threading.Event()

        def work() -> bytes:
            try:
                while True:
                    deadline.check()
            finally:
                told.set()

        task = asyncio.ensure_future(workers.run(work, origin("a"), 1, deadline.Deadline()))
        await Calls(workers).until(lambda: workers.under_way == 1)
        task.cancel()
        assert await asyncio.to_thread(told.wait, _BOUND)
        assert await asyncio.to_thread(workers.wait_idle, _BOUND)

    asyncio.run(story())


def test_what_a_call_raises_reaches_its_caller_and_the_worker_goes_on() -> None:
    async def story() -> None:
        workers = Workers(1)
        with pytest.raises(ZeroDivisionError):
            await workers.run(lambda: bytes(1 // 0), origin("a"), 1, deadline.Deadline())
        assert await workers.run(lambda: b"next", origin("a"), 1, deadline.Deadline()) == b"next"

    asyncio.run(story())


def test_a_call_that_computes_longer_than_the_limit_ends_whatever_its_client_waits_for() -> None:
    async def story() -> None:
        workers = Workers(1, longest=0.01)

        def work() -> bytes:
            while True:
                deadline.check()

        with pytest.raises(DeadlineExceeded, match=r"computing it takes more than 0\.01 seconds"):
            await workers.run(work, origin("a"), 7, deadline.Deadline())
        assert await asyncio.to_thread(workers.wait_idle, _BOUND)
        assert workers.request_bytes == 0

    asyncio.run(story())


def test_requests_count_while_they_wait_or_are_computed_even_if_nobody_waits_for_them() -> None:
    async def story() -> None:
        workers = Workers(1)
        calls = Calls(workers)
        first = calls.start(origin("a"), size=5)
        await calls.settled(1)
        waiting = calls.start(origin("b"), size=7)
        await asyncio.sleep(0)
        assert workers.request_bytes == 12
        for task in (first, waiting):
            task.cancel()
        await asyncio.wait({first, waiting})
        assert workers.request_bytes == 5
        await calls.end()
        assert await asyncio.to_thread(workers.wait_idle, _BOUND)
        assert workers.request_bytes == 0

    asyncio.run(story())


def test_the_bytes_of_requests_count_until_no_worker_computes_them_however_they_end() -> None:
    async def story() -> None:
        workers = Workers(1)
        calls = Calls(workers)
        computed = calls.start(origin("a"), size=5)
        await calls.settled(1)
        left, waiting = calls.start(origin("b"), size=7), calls.start(origin("c"), size=11)
        await calls.until(lambda: workers.request_bytes == 23)
        left.cancel()
        computed.cancel()
        await calls.until(lambda: workers.request_bytes == 16)
        calls.go.set()
        await waiting

        def fails() -> bytes:
            raise ValueError

        with pytest.raises(ValueError):  # noqa: PT011
            await workers.run(fails, origin("d"), 13, deadline.Deadline())
        assert workers.request_bytes == 0
        await calls.end()

    asyncio.run(story())
