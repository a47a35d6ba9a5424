"""Answer RunFunction calls, from the request's bytes to the response's. The only place that catches bugs."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from functools import partial

import grpc
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import registry, wire
from function.core import DeadlineExceeded, InvalidSpec, Result, deadline, dig
from function.server import log, metrics
from function.server.workers import WORKERS, Workers

_COLLECT_AFTER = 50_000
"""Container objects allocated since the last collection, above which another one pays off."""
_COLLECT_ANYWAY = 20 * _COLLECT_AFTER
"""Above this, collect even while other calls run, although that pauses them."""

Context = grpc.aio.ServicerContext[bytes, bytes]


class Runner:
    """Computes calls in worker threads, so that health checks are answered meanwhile."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._log = structlog.get_logger()
        self.workers = Workers(workers)

    async def run(self, data: bytes, context: Context) -> bytes:
        """Return the response's bytes. A call without a response is aborted with a gRPC status and the reason."""
        work = partial(self._begun, data, time.perf_counter())
        try:
            return await self.workers.run(work, wire.peek(data), len(data), _limit(context))
        except wire.MalformedRequest as problem:
            metrics.refused("malformed")
            self._log.warning("Refused a request", problem=str(problem), request_bytes=len(data))
            code, why = grpc.StatusCode.INVALID_ARGUMENT, str(problem)
        except DeadlineExceeded as over:
            metrics.refused("cancelled" if over.cancelled else "late")
            self._log.info("Gave up a call", why=str(over), request_bytes=len(data))
            code = grpc.StatusCode.CANCELLED if over.cancelled else grpc.StatusCode.DEADLINE_EXCEEDED
            why = str(over)
        except Exception as bug:  # noqa: BLE001  (there is no response to report it in)
            self._log.error("The call failed", **log.bug(bug))
            code, why = grpc.StatusCode.INTERNAL, log.where(bug)
        await context.abort(code, why)
        raise AssertionError("an aborted call goes no further")

    def _begun(self, data: bytes, received: float) -> bytes:
        metrics.waited(time.perf_counter() - received)
        return self.answer(data)

    def answer(self, data: bytes) -> bytes:
        """Return the response's bytes. Raises MalformedRequest, which names the faulty field, and DeadlineExceeded."""
        call = wire.decode(data)
        try:
            answer = self._answered(call, data)
        except wire.MalformedRequest as problem:
            raise wire.MalformedRequest(wire.diagnose(call, data) or str(problem)) from None
        self._collect()
        return answer

    def _answered(self, call: wire.Call, data: bytes) -> bytes:
        start = time.perf_counter()
        _, kind = wire.type_of(call.request.xr)
        bound = self._log.bind(kind=kind, name=_name(call), tag=call.tag[:12], request_bytes=len(data))
        rsp, outcome = self._outcome(call, data, bound)
        encoded = rsp.SerializeToString()
        seconds = time.perf_counter() - start
        metrics.observe(kind if outcome != "unknown-kind" else "unknown", outcome, seconds, len(data), len(encoded))
        bound.info("Answered", outcome=outcome, ms=round(seconds * 1e3, 1), response_bytes=len(encoded))
        return encoded

    def _outcome(
        self, call: wire.Call, data: bytes, bound: structlog.BoundLogger
    ) -> tuple[fnv1.RunFunctionResponse, str]:
        try:
            return self._respond(call, bound)
        except registry.UnknownKind as error:
            return wire.fatal(call, str(error)), "unknown-kind"
        except wire.MalformedRequest:
            raise
        except Exception as bug:  # noqa: BLE001  (a bug is one fatal result, so that Crossplane deletes nothing)
            if wrong := wire.diagnose(call, data):
                raise wire.MalformedRequest(wrong) from None
            bound.error("The composer failed", **log.bug(bug))
            return wire.fatal(call, f"a bug in modelplane: {log.where(bug)}; nothing was changed"), "bug"

    def _respond(self, call: wire.Call, bound: structlog.BoundLogger) -> tuple[fnv1.RunFunctionResponse, str]:
        composer = registry.of(call.request)
        wire.verify(call)
        result = composer(replace(call.request, at=time.time()))
        try:
            return wire.encode(call, result), _said(result)
        except wire.TooLarge as size:
            bound.warning("The response is too large", size=str(size))
            refused = composer.invalid(field="spec", problem=f"what it composes is {size}")
            why = InvalidSpec(refused, asks=result.requirements)
        try:
            return wire.encode(call, composer.hold(call.request, why)), "too-large"
        except wire.TooLarge as size:
            return wire.fatal(call, f"what is composed already is {size}"), "too-large"

    def _collect(self) -> None:
        """Collect garbage between calls. During a call it would take a third of the time and find nothing."""
        allocated = gc.get_count()[0]
        if allocated > (_COLLECT_AFTER if self.workers.under_way <= 1 else _COLLECT_ANYWAY):
            gc.collect(1)


def _limit(context: Context) -> deadline.Deadline:
    """Return the caller's deadline. Without one, the call ends only when the caller leaves."""
    left = context.time_remaining()
    return deadline.Deadline() if left is None else deadline.Deadline(at=time.monotonic() + left)


def _name(call: wire.Call) -> str:
    parts = (dig(call.request.xr, "metadata", field) for field in ("namespace", "name"))
    return "/".join(part for part in parts if isinstance(part, str) and part)


def _said(result: Result) -> str:
    return "waiting" if result.waiting else "settled"
