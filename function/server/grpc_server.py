"""The gRPC server: TLS, message sizes, health, and shutdown; and beside it the probes and metrics over HTTP."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import structlog
from crossplane.function.runtime import SERVICE_NAMES
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2_grpc

from function import probes
from function.probes import ALL, ListenAddress, listener
from function.server import connections, log, metrics, process, process_metrics, workers
from function.server.admission import Limits
from function.server.certificates import Certificates
from function.server.grpc_health import HealthService
from function.server.grpc_reflection import ReflectionService
from function.server.health import Health, Phase
from function.server.open_calls import OpenCalls
from function.server.responses import Responses
from function.server.runner import Runner
from function.server.sizes import LARGEST, MIB

WORKERS = workers.WORKERS
PORT = 9443
"""Of the gRPC server. Crossplane expects it (crossplane v2.4, internal/controller/pkg/runtime)."""
HTTP_PORT = 8080
"""Of probes and metrics. Crossplane gives a function's container this port, named `metrics` (as above)."""
METRICS = "/metrics"
DEFAULT_ADDRESS = ListenAddress(ALL, PORT)
LONGEST_CALL = workers.LONGEST
MOST_MIB = 2_047
"""MiB of the largest message that can be configured: gRPC holds its limits in 32 bits."""
LARGEST_MESSAGE = LARGEST
GRACE = 25
"""Seconds for accepted calls to finish after SIGTERM. A pod has 30 (Kubernetes, terminationGracePeriodSeconds)."""
_ARRIVING = 0.1
"""Seconds after SIGTERM in which calls are still accepted: gRPC cancels those that arrived and were not accepted."""
_STREAMS = 1_000
"""Calls of a connection at the same time. gRPC's clients hold further ones back."""
_KEEPALIVE = 60_000
"""Milliseconds after which a silent client is asked whether it is there, and then until its connection is closed."""
_HANDSHAKE = 20_000
"""Milliseconds for a client to finish the handshakes of TLS and HTTP/2, after which its connection is closed."""
_READING = 0.5
"""Seconds after the grace period for clients to read that their calls are cancelled."""
_UNWINDING = 1.0
"""Seconds after the grace period for cancelled calls to notice it."""
_SERVICES = (
    "apiextensions.fn.proto.v1.FunctionRunnerService",
    "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
)
"""Crossplane calls v1, or v1beta1 if v1 is not implemented. Both have the same messages."""


@dataclass(frozen=True, slots=True)
class Settings:
    address: ListenAddress = DEFAULT_ADDRESS
    tls_certs_dir: Path | None = None
    """Contains tls.crt, tls.key and ca.crt. None serves in plain text."""
    max_receive_mib: int = LARGEST_MESSAGE
    max_send_mib: int = LARGEST_MESSAGE
    http_address: ListenAddress | None = None
    """Of the probes and metrics. None serves neither."""
    max_total_receive_mib: int | None = None
    """Of all requests in memory. None is twice `max_receive_mib`, so that two of the largest can be received."""
    workers: int = WORKERS
    """Calls computed at the same time."""
    longest_call: float = LONGEST_CALL
    """Seconds that a call may compute."""
    grace: float = GRACE

    @property
    def limits(self) -> Limits:
        return Limits.of(self.max_receive_mib, self.max_total_receive_mib)


async def serve(settings: Settings, started: Callable[[int], None] | None = None) -> bool:
    """Serve until SIGTERM or SIGINT. Calls `started` with the port once it listens.

    Returns whether every call ended. If not, a thread still computes a call that nobody waits for. Raises OSError and
    ValueError.
    """
    asyncio.get_running_loop().set_exception_handler(log.of_loop)
    process.configure_files()
    certificates = Certificates(settings.tls_certs_dir) if settings.tls_certs_dir else None
    runner = Runner(settings.workers, settings.limits, settings.longest_call)
    health = Health(runner.workers, certificates, admission=runner.admission)
    turning = asyncio.ensure_future(health.turning())
    try:
        with _http(settings.http_address, health) as http:
            return await _serve(settings, runner, health, http=http, started=started)
    finally:
        turning.cancel()


@contextmanager
def _http(address: ListenAddress | None, health: Health) -> Iterator[ListenAddress | None]:
    """Serve probes and metrics, if an address is given for them. Yields the one that is listened on."""
    if address is None:
        yield None
        return
    pages = {
        probes.LIVE: probes.page(probes.LIVE, health.live),
        probes.READY: probes.page(probes.READY, health.ready),
        METRICS: metrics.page,
    }
    with process_metrics.shown(health), probes.serving(pages, address) as bound:
        yield bound


