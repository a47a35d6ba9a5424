"""gRPC's health service answers while calls are large, slow, or too many: Check, and Watch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support import certificates as certificates_of
from tests.support import load
from tests.support.load import MIB, HealthProber, RawClient
from tests.support.serving import Server, running
from tests.unit.server.test_door import Caller, code
from tests.unit.server.test_probes import HTTP
from tests.unit.server.test_server import channel
from tests.unit.server.under_load.test_memory import ends, gauge, request
from tests.unit.server.under_load.test_unread import until

pytestmark = pytest.mark.slow

_BOUND = 120
_LONG = 600
"""Seconds that no test waits for."""


@contextmanager
def asked(*options: str, folder: Path | None = None) -> Iterator[Server]:
    """A server whose health is asked all the while, with certificates or in plain text."""
    security = ("--tls-certs-dir", str(folder)) if folder else ("--insecure",)
    with running(*security, *HTTP, *options, module="tests.support.odd_server") as server:
        with HealthProber(server.port, folder) as prober:
            yield server
        assert prober.probed.failed == []
        assert prober.probed.asked > 0


def to(server: Server, folder: Path | None) -> grpc.Channel:
    if folder:
        return channel(folder, server.port)
    return grpc.insecure_channel(server.address, options=[("grpc.max_send_message_length", -1)])


@pytest.fixture(params=["plain text", "mutual TLS"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return certificates_of.write(tmp_path) if request.param == "mutual TLS" else None


def test_health_is_answered_beside_large_and_slow_calls(folder: Path | None) -> None:
    """Also on the connection that brings them, and while calls wait for a worker."""
    with asked("--workers", "2", folder=folder) as server, to(server, folder) as one, to(server, folder) as other:
        caller = Caller(one)
        slow = [caller.start("Stuck", f"x{i}", f"n{i}", seconds=2) for i in range(4)]
        slow += [caller.start("Steps", f"y{i}", f"n{i}", 10, seconds=_LONG) for i in range(4)]
        data = request(100)
        large = [other.unary_unary(load.RUN).future(data, timeout=_BOUND) for _ in range(4)]
        assert caller.serving()
        assert Caller(other).serving()
        assert ends(large)["OK"] > 0
        assert {code(call) for call in slow} == {grpc.StatusCode.OK, grpc.StatusCode.DEADLINE_EXCEEDED}


def test_health_is_answered_while_every_call_and_every_place_is_taken() -> None:
    """By calls that are silent, so that the server refuses some."""
    with asked() as server, ExitStack() as stack:
        clients = [stack.enter_context(RawClient(server.port)) for _ in range(5)]
        for number, client in enumerate(clients, 1):
            for _ in range(420):
                client.call()
            wait_unread(server, min(420 * number - 10, 1_950))
        with health_of(server) as health:
            for service in ("", "apiextensions.fn.proto.v1beta1.FunctionRunnerService"):
                answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=_BOUND)
                assert answer.status == health_pb2.HealthCheckResponse.SERVING
            watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=_BOUND)
            assert next(watch).status == health_pb2.HealthCheckResponse.SERVING


def test_health_is_answered_while_all_room_for_requests_is_taken() -> None:
    limits = ("--max-recv-message-size", "64", "--max-total-recv-size", "128", "--workers", "1")
    with asked(*limits) as server, to(server, None) as one, health_of(server) as health:
        blocking = Caller(one).start("Steps", seconds=_LONG, timeout=_LONG)
        data = request(60)
        calls = [one.unary_unary(load.RUN).future(data) for _ in range(5)]
        wait_unread(server, 3)
        until(lambda: gauge(server, "modelplane_request_held_bytes") > 100 * MIB)
        answer = health.Check(health_pb2.HealthCheckRequest(), timeout=_BOUND)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert gauge(server, "modelplane_request_held_bytes") > 100 * MIB
        blocking.cancel()
        assert ends(calls)["OK"] > 0


def wait_unread(server: Server, least: int) -> None:
    """Until so many calls wait for a place."""
    until(lambda: gauge(server, "modelplane_calls_unread") >= least)


@contextmanager
def health_of(server: Server) -> Iterator[health_pb2_grpc.HealthStub]:
    with grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as one:
        yield health_pb2_grpc.HealthStub(one)


# What it answers


def test_a_service_that_is_not_there_is_not_found_and_may_be_watched() -> None:
    unknown = health_pb2.HealthCheckRequest(service="no.such.Service")
    with running("--insecure") as server, health_of(server) as health:
        with pytest.raises(grpc.RpcError) as refused:
            health.Check(unknown, timeout=_BOUND)
        assert refused.value.code() == grpc.StatusCode.NOT_FOUND
        watch = health.Watch(unknown, timeout=_BOUND)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
        assert server.stop() == 0
        assert {answer.status for answer in watch} <= {health_pb2.HealthCheckResponse.SERVICE_UNKNOWN}


def test_every_watch_is_told_of_the_stop_and_ends() -> None:
    """Those that begin before the signal, on one connection and on others, while another has left."""
    with running("--insecure") as server, ExitStack() as stack:
        stubs = [stack.enter_context(health_of(server)) for _ in range(5)]
        watches = [stub.Watch(health_pb2.HealthCheckRequest(), timeout=_BOUND) for stub in stubs * 4]
        assert {next(watch).status for watch in watches} == {health_pb2.HealthCheckResponse.SERVING}
        watches.pop(0).cancel()
        stubs[0].Check(health_pb2.HealthCheckRequest(), timeout=_BOUND)
        assert server.stop() == 0
        for watch in watches:
            assert [answer.status for answer in watch] == [health_pb2.HealthCheckResponse.NOT_SERVING]
