"""The gRPC door: TLS, message sizes, health, metrics, and the one place that catches a bug."""

from __future__ import annotations

import asyncio
import gc
import signal
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from crossplane.function.runtime import SERVICE_NAMES
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from function import metrics, process, registry, wire
from function.core import Result

DEFAULT_ADDRESS = "0.0.0.0:9443"
LARGEST_MESSAGE = 256
"""MiB that we take in one request: a fleet of 1,000 clusters and 10,000 replicas is 70."""
_GRACE = 5.0
"""Seconds that a call under way has left after SIGTERM."""
_SERVICES = (
    "apiextensions.fn.proto.v1.FunctionRunnerService",
    "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
)
"""Crossplane calls v1, and v1beta1 where v1 is not implemented; both have the same messages."""
_COLLECT_AFTER = 50_000
"""Container objects allocated since the last collection."""


@dataclass(frozen=True, slots=True)
class Settings:
    address: str = DEFAULT_ADDRESS
    tls_certs_dir: Path | None = None
    """Holds tls.crt, tls.key and ca.crt. None serves in plain text."""
    max_receive_mib: int = LARGEST_MESSAGE
    max_send_mib: int = LARGEST_MESSAGE
    metrics_address: str | None = None


class Runner:
    """Answers RunFunction. One call at a time computes, so that health checks are answered meanwhile."""

    def __init__(self) -> None:
        self._log = structlog.get_logger()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compose")

    async def run(self, data: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, self.answer, data)
        except wire.MalformedRequest as error:
            self._log.warning("Refused a request", problem=str(error), request_bytes=len(data))
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
            raise

    def answer(self, data: bytes) -> bytes:
        """A response's bytes. Raises MalformedRequest."""
        start = time.perf_counter()
        call = wire.decode(data)
        kind, name = str(call.request.xr.get("kind") or ""), _name(call)
        log = self._log.bind(kind=kind, name=name, tag=call.tag[:12], request_bytes=len(data))
        try:
            rsp, outcome = self._respond(call, log)
        except registry.UnknownKind as error:
            rsp, outcome = wire.fatal(call, str(error)), "unknown-kind"
        except Exception as bug:  # a bug is one fatal result: Crossplane stops before it deletes anything
            log.exception("The composer failed")
            rsp, outcome = wire.fatal(call, f"{type(bug).__name__}: {bug}"), "bug"
        encoded = rsp.SerializeToString()
        seconds = time.perf_counter() - start
        metrics.observe(kind if outcome != "unknown-kind" else "unknown", outcome, seconds, len(data), len(encoded))
        log.info("Answered", outcome=outcome, ms=round(seconds * 1e3, 1), response_bytes=len(encoded))
        _collect()
        return encoded

    def _respond(self, call: wire.Call, log: structlog.BoundLogger) -> tuple[fnv1.RunFunctionResponse, str]:
        composer = registry.of(call.request)
        result = composer(call.request)
        try:
            return wire.encode(call, result), _outcome(result)
        except wire.TooLarge as size:
            log.warning("The response is too large", size=str(size))
            why = composer.invalid(field="spec", problem=f"what it composes is {size}")
        try:
            return wire.encode(call, composer.hold(call.request, why)), "too-large"
        except wire.TooLarge as size:
            return wire.fatal(call, f"what is composed already is {size}"), "too-large"


def _name(call: wire.Call) -> str:
    metadata = call.request.xr.get("metadata") or {}
    return "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)


def _outcome(result: Result) -> str:
    return "waiting" if result.waiting else "settled"


def _collect() -> None:
    """The collector runs between calls, not in them: in a call it costs a third of the time and finds nothing."""
    if gc.get_count()[0] > _COLLECT_AFTER:
        gc.collect(1)


async def serve(settings: Settings, started: Callable[[int], None] | None = None) -> None:
    """Until SIGTERM or SIGINT. `started` is called with the port once it listens. Raises OSError, ValueError."""
    server = grpc.aio.server(options=_options(settings))
    runner = Runner()
    server.add_generic_rpc_handlers(tuple(_handler(service, runner.run) for service in _SERVICES))
    status = _introspection(server)
    port = _listen(server, settings)
    if settings.metrics_address:
        metrics.serve(settings.metrics_address)
    await server.start()
    for service in ("", *_SERVICES):
        await status.set(service, health_pb2.HealthCheckResponse.SERVING)
    process.settle_memory()
    structlog.get_logger().info("Serving", address=settings.address, port=port, tls=bool(settings.tls_certs_dir))
    if started:
        started(port)
    await _until_told(server, status)


def _introspection(server: grpc.aio.Server) -> Any:
    """Health and reflection; returns the health servicer. Their packages come without types."""
    status = health.aio.HealthServicer()  # type: ignore[attr-defined]
    health_pb2_grpc.add_HealthServicer_to_server(status, server)  # type: ignore[no-untyped-call]
    reflection.enable_server_reflection((*SERVICE_NAMES, health.SERVICE_NAME), server)  # type: ignore[no-untyped-call]
    return status


async def _until_told(server: grpc.aio.Server, status: Any) -> None:
    told = asyncio.Event()
    for sig in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(sig, told.set)
    await told.wait()
    await status.enter_graceful_shutdown()
    await server.stop(_GRACE)
    structlog.get_logger().info("Stopped")


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.max_receive_mib * 2**20),
        ("grpc.max_send_message_length", settings.max_send_mib * 2**20),
        ("grpc.so_reuseport", 0),  # a second server on the port is an error, not a coin toss
    ]


def _handler(service: str, run: Callable[..., Awaitable[bytes]]) -> grpc.GenericRpcHandler:
    """A handler that takes and gives bytes, so that `wire` alone decides what is decoded."""
    method: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(run)
    return grpc.method_handlers_generic_handler(service, {"RunFunction": method})


def _listen(server: grpc.aio.Server, settings: Settings) -> int:
    if settings.tls_certs_dir is None:
        return server.add_insecure_port(settings.address)
    return server.add_secure_port(settings.address, process.rotating_credentials(settings.tls_certs_dir))
