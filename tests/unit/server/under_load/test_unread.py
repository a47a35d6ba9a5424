"""A real server whose clients read their responses slowly, or never: others are answered, and the calls end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from tests.support import load
from tests.support.health_prober import health, health_pb2
from tests.support.load import HealthProber, Prober, RawClient, memory
from tests.support.serving import Server, running
from tests.unit.server.test_probes import HTTP, port
from tests.unit.server.under_load.test_memory import gauge, wait_idle

pytestmark = pytest.mark.slow

_BOUND = 120
_LARGE = 3_500_000
"""Bytes of a response. Crossplane accepts few more."""
_ALL = 2**31 - 1
"""Bytes that a client takes if the flow control of HTTP/2 is not to hold anything back."""
_WATCH = "/grpc.health.v1.Health/Watch"


def request(size: int) -> bytes:
    """A call whose response has about so many bytes."""
    call = fnv1.RunFunctionRequest()
    xr = {"apiVersion": "test/v1", "kind": "Large", "metadata": {"name": "x"}, "spec": {"bytes": size}}
    call.observed.composite.resource.update(xr)
    return call.SerializeToString()


@contextmanager
def served(*options: str) -> Iterator[Server]:
    """A server whose probes and health service are asked all the while."""
    with running("--insecure", *HTTP, *options, module="tests.support.odd_server") as server:
        with Prober(port(server)) as probes, HealthProber(server.port) as checks:
            yield server
        assert probes.probed.failed == checks.probed.failed == []
        assert min(probes.probed.asked, checks.probed.asked) > 0


def calls(client: RawClient, count: int, size: int = _LARGE, timeout: str = "") -> None:
    for _ in range(count):
        client.send(client.call(timeout=timeout), request(size))


def answered(server: Server) -> bool:
    with grpc.insecure_channel(server.address) as channel:
        return bool(channel.unary_unary(load.RUN)(request(1), timeout=_BOUND))


def wait_held(server: Server, least: int) -> None:
    """Until responses take so many bytes."""
    until(lambda: gauge(server, "modelplane_request_held_bytes") >= least)


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _BOUND
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def logged(server: Server, message: str) -> list[dict[str, object]]:
    lines = map(json.loads, server.log.read_text().splitlines())
    return [line for line in lines if line["msg"] == message]


def test_clients_that_never_read_are_closed_and_leave_their_room_to_others() -> None:
    """Half of them are there and answer pings, and half read nothing from the system.

    Together they take all room, and what they still ask for takes less than that.
    """
    with served() as server:
        clients = [RawClient(server.port) for _ in range(6)]
        for client in clients:
            client.read()
        clients += [RawClient(server.port, _ALL, _ALL) for _ in range(6)]
        for client in clients:
            calls(client, 15)
        wait_held(server, 350 * load.MIB)
        assert answered(server)
        wait_idle(server)
        assert memory(server.process.pid).peak < 1_536
        (problem,) = {line["problem"] for line in logged(server, "Closed connections")}
        assert problem == "their clients did not read a response within 20 seconds"
        assert [line for line in map(json.loads, server.log.read_text().splitlines()) if line["level"] == "error"] == []
        for client in clients:
            client.close()


def test_small_responses_that_nobody_reads_take_no_call_from_others() -> None:
    """They take all calls that a server has at the same time."""
    with served() as server:
        clients = [RawClient(server.port, window=0) for _ in range(4)]
        for client in clients:
            client.read()
            calls(client, 500, size=1)
        assert all(client.ended(_BOUND) for client in clients)
        assert answered(server)
        wait_idle(server)
        assert memory(server.process.pid).peak < 512


def test_a_response_that_is_not_read_ends_with_the_deadline_of_its_call() -> None:
    with served() as server, RawClient(server.port) as client:
        client.read()
        calls(client, 10, timeout="3S")
        wait_held(server, 10 * _LARGE)
        wait_idle(server)
        assert not client.ended(0)
        assert logged(server, "Closed connections") == []
        assert answered(server)


def test_clients_that_read_slowly_get_all_of_their_responses() -> None:
    with served() as server:
        clients = [RawClient(server.port) for _ in range(20)]
        for client in clients:
            client.read(pause=0.001)
            calls(client, 2)
        until(lambda: all(client.received >= 2 * _LARGE for client in clients))
        wait_idle(server)
        assert logged(server, "Closed connections") == []
        for client in clients:
            client.close()


def test_sigterm_ends_a_server_whose_responses_are_not_read_within_its_grace() -> None:
    with running("--insecure", *HTTP, "--shutdown-grace", "1", module="tests.support.odd_server") as server:
        client, other = RawClient(server.port), RawClient(server.port, _ALL, _ALL)
        client.read()
        for one in (client, other):
            calls(one, 10)
        wait_held(server, 15 * _LARGE)  # the system takes some of what the other does not read
        assert server.stop() == 0
        assert client.ended(_BOUND)


# Watches


def watched(client: RawClient, count: int) -> None:
    for _ in range(count):
        client.send(client.call(_WATCH), health_pb2.HealthCheckRequest().SerializeToString())


def test_watches_that_nobody_reads_are_closed_and_keep_others_neither_from_watching_nor_from_being_told() -> None:
    with running("--insecure", *HTTP, module="tests.support.odd_server") as server:
        client = RawClient(server.port, window=0)
        client.read()
        watched(client, 100)
        with health(server.port) as left, health(server.port) as to:
            first, second = (one.Watch(health_pb2.HealthCheckRequest(), timeout=_BOUND) for one in (left, to))
            assert next(first).status == next(second).status == health_pb2.HealthCheckResponse.SERVING
            first.cancel()
            assert client.ended(_BOUND)
            assert server.stop() == 0
            assert [answer.status for answer in second] == [health_pb2.HealthCheckResponse.NOT_SERVING]
