"""The function, probed by the clients of a kubelet while it serves with mutual TLS."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.conformance import programs
from tests.conformance.oracle import wanted
from tests.support import certificates
from tests.support.serving import Server, running

HTTP = ("--http-address", "127.0.0.1:0")
_SECONDS = 3


@pytest.fixture(scope="module", autouse=True)
def _go() -> None:
    wanted()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = certificates.write(tmp_path_factory.mktemp("pki"))
    with running("--tls-certs-dir", str(folder), *HTTP) as started:
        yield started


def http_port(server: Server) -> int:
    (serving,) = [line for line in server.log.read_text().splitlines() if '"Serving"' in line]
    return int(json.loads(serving)["http"].rpartition(":")[2])


def probed(*probes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a kubelet finds: success or failure, and what it tells."""
    asked = [{"probe": probe, "podIP": "127.0.0.1", "timeoutSeconds": _SECONDS} for probe in probes]
    return [(answer["result"], answer["output"]) for answer in programs.answers("kubelet", asked)]


def get(path: str, port: int, scheme: str = "HTTP") -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": port, "scheme": scheme}}


def grpc(port: int, service: str = "") -> dict[str, Any]:
    return {"grpc": {"port": port, "service": service}}


def test_http_probes_succeed_beside_mutual_tls(server: Server) -> None:
    port = http_port(server)

    got = probed(get("/healthz", port), get("/readyz", port), get("/readyz?verbose", port))

    assert [result for result, _ in got] == ["success"] * 3
    assert got[0][1] == "ok\n"


def test_a_path_that_is_none_fails(server: Server) -> None:
    assert probed(get("/livez", http_port(server))) == [("failure", "HTTP probe failed with statuscode: 404")]


def test_the_port_of_grpc_can_be_probed_by_neither_and_takes_no_harm(server: Server) -> None:
    """The kubelet's gRPC probes use no TLS, and its HTTPS probes have no certificate. So HTTP is the way."""
    got = probed(grpc(server.port), get("/healthz", server.port, "HTTPS"), get("/readyz", http_port(server)))

    assert [result for result, _ in got] == ["failure", "failure", "success"]
    assert "failed to connect" in got[0][1]


def test_without_tls_both_succeed() -> None:
    with running("--insecure", *HTTP) as plain:
        got = probed(grpc(plain.port), get("/readyz", http_port(plain)))

    assert got == [("success", "service healthy"), ("success", "ok\n")]


def test_a_server_that_ended_fails(server: Server) -> None:
    with running("--insecure", *HTTP) as plain:
        port = http_port(plain)
        assert plain.stop() == 0

    ((result, told),) = probed(get("/healthz", port))
    assert (result, "connection refused" in told) == ("failure", True)


def test_prometheus_gets_metrics_beside_mutual_tls(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", http_port(server), timeout=60)
    connection.request("GET", "/metrics")
    response = connection.getresponse()

    assert (response.status, b"modelplane_build_info{" in response.read()) == (200, True)
