"""Which request is received next, which ones wait unread, and which are refused."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

import pytest

from function.server import admission, responses
from function.server.admission import Admission, Limits, Overloaded
from function.server.sizes import MIB

_BOUND = 30


class Calls:
    """Calls whose requests arrive when a test lets them."""

    def __init__(self, limits: Limits | None = None, in_time: float = _BOUND) -> None:
        self.in_workers = 0
        self.admission = Admission(limits or Limits(256 * MIB, 512 * MIB), lambda: self.in_workers, in_time)
        self.begun: list[str] = []
        self._arrivals: dict[str, asyncio.Future[bytes]] = {}

    async def received(self, name: str, peer: str) -> bytes:
        async def receive() -> bytes:
            self.begun.append(name)
            return await self._arrivals.setdefault(name, asyncio.get_running_loop().create_future())

        return await self.admission.received(receive, peer)

    def start(self, name: str, peer: str) -> asyncio.Task[bytes]:
        return asyncio.ensure_future(self.received(name, peer))

    async def arrive(self, name: str, data: bytes = b"x") -> None:
        self._arrivals[name].set_result(data)
        await settled()

    async def prompt(self, peer: str) -> None:
        task = self.start(f"first of {peer}", peer)
        await settled()
        await self.arrive(f"first of {peer}")
        await task
        self.begun.clear()


class Bytes(bytes):
    """A request that says that it has another size than it takes here."""

    size: int

    def __len__(self) -> int:
        return self.size


def sized(mib: int) -> Bytes:
    data = Bytes()
    data.size = mib * MIB
    return data


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def story(told: Callable[[], object]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(_BOUND):
            await told()  # type: ignore[misc]

    asyncio.run(bounded())


def test_a_prompt_connection_is_received_beside_one_that_sends_nothing_and_before_others() -> None:
    async def told() -> None:
        calls = Calls()
        await calls.prompt("known")
        tasks = [calls.start(f"silent {i}", f"s{i}") for i in range(3)]
        await settled()
        assert calls.begun == ["silent 0"]
        tasks += [calls.start("a", "known"), calls.start("b", "known")]
        await settled()
        assert calls.begun == ["silent 0", "a"]
        await calls.arrive("a")
        assert calls.begun == ["silent 0", "a", "b"]
        assert (calls.admission.receiving, calls.admission.waiting) == (2, 2)
        for task in tasks:
            task.cancel()
        await settled()
        assert (calls.admission.receiving, calls.admission.waiting) == (0, 0)

    story(told)


def test_a_request_that_does_not_arrive_loses_its_place_to_the_newest_that_waits() -> None:
    async def told() -> None:
        calls = Calls(in_time=0.01)
        late = calls.start("late", "s0")
        await settled()
        waiting = [calls.start(f"w{i}", f"s{i}") for i in (1, 2)]
        with pytest.raises(Overloaded, match=r"did not arrive within 0 seconds, and 2 calls wait for its place"):
            await late
        await settled()
        again = calls.start("late again", "s0")
        await settled()
        assert calls.begun == ["late", "w2"]
        await calls.arrive("w2", b"request")
        assert await waiting[1] == b"request"
        assert calls.begun == ["late", "w2", "w1"]
        for task in (waiting[0], again):
            task.cancel()

    story(told)


def test_a_request_that_has_arrived_leaves_its_place_only_with_its_size() -> None:
    async def told() -> None:
        calls = Calls(Limits(64 * MIB, 128 * MIB))
        await calls.prompt("p")

        async def computed(name: str) -> None:
            calls.in_workers += len(await calls.received(name, "p"))

        tasks = [asyncio.ensure_future(computed(name)) for name in "abc"]
        await settled()
        assert calls.begun == ["a", "b"]
        await calls.arrive("a", sized(60))
        assert (calls.admission.held, calls.begun) == (60 * MIB, ["a", "b"])
        for task in tasks:
            task.cancel()
        await settled()

    story(told)


def test_nothing_is_received_without_room_until_a_worker_is_done() -> None:
    async def told() -> None:
        calls = Calls()
        await calls.prompt("known")
        calls.in_workers = 450 * MIB
        calls.admission.entered(lambda _: None)
        task = calls.start("a", "known")
        await settled()
        assert calls.begun == []
        calls.in_workers = 440 * MIB
        calls.admission.woken()
        await settled()
        await calls.arrive("a")
        assert await task == b"x"

    story(told)


@pytest.mark.parametrize(
    ("held", "size", "fits"), [(0, 256, True), (120, 256, True), (130, 256, False), (384, 64, True)]
)
def test_a_very_large_request_leaves_room_for_requests_of_usual_size(held: int, size: int, *, fits: bool) -> None:
    async def told() -> None:
        calls = Calls()
        calls.in_workers = held * MIB
        task = calls.start("a", "p")
        await settled()
        await calls.arrive("a", sized(size))
        if fits:
            assert len(await task) == size * MIB
            return
        why = (
            "a request of 256 MiB does not fit beside 130 MiB of others in memory: --max-total-recv-size 512 is the "
            "limit, of which 128 MiB are for requests of usual size; try again later"
        )
        with pytest.raises(Overloaded) as refused:
            await task
        assert str(refused.value) == why

    story(told)


def test_a_call_that_gets_no_place_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "_PATIENCE", 0.01)

    async def told() -> None:
        calls = Calls()
        calls.in_workers = 500 * MIB
        with pytest.raises(Overloaded) as refused:
            await calls.start("a", "p")
        assert "requests in memory have 500 MiB, and 0 of 2 places" in str(refused.value)
        assert "--max-total-recv-size 512" in str(refused.value)
        assert calls.admission.waiting == 0

    story(told)


def test_responses_count_until_they_are_sent() -> None:
    async def told() -> None:
        calls, ends = Calls(), []
        call = calls.admission.entered(ends.append)
        calls.admission.sends(call, "p", 3 * MIB)
        assert (calls.admission.calls, calls.admission.held) == (1, 3 * MIB)
        ends[0](None)
        assert (calls.admission.calls, calls.admission.held) == (0, 0)

    story(told)


def test_with_too_many_calls_the_oldest_that_waits_unread_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_CALLS", 3)

    async def told() -> None:
        calls = Calls()
        for _ in range(3):
            calls.admission.entered(lambda _: None)
        with pytest.raises(Overloaded, match="calls are in progress"):
            calls.admission.entered(lambda _: None)
        silent = [calls.start(f"s{i}", f"s{i}") for i in range(3)]
        await settled()
        calls.admission.entered(lambda _: None)
        await settled()
        assert [task.done() for task in silent] == [False, True, False]
        with pytest.raises(Overloaded, match="calls are in progress"):
            await silent[1]
        for task in silent:
            task.cancel()

    story(told)


@pytest.mark.parametrize("state", ["sent to", "waiting unread"])
def test_a_call_costs_no_more_steps_beside_many_others(state: str) -> None:
    """Counted as calls of functions, and turns of generators."""

    async def steps(beside: int) -> int:
        calls = Calls()
        await calls.prompt("known")
        waiting = [calls.start(f"s{i}", f"s{i}") for i in range(beside if state == "waiting unread" else 0)]
        for _ in range(beside if state == "sent to" else 0):
            calls.admission.sends(calls.admission.entered(lambda _: None), "known", 1)
        await settled()
        count = await counted(calls)
        assert not any(task.done() for task in waiting)
        return count

    few, many = (asyncio.run(steps(beside)) for beside in (5, 1_000))
    assert 0 < many < 1.2 * few


async def counted(calls: Calls) -> int:
    """The steps of one call from its begin to its end."""
    count = 0

    def step(*_: object) -> None:
        nonlocal count
        count += 1

    ends: list[Callable[[object], None]] = []
    sys.setprofile(step)
    try:
        call = calls.admission.entered(ends.append)
        task = calls.start("counted", "known")
        await settled()
        await calls.arrive("counted")
        await task
        calls.admission.sends(call, "known", 1)
        ends[0](None)
    finally:
        sys.setprofile(None)
    return count


def test_calls_that_wait_come_first_once_their_connection_turns_out_prompt() -> None:
    async def told() -> None:
        calls = Calls()
        tasks = [calls.start(name, peer) for name, peer in (("a", "p"), ("b", "q"), ("c", "p"), ("d", "q"))]
        await settled()
        assert calls.begun == ["a"]
        await calls.arrive("a")
        assert calls.begun == ["a", "c", "d"]  # one beside it, of the others
        for task in tasks:
            task.cancel()
        await settled()

    story(told)


def test_a_client_that_is_slow_to_read_comes_after_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "_SLOW", 0.0)

    async def told() -> None:
        calls = Calls(Limits(256 * MIB, 256 * MIB))
        await calls.prompt("slow")
        calls.in_workers = 250 * MIB
        tasks = [calls.start("a", "slow")]
        await settled()
        unread = calls.admission.responses.sends("slow", 1)
        await settled()
        assert calls.admission.responses.is_slow("slow")
        tasks.append(calls.start("b", "new"))
        await settled()
        assert calls.begun == []
        calls.in_workers = 0
        calls.admission.responses.ended(unread)
        calls.admission.entered(lambda _: None)
        calls.admission.woken()
        await settled()
        assert calls.begun == ["b"]
        assert not calls.admission.responses.is_slow("slow")
        for task in tasks:
            task.cancel()
        await settled()

    story(told)
