"""The server while calls take long, while it is told to stop, and when a composer has a bug."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.proto.v1 import run_function_pb2_grpc as grpcv1
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.serving import Server, running

SECRET = "hf_0123456789"
_LONG = 600
"""Seconds that no test waits for."""
_BOUND = 60
"""Seconds after which a test gives up waiting."""


class Caller:
    """Calls over one connection, so that the server accepts them in order."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.run = grpcv1.FunctionRunnerServiceStub(channel).RunFunction
        self.health = health_pb2_grpc.HealthStub(channel)

    def start(self, kind: str, name: str = "x", namespace: str = "ml", timeout: float = _BOUND, **spec: object):
        """A call that is under way or waits."""
        req = fnv1.RunFunctionRequest()
        metadata = {"name": name, "namespace": namespace, "generation": 1}
        req.observed.composite.resource.update(
            {"apiVersion": "test/v1", "kind": kind, "metadata": metadata, "spec": spec}
        )
        return self.run.future(req, timeout=timeout)

    def serving(self) -> bool:
        """Asked over the same connection: what was started before has been accepted."""
        answer = self.health.Check(health_pb2.HealthCheckRequest(), timeout=_BOUND)
        return answer.status == health_pb2.HealthCheckResponse.SERVING


@contextmanager
def odd(*options: str, **environment: str) -> Iterator[tuple[Server, Caller]]:
    with (
        running("--insecure", *options, module="tests.support.odd_server", **environment) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        yield server, Caller(channel)


def code(call) -> grpc.StatusCode:
    call.exception(timeout=_BOUND)
    return call.code()


# Long calls


@pytest.mark.slow
def test_long_calls_of_one_namespace_hold_up_no_other() -> None:
    with odd() as (_, caller):
        long = [caller.start("Steps", f"x{i}", "greedy", _LONG, seconds=_LONG) for i in range(12)]
        assert caller.serving()
        for i in range(3):
            assert caller.start("Steps", f"y{i}", "ml", seconds=0).result(_BOUND)
        assert not any(call.done() for call in long)


@pytest.mark.slow
def test_a_short_call_is_answered_while_other_namespaces_hold_all_that_they_may() -> None:
    """It was short the last time."""
    with odd() as (_, caller):
        assert caller.start("Steps", "y", "ml", seconds=0).result(_BOUND)
        long = [caller.start("Steps", f"x{i}", f"greedy-{i}", _LONG, seconds=_LONG) for i in range(12)]
        assert caller.serving()
        assert caller.start("Steps", "y", "ml", seconds=0).result(_BOUND)
        assert not any(call.done() for call in long)


@pytest.mark.slow
def test_a_call_that_is_over_is_given_up() -> None:
    """Otherwise the only worker would be taken for ten minutes."""
    with odd("--workers", "1") as (server, caller):
        late = caller.start("Steps", timeout=0.5, seconds=_LONG)
        waiting = caller.start("Steps", timeout=0.5, seconds=_LONG)
        assert (code(late), code(waiting)) == (grpc.StatusCode.DEADLINE_EXCEEDED,) * 2
        left = caller.start("Steps", seconds=_LONG, timeout=_LONG)
        assert caller.serving()
        left.cancel()
        assert caller.start("Steps", seconds=0).result(_BOUND)
        assert server.log.read_text().count("Answered") == 1


# Stopping


@pytest.mark.slow
def test_accepted_calls_are_answered_after_sigterm_and_no_others() -> None:
    with odd("--workers", "2") as (server, caller):
        calls = [caller.start("Stuck", f"x{i}", seconds=1) for i in range(4)]
        watch = caller.health.Watch(health_pb2.HealthCheckRequest(), timeout=_BOUND)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        server.process.send_signal(signal.SIGTERM)
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert list(watch) == []
        with grpc.insecure_channel(server.address) as channel:
            new = Caller(channel).start("Steps", seconds=0)
            assert code(new) in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        assert all(call.result(_BOUND) for call in calls)
        assert server.process.wait(_BOUND) == 0


@pytest.mark.slow
def test_a_call_that_outlasts_the_grace_does_not_hold_up_the_end() -> None:
    with odd("--shutdown-grace", "0") as (server, caller):
        call = caller.start("Stuck", seconds=_LONG, timeout=_LONG)
        assert caller.serving()
        assert server.stop() == 0
        assert code(call) in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


@pytest.mark.slow
def test_a_call_over_the_grace_ends_at_its_next_step() -> None:
    with odd("--shutdown-grace", "0") as (server, caller):
        caller.start("Steps", seconds=_LONG, timeout=_LONG)
        assert caller.serving()
        assert server.stop() == 0
        assert '"under_way": 0' in server.log.read_text().splitlines()[-1]


# Bugs


@pytest.mark.slow
@pytest.mark.parametrize("without_rich", ["", "yes"])
@pytest.mark.parametrize("mode", [(), ("--debug",)])
def test_a_bug_shows_where_it_is_and_no_value(mode: tuple[str, ...], without_rich: str) -> None:
    with odd(*mode, WITHOUT_RICH=without_rich) as (server, caller):
        answer = caller.start("Bug", token=SECRET).result(_BOUND)
        assert server.stop() == 0
        logged = server.log.read_text()
    [result] = answer.results
    assert result.severity == fnv1.SEVERITY_FATAL
    assert "ValueError at " in result.message
    assert "ValueError" in logged
    assert "KeyError" in logged
    assert "__main__:" in logged
    assert "bug" in logged
    assert SECRET not in json_format.MessageToJson(answer) + logged


@pytest.mark.slow
def test_a_name_with_a_newline_is_one_line_of_the_log() -> None:
    with odd("--debug") as (server, caller):
        assert caller.start("Steps", "x\n2026 [info] Stopped \x1b[2J", seconds=0).result(_BOUND)
        assert server.stop() == 0
        [line] = [line for line in server.log.read_text().splitlines() if "Answered" in line]
    assert "\\x1b[2J" in line
