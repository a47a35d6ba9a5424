"""A real server under requests that are many, large, or never arrive: its memory is bounded, and its probes answer."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families as metrics

from tests.bench import fleet
from tests.support import load
from tests.support.load import MIB, Prober, RawClient, memory
from tests.support.serving import Server, running
from tests.unit.server.test_probes import HTTP, asked, port

pytestmark = pytest.mark.slow

_BOUND = 200
_LIMIT = 3 * 1024
"""MiB of the function's container (package/runtime.yaml)."""
_SENDS_ANY = [("grpc.max_send_message_length", -1)]


def request(mib: int) -> bytes:
    """A ModelDeployment, and a fleet of so many MiB. Its first call asks for more."""
    item = fleet.clusters(1)[0]
    item["metadata"]["name"] = "item-0000000"
    return load.big(fleet.deployment("single", 2), item, mib * MIB)


@contextmanager
def loaded(*options: str) -> Iterator[tuple[Server, grpc.UnaryUnaryMultiCallable]]:
    """A server whose probes are asked all the while, and a call to it. Afterwards it holds nothing."""
    with running("--insecure", *HTTP, *options) as server:
        prober = Prober(port(server))
        with prober, grpc.insecure_channel(server.address, options=_SENDS_ANY) as channel:
            yield server, channel.unary_unary(load.RUN)
        assert prober.probed.failed == []
        assert prober.probed.asked > 0


def ends(calls: Sequence[grpc.Future]) -> Counter[str]:
    """How many calls ended how."""
    for call in calls:
        with suppress(grpc.RpcError):
            call.result(_BOUND)
    return Counter(call.code().name for call in calls)


def gauge(server: Server, name: str) -> float:
    families = {family.name: family for family in metrics(asked(port(server), "/metrics")[1])}
    return families[name].samples[0].value


def wait_idle(server: Server) -> None:
    """Until no call, and no byte of one, is left."""
    while any(
        gauge(server, f"modelplane_{name}") for name in ("request_held_bytes", "calls_receiving", "workers_busy")
    ):
        time.sleep(0.05)


def test_a_request_of_the_largest_size_is_answered_and_one_over_it_names_both_sizes() -> None:
    with loaded() as (server, call):
        assert ends([call.future(request(255))]) == {"OK": 1}
        assert ends([call.future(b"\xff" * (255 * MIB))]) == {"INVALID_ARGUMENT": 1}
        with pytest.raises(grpc.RpcError, match=rf"larger than max \({257 * MIB} vs. {256 * MIB}\)"):
            call(bytes(257 * MIB))
        wait_idle(server)
        assert memory(server.process.pid).peak < _LIMIT


def test_of_several_of_the_largest_size_some_are_refused_with_the_limit() -> None:
    with loaded() as (server, call):
        data = request(255)
        calls = [call.future(data) for _ in range(3)]
        ended = ends(calls)
        assert ended["OK"] >= 1
        assert ended.keys() <= {"OK", "RESOURCE_EXHAUSTED"}
        for refused in (c for c in calls if c.code() == grpc.StatusCode.RESOURCE_EXHAUSTED):
            assert "--max-total-recv-size 512 is the limit" in refused.details()
        wait_idle(server)
        assert memory(server.process.pid).peak < _LIMIT


def test_a_hundred_large_calls_at_once_are_all_answered_round_after_round() -> None:
    """2 GiB in all. The second round takes no more memory than the first: nothing of it is kept."""
    with loaded() as (server, call):
        data = request(20)
        peaks = []
        for _ in range(2):
            assert ends([call.future(data) for _ in range(100)]) == {"OK": 100}
            wait_idle(server)
            peaks.append(memory(server.process.pid).peak)
        assert peaks[0] < 1024
        assert peaks[1] < peaks[0] + 256


def test_a_hundred_requests_that_do_not_arrive_delay_nobody_who_is_known() -> None:
    with loaded() as (server, call):
        data = request(1)
        assert ends([call.future(data)]) == {"OK": 1}
        clients = [RawClient(server.port) for _ in range(100)]
        for client in clients:
            stream = client.call()
            client.announce(stream, 256 * MIB, sent=10)
            client.trickle(stream)
        assert ends([call.future(data) for _ in range(10)]) == {"OK": 10}
        assert memory(server.process.pid).now < 512
        for client in clients:
            client.close()
        wait_idle(server)


def test_thousands_of_silent_calls_do_not_shut_out_others() -> None:
    """They are begun no faster than they are accepted: gRPC cancels some of a thousand that wait to be accepted."""
    with loaded() as (server, call):
        clients = [RawClient(server.port) for _ in range(5)]
        for number, client in enumerate(clients, 1):
            for _ in range(500):
                client.call()
            while gauge(server, "modelplane_calls_unread") < min(500 * number - 10, 1_900):
                time.sleep(0.1)
        assert ends([call.future(request(1), timeout=_BOUND)]) == {"OK": 1}
        assert memory(server.process.pid).now < 512
        for client in clients:
            client.close()
        wait_idle(server)


def test_clients_that_hang_up_leave_nothing_behind() -> None:
    with loaded() as (server, call):
        data = request(10)
        for _ in range(3):
            calls = [call.future(data) for _ in range(10)]
            client = RawClient(server.port)
            for _ in range(10):
                client.announce(client.call(), 256 * MIB, sent=10_000)
            client.close()
            for one in calls:
                one.cancel()
        wait_idle(server)
        assert gauge(server, "modelplane_calls_unread") == 0
        assert ends([call.future(data)]) == {"OK": 1}
        assert memory(server.process.pid).peak < 1024
