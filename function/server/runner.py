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
from function.server.admission import Admission, Admitted, Limits, Overloaded
from function.server.sizes import LARGEST
from function.server.workers import LONGEST, WORKERS, Workers

_COLLECT_AFTER = 50_000
"""Container objects allocated since the last collection, above which another one pays off."""
_COLLECT_ANYWAY = 20 * _COLLECT_AFTER
"""Above this, collect even while other calls run, although that pauses them."""

_OPTION = "--max-call-seconds"
_LIMITS = Limits.of(LARGEST)
Context = grpc.aio.ServicerContext[bytes, bytes]


class Runner:
    """Computes calls in worker threads, so that health checks are answered meanwhile."""

    def __init__(self, workers: int = WORKERS, limits: Limits = _LIMITS, longest: float = LONGEST) -> None:
        """`longest` is the time that a call may compute, in seconds."""
        self._log = structlog.get_logger()
        self.workers = Workers(workers, longest=longest)
        self.admission = Admission(limits, lambda: self.workers.request_bytes)
        self.workers.on_change = self.admission.woken

    async def run(self, _: object, context: Context) -> bytes:
        """Return the response's bytes. A call without a response is aborted with a gRPC status and the reason."""
        try:
            return await self._responded(context, self.admission.entered(context.add_done_callback))
        except wire.MalformedRequest as problem:
            metrics.refused("malformed")
            self._log.warning("Refused a request", problem=str(problem))
            code, why = grpc.StatusCode.INVALID_ARGUMENT, str(problem)
        except Overloaded as problem:
            metrics.refused("overloaded")
            self._log.warning("Refused a call", problem=str(problem))
            code, why = grpc.StatusCode.RESOURCE_EXHAUSTED, str(problem)
        except DeadlineExceeded as over:
            metrics.refused("cancelled" if over.cancelled else "late")
            why = _late(over)
            self._log.info("Gave up a call", why=why)
            code = grpc.StatusCode.CANCELLED if over.cancelled else grpc.StatusCode.DEADLINE_EXCEEDED
        except Exception as bug:  # noqa: BLE001  (there is no response to report it in)
            metrics.refused("bug")
            self._log.error("The call failed", **log.bug(bug))
            code, why = grpc.StatusCode.INTERNAL, log.where(bug)
        await context.abort(code, why)
        raise AssertionError("an aborted call goes no further")

    async def _responded(self, context: Context, call: Admitted) -> bytes:
        """Return the response's bytes. Raises Overloaded, MalformedRequest and DeadlineExceeded."""
        peer = context.peer()
        data = await self.admission.received(partial(_received, context), peer)
        work = partial(self._begun, data, time.perf_counter())
        response = await self.workers.run(work, wire.peek(data), len(data), _limit(context))
        self.admission.sends(call, peer, len(response))
        return response

    def _begun(self, data: bytes, received: float) -> bytes:
        metrics.waited(time.perf_counter() - received)
        return self.answer(data)

    def answer(self, data: bytes) -> bytes:
        """Return the response's bytes. Raises MalformedRequest, which names the faulty field, and DeadlineExceeded."""
        call = wire.decode(data)
        try:
            answer = self._answered(call, data)
        except wire.MalformedRequest as problem:
            raise wire.MalformedRequest(wire.diagnose(call, data, is_malformed=True) or str(problem)) from None
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
        is_final = all(asked.name in call.request.required for asked in result.requirements)
        if is_final:
            metrics.decided(call.request, result)
        try:
            return wire.encode(call, result), _outcome(result, is_final=is_final)
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


async def _received(context: Context) -> bytes:
    """Return the request's bytes, once all have arrived. Raises MalformedRequest if the client sends none."""
    data = await context.read()
    if not isinstance(data, bytes):
        raise wire.MalformedRequest("the call has no request")
    return data


def _late(over: DeadlineExceeded) -> str:
    """Return why a call is given up: for one that computes too long, what it was computing."""
    return f"{over}, the limit of {_OPTION}; it was in {log.step(over)}" if over.limit else str(over)


def _limit(context: Context) -> deadline.Deadline:
    """Return the caller's deadline. Without one, the call ends only when the caller leaves."""
    left = context.time_remaining()
    return deadline.Deadline() if left is None else deadline.Deadline(at=time.monotonic() + left)


def _name(call: wire.Call) -> str:
    parts = (dig(call.request.xr, "metadata", field) for field in ("namespace", "name"))
    return "/".join(part for part in parts if isinstance(part, str) and part)


def _outcome(result: Result, *, is_final: bool) -> str:
    """Return the outcome of an answer. Crossplane carries out only one that asks for nothing more."""
    if not is_final:
        return "asking"
    if result.held is not None:
        return "refused" if result.is_refused else "held"
    return "waiting" if result.waiting else "settled"
