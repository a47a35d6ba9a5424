"""The worker threads, and the order in which they take calls.

A call takes between a millisecond and many seconds, and its length is not known beforehand. These rules keep long calls
from delaying the others:

1. A call is *proven* if the last one for the same XR and generation was short. Calls that are not proven occupy at most
   all workers but one, so one worker is always free for short calls.
2. The calls of one namespace never occupy all workers, and its calls that are not proven leave two free.
3. A free worker serves the namespaces in turn, and the calls of each in order of arrival.
4. Only one very large request is answered at a time, which bounds memory.
5. A call that computes longer than the limit ends at its next check of the deadline, whatever its client waits for.

Threads share one interpreter lock, so more workers do not answer more calls per second. They only provide fairness.

A thread cannot be ended from outside. A call that nobody waits for any more ends at its next check of the deadline. If
it never comes to one, its worker is *stuck*, which `problem` tells the kubelet once too few workers are left.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread

from function.core import deadline
from function.server.sizes import LARGE
from function.wire import Origin

WORKERS = 4
LONGEST = 100
"""Seconds that a call may compute. Crossplane gives up a reconcile, with all its calls, after 120 (v2.4,
internal/controller/apiextensions/composite/reconciler.go, timeout)."""
_SHORT = 0.5
"""CPU seconds of a short call, at most. A call over a fleet of 1,000 clusters takes 0.2."""
_STUCK = 60.0
"""Seconds after which a call that nobody waits for is stuck."""
_REMEMBERED = 16_384
"""Number of XRs whose last call is remembered."""


@dataclass(slots=True, eq=False)
class _Job:
    work: Callable[[], bytes]
    origin: Origin
    size: int
    limit: deadline.Deadline
    proven: bool
    done: Future[bytes] = field(default_factory=Future)
    left_at: float | None = None
    """When the caller stopped waiting, on the clock of the workers."""


class Workers:
    """A pool of daemon threads, started at once. They do not keep the process from exiting."""

    def __init__(
        self, count: int = WORKERS, clock: Callable[[], float] = time.monotonic, longest: float = LONGEST
    ) -> None:
        """`longest` is the time that a call may compute, in seconds."""
        self.count = count
        self.longest = longest
        self.on_change: Callable[[], None] = lambda: None
        """Called when a call leaves, by any thread."""
        self._clock = clock
        self._changed = Condition()
        self._waiting: dict[str, list[_Job]] = {}
        """Waiting calls by namespace. The namespace to serve next comes first."""
        self._under_way: set[_Job] = set()
        self._request_bytes = 0
        self._proven: dict[Origin, None] = {}
        self._threads = [Thread(target=self._serve, name=f"compose-{i}", daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def under_way(self) -> int:
        """The number of calls being computed."""
        return len(self._under_way)

    @property
    def waiting(self) -> int:
        """The number of calls that wait for a worker."""
        with self._changed:
            return sum(map(len, self._waiting.values()))

    @property
    def request_bytes(self) -> int:
        """The bytes of the requests of calls that wait or are being computed."""
        return self._request_bytes

    @property
    def stuck(self) -> int:
        """The number of workers that compute a call although nobody has waited for it for a minute."""
        now = self._clock()
        with self._changed:
            return sum(job.left_at is not None and now - job.left_at > _STUCK for job in self._under_way)

    def problem(self) -> str:
        """Return why the process must be restarted. Empty if calls can be computed."""
        ended = sum(not thread.is_alive() for thread in self._threads)
        if ended:
            return f"{ended} of {self.count} workers ended"
        stuck = self.stuck
        if stuck >= self._all_but(1):
            return f"{stuck} of {self.count} workers compute calls that nobody has waited for for {_STUCK:.0f} seconds"
        return ""

    def wait_idle(self, seconds: float) -> bool:
        """Wait until no call is computed, for at most this long. Return whether none is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._under_way, seconds)

    async def run(self, work: Callable[[], bytes], origin: Origin, size: int, limit: deadline.Deadline) -> bytes:
        """Return what `work` returns. A call whose deadline passes in the queue is never started.

        Raises DeadlineExceeded, and whatever `work` raises. Cancelling this coroutine cancels the call.
        """
        with self._changed:
            job = _Job(work, origin, size, limit, proven=origin in self._proven)
            self._waiting.setdefault(origin.namespace, []).append(job)
            self._request_bytes += size
            self._changed.notify()
        try:
            return await asyncio.wrap_future(job.done)
        finally:
            limit.cancel()
            self._forget(job)

    def _forget(self, job: _Job) -> None:
        """Remove a job that nobody waits for from the queue, so that its request is freed."""
        job.left_at = self._clock()
        with self._changed:
            waiting = self._waiting.get(job.origin.namespace, [])
            if waiting == [job]:
                del self._waiting[job.origin.namespace]  # else an empty list would stay, for ever
            if job in waiting:
                waiting.remove(job)
                self._request_bytes -= job.size
        self.on_change()

    def _serve(self) -> None:
        while True:
            self._answer(self._next())

    def _answer(self, job: _Job) -> None:
        begun = time.thread_time()
        try:
            job.limit.shorten(self.longest)
            with deadline.within(job.limit):
                answer = job.work()
        except BaseException as problem:  # noqa: BLE001  (raised again for the caller)
            self._finish(job, short=False)
            if job.done.set_running_or_notify_cancel():
                job.done.set_exception(problem)
            return
        self._finish(job, short=time.thread_time() - begun <= _SHORT)
        if job.done.set_running_or_notify_cancel():  # False if the caller left
            job.done.set_result(answer)

    # Whose turn it is

    def _next(self) -> _Job:
        """Wait for a job that may start, and take it."""
        with self._changed:
            while (job := self._eligible()) is None:
                self._changed.wait()
            self._waiting[job.origin.namespace].remove(job)
            self._pass_on(job.origin.namespace)
            self._under_way.add(job)
            return job

    def _eligible(self) -> _Job | None:
        jobs = (job for waiting in self._waiting.values() for job in waiting)
        return next(filter(self._may_start, jobs), None)

    def _may_start(self, job: _Job) -> bool:
        others = [other for other in self._under_way if other.origin.namespace == job.origin.namespace]
        if job.size > LARGE and any(other.size > LARGE for other in self._under_way):
            return False
        if len(others) >= self._all_but(1):
            return False
        if job.proven:
            return True
        unproven = sum(not other.proven for other in self._under_way)
        return unproven < self._all_but(1) and sum(not other.proven for other in others) < self._all_but(2)

    def _all_but(self, few: int) -> int:
        return max(1, self.count - few)

    def _pass_on(self, namespace: str) -> None:
        """Move the turn to the next namespace."""
        left = self._waiting.pop(namespace)
        if left:
            self._waiting[namespace] = left

    def _finish(self, job: _Job, *, short: bool) -> None:
        with self._changed:
            self._under_way.remove(job)
            self._request_bytes -= job.size
            self._proven.pop(job.origin, None)
            if short and job.origin.name:
                self._proven[job.origin] = None
            if len(self._proven) > _REMEMBERED:
                del self._proven[next(iter(self._proven))]
            self._changed.notify_all()
        self.on_change()
