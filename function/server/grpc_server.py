"""The gRPC server: TLS, message sizes, health, and shutdown."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import structlog
from crossplane.function.runtime import SERVICE_NAMES
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from function.server import certificates, log, metrics, process, workers
from function.server.runner import Runner

WORKERS = workers.WORKERS
DEFAULT_ADDRESS = "0.0.0.0:9443"
LARGEST_MESSAGE = 256
"""MiB accepted in one request. A fleet of 1,000 clusters and 10,000 replicas is 70 MiB."""
GRACE = 25
"""Seconds for accepted calls to finish after SIGTERM. A pod has 30 (Kubernetes, terminationGracePeriodSeconds)."""
_ARRIVING = 0.1
"""Seconds after SIGTERM in which calls are still accepted: gRPC cancels those that arrived and were not accepted."""
_UNWINDING = 1.0
"""Seconds after the grace period for cancelled calls to notice it."""
_SERVICES = (
    "apiextensions.fn.proto.v1.FunctionRunnerService",
    "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
)
"""Crossplane calls v1, or v1beta1 if v1 is not implemented. Both have the same messages."""


@dataclass(frozen=True, slots=True)
class Settings:
    address: str = DEFAULT_ADDRESS
    tls_certs_dir: Path | None = None
    """Contains tls.crt, tls.key and ca.crt. None serves in plain text."""
    max_receive_mib: int = LARGEST_MESSAGE
    max_send_mib: int = LARGEST_MESSAGE
    metrics_address: str | None = None
    workers: int = WORKERS
    """Calls computed at the same time."""
    grace: float = GRACE


async def serve(settings: Settings, started: Callable[[int], None] | None = None) -> bool:
    """Serve until SIGTERM or SIGINT. Calls `started` with the port once it listens.

    Returns whether every call ended. If not, a thread still computes a call that nobody waits for. Raises OSError and
    ValueError.
    """
    asyncio.get_running_loop().set_exception_handler(log.of_loop)
    server = grpc.aio.server(options=_options(settings))
    runner = Runner(settings.workers)
    server.add_generic_rpc_handlers(tuple(_handler(service, runner.run) for service in _SERVICES))
    status = _introspection(server)
    port = _listen(server, settings)
    if settings.metrics_address:
        metrics.serve(settings.metrics_address)
    await server.start()
    for service in ("", *_SERVICES):
        await status.set(service, health_pb2.HealthCheckResponse.SERVING)
    process.configure_memory()
    process.configure_threads()
    structlog.get_logger().info("Serving", address=settings.address, port=port, tls=bool(settings.tls_certs_dir))
    if started:
        started(port)
    await _signalled()
    return await _stop(server, status, runner, settings.grace)


class _Health(health.aio.HealthServicer):  # type: ignore[misc, name-defined]
    """Health checks whose watches end when the server stops.

    Otherwise they would delay it for the whole grace period.
    """

    def __init__(self) -> None:
        super().__init__()
        self._watches: set[asyncio.Task[None]] = set()

    async def Watch(self, request: Any, context: Any) -> None:  # noqa: N802  (gRPC's name)
        watch = asyncio.ensure_future(super().Watch(request, context))
        self._watches.add(watch)
        try:
            await asyncio.wait({watch})
        finally:
            watch.cancel()
            self._watches.discard(watch)

    def end_watches(self) -> None:
        for watch in self._watches:
            watch.cancel()


def _introspection(server: grpc.aio.Server) -> _Health:
    """Add health checks and reflection; return the health servicer. Their packages have no types."""
    status = _Health()
    health_pb2_grpc.add_HealthServicer_to_server(status, server)  # type: ignore[no-untyped-call]
    reflection.enable_server_reflection((*SERVICE_NAMES, health.SERVICE_NAME), server)  # type: ignore[no-untyped-call]
    return status


async def _signalled() -> None:
    """Wait for the first signal. Later ones have no effect."""
    stop = asyncio.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sig, stop.set)
    await stop.wait()


async def _stop(server: grpc.aio.Server, status: _Health, runner: Runner, grace: float) -> bool:
    """Accept no new calls, let accepted ones finish within the grace period, then cancel them.

    Clients are told to go away and connect to another replica: Crossplane waits until it has a connection (v2.4,
    internal/xfn/function_runner.go, waitForReady).
    """
    structlog.get_logger().info("Stopping", under_way=runner.workers.under_way)
    await status.enter_graceful_shutdown()
    await asyncio.sleep(_ARRIVING)
    status.end_watches()
    await server.stop(grace)
    ended = await asyncio.to_thread(runner.workers.wait_idle, _UNWINDING)
    structlog.get_logger().info("Stopped", under_way=runner.workers.under_way)
    return ended


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.max_receive_mib * 2**20),
        ("grpc.max_send_message_length", settings.max_send_mib * 2**20),
        ("grpc.so_reuseport", 0),  # a second server on the port must fail, not share it
    ]


def _handler(service: str, run: Callable[..., Awaitable[bytes]]) -> grpc.GenericRpcHandler:
    """Return a handler of bytes, so that `wire` alone decides what is decoded."""
    method: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(run)
    return grpc.method_handlers_generic_handler(service, {"RunFunction": method})


def _listen(server: grpc.aio.Server, settings: Settings) -> int:
    if settings.tls_certs_dir is None:
        return server.add_insecure_port(settings.address)
    return server.add_secure_port(settings.address, certificates.rotating(settings.tls_certs_dir))
