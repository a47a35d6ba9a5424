"""What fails the probes of the function, and with which sentence."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from function.core import deadline
from function.probes import Check
from function.server.certificates import Certificates
from function.server.health import Health, Phase
from function.server.workers import Workers
from function.wire import Origin
from tests.support import certificates as certificates_of

AUTHORITY = trustme.CA()
_BOUND = 30


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def problems(checks: object) -> dict[str, str]:
    return {check.name: check.problem for check in checks if check.problem}


def written(folder: Path, days: int = 30) -> Path:
    """A set of certificates that expires in so many days."""
    return certificates_of.write(folder, AUTHORITY, not_after=datetime.now(UTC) + timedelta(days=days))


def test_what_serves_is_live_and_ready(tmp_path: Path) -> None:
    health = Health(Workers(1), Certificates(written(tmp_path)), phase=Phase.SERVING)

    assert list(health.ready()) == [Check("loop"), Check("workers"), Check("serving"), Check("certificates")]
    assert list(health.live()) == [Check("loop"), Check("workers")]


@pytest.mark.parametrize(
    ("phase", "why"), [(Phase.STARTING, "the server does not listen yet"), (Phase.STOPPING, "the server is stopping")]
)
def test_before_and_after_it_serves_it_is_live_and_not_ready(phase: Phase, why: str) -> None:
    health = Health(Workers(1), phase=phase)

    assert problems(health.ready())["serving"].startswith(why)
    assert problems(health.live()) == {}


def test_a_loop_that_stands_still_is_dead(clock: Clock) -> None:
    health = Health(Workers(1), clock=clock, phase=Phase.SERVING)
    clock.now += 30
    assert problems(health.live()) == {}
    clock.now += 1
    assert problems(health.live()) == {"loop": "the event loop has not turned for 31 seconds"}
    assert problems(health.ready()) == {"loop": "the event loop has not turned for 31 seconds"}
    health.turn()
    assert problems(health.live()) == {}


class Stuck:
    """Calls that never look at their deadline, whose callers have left."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.began = threading.Semaphore(0)
        self.go = threading.Event()

    def leave(self, namespace: str) -> None:
        def work() -> bytes:
            self.began.release()
            self.go.wait(_BOUND)
            return b""

        async def call() -> None:
            origin = Origin(namespace, "ModelDeployment", "x", 1)
            waiting = asyncio.ensure_future(self.workers.run(work, origin, 1, deadline.Deadline()))
            await asyncio.to_thread(self.began.acquire, timeout=_BOUND)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

        asyncio.run(call())


def test_workers_are_wedged_when_only_short_calls_could_still_be_computed(clock: Clock) -> None:
    workers = Workers(4, clock)
    stuck = Stuck(workers)
    for namespace in "ab":
        stuck.leave(namespace)
    clock.now += 61
    assert (workers.stuck, workers.problem()) == (2, "")

    stuck.leave("c")
    assert (workers.under_way, workers.stuck) == (3, 2)
    clock.now += 61
    health = Health(workers, phase=Phase.SERVING)
    assert problems(health.live()) == {
        "workers": "3 of 4 workers compute calls that nobody has waited for for 60 seconds"
    }

    stuck.go.set()
    assert workers.wait_idle(_BOUND)
    assert problems(health.live()) == {}


def test_calls_that_somebody_waits_for_are_not_stuck(clock: Clock) -> None:
    async def story() -> None:
        workers, go, began = Workers(1, clock), threading.Event(), threading.Event()

        def work() -> bytes:
            began.set()
            go.wait(_BOUND)
            return b""

        call = asyncio.ensure_future(workers.run(work, Origin("a", "ModelDeployment", "x", 1), 1, deadline.Deadline()))
        await asyncio.to_thread(began.wait, _BOUND)
        clock.now += 3600
        assert (workers.under_way, workers.stuck, workers.problem()) == (1, 0, "")
        go.set()
        await call

    asyncio.run(story())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_worker_that_ended_is_told() -> None:
    workers = Workers(2)
    workers._next = lambda: (_ for _ in ()).throw(SystemExit)  # a bug in the choice of the next call
    asyncio.run(workers.run(lambda: b"", Origin("a", "ModelDeployment", "x", 1), 1, deadline.Deadline()))
    for thread in workers._threads:
        thread.join(0.5)

    assert workers.problem() == "1 of 2 workers ended"


@pytest.mark.parametrize("expired", ["tls.crt", "ca.crt"])
def test_certificates_that_expired_fail_the_readiness_probe_until_new_ones_are_there(
    tmp_path: Path, expired: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates = Certificates(written(tmp_path))
    health = Health(Workers(1), certificates, phase=Phase.SERVING)
    end = certificates.validity()[expired][1]
    monkeypatch.setattr("function.server.health.time.time", lambda: end + 1)

    why = problems(health.ready())["certificates"]
    assert why.startswith(f"{tmp_path}/tls.crt: it is valid from ")
    assert why.endswith(" only")
    assert problems(health.live()) == {}

    if expired == "tls.crt":
        written(tmp_path, days=60)
        assert problems(health.ready()) == {}


def test_files_that_are_broken_leave_it_ready_and_are_told(tmp_path: Path) -> None:
    certificates = Certificates(written(tmp_path))
    (tmp_path / "tls.crt").write_bytes(b"garbage")

    assert problems(Health(Workers(1), certificates, phase=Phase.SERVING).ready()) == {}
    assert certificates.refusal == f"{tmp_path}/tls.crt: it contains something other than PEM certificates"

    written(tmp_path)
    certificates.validity()
    assert certificates.refusal == ""