async def _serve(
    settings: Settings,
    runner: Runner,
    health: Health,
    *,
    http: ListenAddress | None,
    started: Callable[[int], None] | None,
) -> bool:
    server = grpc.aio.server(options=_options(settings))
    server.add_generic_rpc_handlers(tuple(_handler(service, runner.run) for service in _SERVICES))
    open_calls = OpenCalls()
    status = _introspection(server, runner.admission.responses, open_calls)
    port = _listen(server, settings.address, health.certificates)
    await server.start()
    process.configure_memory()
    process.configure_threads()
    structlog.get_logger().info(
        "Serving",
        address=str(settings.address),
        port=port,
        http=http and str(http),
        tls=health.certificates is not None,
    )
    health.phase = Phase.SERVING
    if started:
        started(port)
    await _signalled()
    health.phase = Phase.STOPPING
    return await _stop(server, status, open_calls, runner, port=port, grace=settings.grace)


def _introspection(server: grpc.aio.Server, responses: Responses, open_calls: OpenCalls) -> HealthService:
    """Add health checks and reflection; return the health service. Their packages have no types."""
    status = HealthService(("", *_SERVICES), responses, open_calls)
    shown = ReflectionService((*SERVICE_NAMES, health.SERVICE_NAME), open_calls)
    health_pb2_grpc.add_HealthServicer_to_server(status, server)  # type: ignore[no-untyped-call]
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(shown, server)  # type: ignore[no-untyped-call]
    return status


async def _signalled() -> None:
    """Wait for the first signal. Later ones have no effect."""
    stop = asyncio.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sig, stop.set)
    await stop.wait()


async def _stop(
    server: grpc.aio.Server, status: HealthService, open_calls: OpenCalls, runner: Runner, *, port: int, grace: float
) -> bool:
    """Accept no new calls, let accepted ones finish within the grace period, then cancel them.

    Clients are told to go away and connect to another replica: Crossplane waits until it has a connection (v2.4,
    internal/xfn/function_runner.go, waitForReady).
    """
    structlog.get_logger().info("Stopping", under_way=runner.workers.under_way)
    status.stop()
    await asyncio.sleep(_ARRIVING)
    open_calls.end()
    await _end_calls(server, port, grace)
    ended = await asyncio.to_thread(runner.workers.wait_idle, _UNWINDING)
    structlog.get_logger().info("Stopped", under_way=runner.workers.under_way)
    return ended


async def _end_calls(server: grpc.aio.Server, port: int, grace: float) -> None:
    """Stop the server. Its connections are closed if their clients do not even read that calls are cancelled."""
    stopped = asyncio.ensure_future(server.stop(grace))
    if not (await asyncio.wait({stopped}, timeout=grace + _READING))[0]:
        closed = connections.close_all(port)
        structlog.get_logger().warning("Closed connections", problem="their clients do not read", count=closed)
        await asyncio.wait({stopped}, timeout=_READING)


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.max_receive_mib * MIB),
        ("grpc.max_send_message_length", settings.max_send_mib * MIB),
        ("grpc.max_concurrent_streams", _STREAMS),
        ("grpc.http2.bdp_probe", 0),  # would enlarge the window: 200 unread calls then hold 800 MiB instead of 10
        ("grpc.keepalive_time_ms", _KEEPALIVE),  # ends connections of clients that vanished, and frees their requests
        ("grpc.keepalive_timeout_ms", _KEEPALIVE),
        ("grpc.server_handshake_timeout_ms", _HANDSHAKE),
        ("grpc.so_reuseport", 0),  # a second server on the port must fail, not share it
    ]


def _handler(service: str, run: Callable[..., Awaitable[bytes]]) -> grpc.GenericRpcHandler:
    """Return a handler of bytes, so that `wire` alone decides what is decoded.

    It is a handler of a stream, because only then `run` itself receives the request. A client sees no difference.
    """
    method: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(run)
    return grpc.method_handlers_generic_handler(service, {"RunFunction": method})


def _listen(server: grpc.aio.Server, address: ListenAddress, certificates: Certificates | None) -> int:
    """Listen, and return the port. Raises CannotListen, and RuntimeError if gRPC refuses what the system accepts."""
    listener(address).close()  # gRPC does not say why it cannot
    if certificates is None:
        return server.add_insecure_port(str(address))
    return server.add_secure_port(str(address), certificates.credentials())
