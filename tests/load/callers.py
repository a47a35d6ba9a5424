"""Callers: they replay reconciles against servers, and note what each call took and was answered.

- *Closed loop*: each of some callers takes the next reconcile, and makes its calls one after the other without a pause.
- *Open loop*: reconciles start at a fixed rate, whatever the answers of the others take. A latency counts from the
  moment at which the reconcile was due to start, or at which the call before it ended. Calls that wait because the
  server is slow therefore count in full, which a closed loop does not see (coordinated omission).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Lock
from typing import NamedTuple

import grpc

from tests.load.replay import Call, Replay

_DEADLINE = 120.0
"""Seconds that a caller waits for an answer."""
_MOST_AT_ONCE = 256
"""Reconciles under way in an open loop. Crossplane has 100 for each kind (--max-concurrent-reconciles)."""

Ask = Callable[[bytes], bytes]


class Answered(NamedTuple):
    """One call."""

    call: Call
    seconds: float
    answer: bytes
    error: str = ""
    """The gRPC status, if there is no answer."""


class Run(NamedTuple):
    """A whole replay."""

    answers: list[Answered]
    seconds: float
    late: float = 0.0
    """Seconds that a reconcile of an open loop began after it was due, at most: its callers were all busy."""


def closed(call: grpc.UnaryUnaryMultiCallable[bytes, bytes], replay: Replay, callers: int) -> Run:
    """Replay with so many callers at once."""
    ask, turn, lock = _asking(call), iter(replay), Lock()

    def caller() -> list[Answered]:
        found = []
        while True:
            with lock:
                calls = next(turn, None)
            if calls is None:
                return found
            found.extend(_reconcile(ask, calls, time.perf_counter()))

    start = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        answers = [one for made in pool.map(lambda _: caller(), range(callers)) for one in made]
    return Run(answers, time.perf_counter() - start)


def opened(call: grpc.UnaryUnaryMultiCallable[bytes, bytes], replay: Replay, per_second: float) -> Run:
    """Replay with so many calls in a second, however long they take."""
    ask, late, taken = _asking(call), [0.0], count()
    total = sum(map(len, replay))
    interval = total / len(replay) / per_second  # of reconciles
    start = time.perf_counter()

    def reconcile(calls: Sequence[Call]) -> list[Answered]:
        due = start + next(taken) * interval
        if (left := due - time.perf_counter()) > 0:
            time.sleep(left)
        else:
            late.append(-left)
        return list(_reconcile(ask, calls, due))

    with ThreadPoolExecutor(min(_MOST_AT_ONCE, len(replay))) as pool:
        answers = [one for made in pool.map(reconcile, replay) for one in made]
    return Run(answers, time.perf_counter() - start, max(late))


def _reconcile(ask: Ask, calls: Sequence[Call], begun: float) -> Iterator[Answered]:
    """Make the calls of a reconcile. The first began when it was due."""
    for call in calls:
        try:
            answer, error = ask(call.data), ""
        except grpc.RpcError as problem:
            answer, error = b"", f"{problem.code().name}: {problem.details()}"
        ended = time.perf_counter()
        yield Answered(call, ended - begun, answer, error)
        begun = ended


def _asking(call: grpc.UnaryUnaryMultiCallable[bytes, bytes]) -> Ask:
    return lambda data: call(data, timeout=_DEADLINE)
