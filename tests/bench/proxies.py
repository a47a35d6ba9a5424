"""What a service's proxy costs: latency beside a direct call and beside the gateway alone, and memory.

All programs are real: Envoy as the provider and as the proxy, with the files that a ModelService composes, and
Traefik's parts as the gateway. Requests go one after the other over kept connections, and the ways take turns, so that
a busy machine slows all ways alike: trust the ratios, and ignore absolute times.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.table import Table

from function.manifests.envoy import places
from function.manifests.envoy.language import manager, typed
from tests.e2e import builds, egress, network, pins, pki, service_proxy
from tests.e2e.processes import Processes, listens, ports
from tests.e2e.programs import Site
from tests.e2e.service_proxy import endpoint, entry, service

ADDRESS = "198.18.5.1"
_BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 2000}]}).encode()
_ANSWER = json.dumps({"model": "m", "choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
_ROUND = 50
"""Requests by one way before the next way has its turn."""
_REQUESTS = 2000
_SERVICES = 500
_PODS = 2
numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Way:
    """A way from a client to the provider."""

    name: str
    address: str
    port: int


def main() -> None:
    """Measure in a network of its own, where addresses are free that an endpoint may have."""
    enclosed = network.enclose([sys.executable, "-m", __name__])
    if enclosed is None:
        print("proxies: not measured, because no network namespace can be made here", flush=True)
        return
    subprocess.run(enclosed, check=True)


def measure(console: Console) -> None:
    with tempfile.TemporaryDirectory(prefix="modelplane-bench-") as folder, contextlib.ExitStack() as stack:
        root, place = builds.cache(), Path(folder)
        toolchain = builds.toolchain()
        site = Site(place, pki.issue(place / "pki"), Processes(place), root, toolchain or "", builds.install(root))
        stack.callback(site.processes.stop)
        _latency(console, site)
        _memory(console, site)


# Latency


def _latency(console: Console, site: Site) -> None:
    with contextlib.ExitStack() as stack:
        ways = list(_ways(site, stack))
        taken = _taken(ways)
    table = Table(title=f"Latency of {_REQUESTS} requests each, of 2 kB, in µs", title_justify="left")
    for column in ("way", "median", "99th percentile", "median / direct", "added at the median"):
        table.add_column(column, justify="left" if column == "way" else "right")
    direct = statistics.median(taken[ways[0].name])
    for name, all_ in taken.items():
        median, tail = statistics.median(all_), statistics.quantiles(all_, n=100)[98]
        table.add_row(name, f"{median:.0f}", f"{tail:.0f}", f"{median / direct:.2f}", f"{median - direct:.0f}")
    console.print(table)


def _ways(site: Site, stack: contextlib.ExitStack) -> Iterator[Way]:
    provider = _provider(site)
    yield Way("direct", ADDRESS, provider)
    if site.toolchain:
        yield Way("gateway", "127.0.0.1", _gateway(site, provider))
    far = endpoint("far", f"http://{ADDRESS}:{provider}/v1")
    services = {
        "proxy": service(entry("far"), retry={}),
        "proxy that replaces the model's name": service(entry("far", model="m"), retry={}),
        "proxy with two priorities": service(entry("far"), entry("none", priority=1)),
    }
    for name, xr in services.items():
        proxy = stack.enter_context(service_proxy.running(site, xr, far))
        address, port = next(iter(proxy.sockets.values()))
        yield Way(name, address, port)
        if site.toolchain and name == "proxy":
            yield Way("gateway and proxy", "127.0.0.1", _gateway(site, port, address))


def _provider(site: Site) -> int:
    """An Envoy that answers once it has the body: nothing else would be fast enough to compare with."""
    [port] = ports(1)
    whole = typed("envoy.filters.http.buffer", "extensions.filters.http.buffer.v3.Buffer", max_request_bytes=65536)
    answer = {"status": 200, "body": {"inline_string": _ANSWER}}
    config = {
        "static_resources": {
            "listeners": [
                {
                    "name": "provider",
                    "address": {"socket_address": {"address": ADDRESS, "port_value": port}},
                    "filter_chains": [
                        {
                            "filters": [
                                manager("provider", [{"match": {"prefix": "/"}, "direct_response": answer}], [whole])
                            ]
                        }
                    ],
                }
            ]
        }
    }
    path = site.write("provider.json", json.dumps(config))
    site.processes.start(
        "provider",
        egress.binary(site),
        *("--config-path", str(path), "--concurrency", "1", "--log-level", "warning", "--use-dynamic-base-id"),
        serves=listens(port, ADDRESS),
    )
    return port


def _gateway(site: Site, to: int, address: str = ADDRESS) -> int:
    [port] = ports(1)
    weighted = {"weighted": {"services": [{"name": "far", "weight": 1}]}}
    config = {
        "routers": {"all": {"rule": "PathPrefix(`/`)", "service": "all"}},
        "services": {"all": weighted, "far": {"loadBalancer": {"servers": [{"url": f"http://{address}:{to}"}]}}},
    }
    number = next(numbers)
    path = site.write(f"gateway-{number}.json", json.dumps(config))
    arguments = (f"-listen=127.0.0.1:{port}", f"-static={path}")
    site.processes.start(f"gateway-{number}", site.program(pins.GATEWAY), *arguments, serves=listens(port))
    return port


def _taken(ways: list[Way]) -> dict[str, list[float]]:
    """Return the microseconds of each request, by way."""
    taken: dict[str, list[float]] = {way.name: [] for way in ways}
    with contextlib.ExitStack() as stack:
        clients = {way.name: stack.enter_context(_Client(way)) for way in ways}
        for turn in range(_REQUESTS // _ROUND + 1):
            for name, client in clients.items():
                found = [client.ask() for _ in range(_ROUND)]
                if turn:  # the first turn opens connections
                    taken[name] += found
    return taken


class _Client:
    """One kept connection. Python's own client would take longer than what is measured."""

    def __init__(self, way: Way) -> None:
        self._socket = socket.create_connection((way.address, way.port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {way.address}\r\ncontent-type: application/json\r\n"
        self._request = f"{head}content-length: {len(_BODY)}\r\n\r\n".encode() + _BODY

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self) -> float:
        start = time.perf_counter()
        self._socket.sendall(self._request)
        answer = b""
        while not answer.endswith((b"}}", b"0\r\n\r\n")):
            part = self._socket.recv(65536)
            assert part, f"the connection ended after {answer!r}"
            answer += part
        assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
        return (time.perf_counter() - start) * 1e6


# Memory


def _memory(console: Console, site: Site) -> None:
    table = Table(title="Memory of an idle proxy's pod, and of its ConfigMap", title_justify="left")
    for column in ("endpoints", "MB", "ConfigMap, kB", f"{_SERVICES} services, GB"):
        table.add_column(column, justify="right")
    for count in (1, 4, 16, 200):
        many = [
            endpoint(f"replica-{i}", f"http://{ADDRESS}:{20000 + i}/ml-team/replica-{i}/v1", is_="own")
            for i in range(count)
        ]
        with service_proxy.running(site, service(entry("own"), retry={}), *many) as proxy:
            used = _resident(proxy.probe)
            size = sum(map(len, proxy.observed[service_proxy.CONFIG]["data"].values()))
        total = used * _PODS * _SERVICES / 1e9
        table.add_row(str(count), f"{used / 1e6:.0f}", f"{size / 1e3:.0f}", f"{total:.0f}")
    console.print(table)


def _resident(port: int) -> int:
    """Return the bytes of memory that a proxy takes from its node, by its own metrics, without the program's code."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{places.METRICS_PATH}") as answer:
        lines = answer.read().decode().splitlines()
    return next(int(float(line.split()[1])) for line in lines if line.startswith("envoy_server_memory_physical_size{"))


if __name__ == "__main__":
    measure(Console(width=140))
