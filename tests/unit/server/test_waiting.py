"""Which of the calls that wait is received next, and which is refused first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from function.server.waiting import Queue, Waiting


@pytest.fixture
def waiting() -> Iterator[Callable[[str], Waiting]]:
    """A call of a connection."""
    with asyncio.Runner() as runner:

        async def call(peer: str) -> Waiting:
            return Waiting(peer)

        yield lambda peer: runner.run(call(peer))


def order(queue: Queue) -> list[str]:
    """The connections whose calls wait, as they are received."""
    peers = []
    while (call := queue.first()) is not None:
        queue.remove(call)
        peers.append(call.peer)
    return peers


def test_prompt_connections_come_first_then_new_ones_then_late_ones(waiting: Callable[[str], Waiting]) -> None:
    queue = Queue()
    queue.forget("late")
    queue.remember("prompt 1")
    for peer in ("prompt 1", "new 1", "late", "prompt 2", "new 2", "late", "prompt 1"):
        queue.add(waiting(peer))
    queue.remember("prompt 2")
    assert len(queue) == 7
    assert order(queue) == ["prompt 1", "prompt 1", "prompt 2", "new 2", "new 1", "late", "late"]


def test_what_waits_follows_its_connection(waiting: Callable[[str], Waiting]) -> None:
    queue = Queue()
    queue.add(waiting("a"))
    queue.add(waiting("b"))
    queue.forget("b")
    assert order(queue) == ["a", "b"]
    queue.remember("b")
    queue.add(waiting("a"))
    queue.add(waiting("b"))
    assert order(queue) == ["b", "a"]
    queue.add(waiting("b"))
    queue.forget("b")
    queue.add(waiting("a"))
    assert order(queue) == ["a", "b"]


def test_a_late_connection_is_refused_first_and_a_prompt_one_never(waiting: Callable[[str], Waiting]) -> None:
    queue = Queue()
    queue.forget("late")
    queue.remember("prompt")
    refused = []
    for peer in ("new", "prompt", "late", "new 2", "late"):
        queue.add(waiting(peer))
    while (call := queue.least()) is not None:
        queue.remove(call)
        refused.append(call.peer)
    assert refused == ["late", "late", "new", "new 2"]
    assert order(queue) == ["prompt"]


def test_connections_are_forgotten_after_many_others(waiting: Callable[[str], Waiting]) -> None:
    queue = Queue()
    queue.remember("prompt")
    queue.forget("late")
    for peer in ("late", "prompt"):
        queue.add(waiting(peer))
    for i in range(2_000):
        queue.remember(f"p{i}")
        queue.forget(f"q{i}")
    assert (list(queue.prompt), list(queue.late)) == ([], [])
    assert sorted(call.peer for call in queue.unknown) == ["late", "prompt"]
