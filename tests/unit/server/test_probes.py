"""The probes and metrics of a real server, over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_metrics

from function.probes import ListenAddress
from function.server import grpc_server
from function.server.health import Health, Phase
from function.server.workers import Workers
from tests.support import certificates
from tests.support.serving import Server, running
from tests.unit.server.test_door import odd

HTTP = ("--http-address", "127.0.0.1:0")
_BOUND = 60


def port(server: Server) -> int:
    (serving,) = [line for line in server.log.read_text().splitlines() if '"Serving"' in line]
    return int(json.loads(serving)["http"].rpartition(":")[2])


def asked(port: int, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_BOUND)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pki")
    certificates.write(folder)
    with running("--tls-certs-dir", str(folder), *HTTP) as started:
        yield started


@pytest.mark.slow
def test_probes_are_answered_in_plain_text_beside_mutual_tls(server: Server) -> None:
    every = "[+]loop ok\n[+]workers ok\n[+]serving ok\n[+]certificates ok\nreadyz check passed\n"

    assert asked(port(server), "/healthz") == (200, "ok\n")
    assert asked(port(server), "/readyz") == (200, "ok\n")
    assert asked(port(server), "/readyz?verbose") == (200, every)


def test_metrics_have_the_format_that_is_asked_for(server: Server) -> None:
    plain = asked(port(server), "/metrics")[1]
    other = asked(port(server), "/metrics", Accept="application/openmetrics-text; version=1.0.0")[1]

    read = [{family.name for family in families} for families in (plain_metrics(plain), open_metrics(other))]
    assert "modelplane_workers" in read[0] & read[1]
    assert not any(name.endswith("_created") for name in read[0])


def test_metrics_of_the_process_are_there(server: Server) -> None:
    families = {family.name: family for family in plain_metrics(asked(port(server), "/metrics")[1])}

    ends = {s.labels["file"]: s.value for s in families["modelplane_certificate_expiration_timestamp_seconds"].samples}
    assert ends.keys() == {"tls.crt", "ca.crt"}
    assert min(ends.values()) > time.time()
    (built,) = families["modelplane_build_info"].samples
    assert built.labels.keys() == {"version", "python"}


@pytest.mark.slow
def test_without_the_option_there_is_no_http(capfd: pytest.CaptureFixture[str]) -> None:
    with running() as server:
        assert '"http": null' in server.log.read_text()


@pytest.mark.slow
def test_probes_are_answered_while_every_worker_computes() -> None:
    with odd("--workers", "2", *HTTP) as (server, caller):
        calls = [caller.start("Steps", f"x{i}", f"n{i}", 600, seconds=600) for i in range(4)]
        assert caller.serving()
        got = {path: asked(port(server), path)[0] for path in ("/healthz", "/readyz", "/metrics")}
        assert got == {"/healthz": 200, "/readyz": 200, "/metrics": 200}
        assert not any(call.done() for call in calls)


@pytest.mark.slow
def test_a_server_that_stops_is_live_and_not_ready() -> None:
    with odd(*HTTP) as (server, caller):
        call = caller.start("Stuck", seconds=3)
        assert caller.serving()
        server.process.send_signal(signal.SIGTERM)
        while (got := asked(port(server), "/readyz"))[0] == 200:
            time.sleep(0.01)
        assert got[0] == 503
        assert "[-]serving failed: the server is stopping" in got[1]
        assert asked(port(server), "/healthz") == (200, "ok\n")
        assert call.result(_BOUND)
        assert server.process.wait(_BOUND) == 0


def test_probes_are_answered_while_the_event_loop_stands_still() -> None:
    """Here nothing turns it at all."""
    now = [1000.0]
    health = Health(Workers(1), clock=lambda: now[0], phase=Phase.SERVING)
    with grpc_server._http(ListenAddress("127.0.0.1", 0), health) as address:
        assert address is not None
        assert asked(address.port, "/healthz") == (200, "ok\n")
        now[0] += 45
        status, text = asked(address.port, "/healthz")
        assert (status, text.splitlines()[0]) == (503, "[-]loop failed: the event loop has not turned for 45 seconds")
        assert "modelplane_event_loop_idle_seconds 45.0" in asked(address.port, "/metrics")[1]


def test_the_event_loop_proves_that_it_turns() -> None:
    async def story() -> float:
        health = Health(Workers(1))
        health.turned_at = 0.0
        turning = asyncio.ensure_future(health.turning())
        await asyncio.sleep(0)
        turning.cancel()
        return health.idle

    assert asyncio.run(story()) < _BOUND


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--address", "--http-address"])
def test_a_taken_port_is_one_sentence_with_the_option_and_the_address(server: Server, option: str) -> None:
    taken = f"127.0.0.1:{server.port if option == '--address' else port(server)}"
    why = f"Error: cannot serve: {option} {taken}: Address already in use\n"

    with pytest.raises(AssertionError) as failed, running("--insecure", option, taken):
        pass

    assert str(failed.value) == f"the server did not start:\n{why}"


@pytest.mark.slow
def test_an_unknown_name_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match=r"cannot serve: --http-address no-such-host\.invalid:8080: "),
        running("--insecure", "--http-address", "no-such-host.invalid"),
    ):
        pass
