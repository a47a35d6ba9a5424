"""gRPC's health service (grpc.health.v1).

Each watch waits by itself. In the servicer of grpcio-health-checking (1.84), the watches of a service wait for each
other: one whose client does not read delays all others, and one that leaves keeps the rest from being told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from function.server.open_calls import OpenCalls
from function.server.responses import Responses

_Status = health_pb2.HealthCheckResponse


class HealthService(health_pb2_grpc.HealthServicer):
    """Reports that services serve, until it is told that they stop."""

    def __init__(self, services: Iterable[str], responses: Responses, open_calls: OpenCalls) -> None:
        self._services = frozenset(services)
        self._responses = responses
        self._open = open_calls
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Report that nothing is served any more."""
        self._stopping.set()

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: N802  (gRPC's name)
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, "the server has no service of this name")
        response = self._responses.sends(context.peer(), 0)
        context.add_done_callback(lambda _: self._responses.ended(response))
        return self._status(request.service)

    async def Watch(self, request: Any, context: Any) -> None:  # noqa: N802  (gRPC's name)
        await self._open.enter(context)
        is_stopping = self._stopping.is_set()
        await self._write(request.service, context)
        if not is_stopping:
            await self._stopping.wait()
            await self._write(request.service, context)
        await self._open.wait_end()

    async def _write(self, service: str, context: Any) -> None:
        response = self._responses.sends(context.peer(), 0)
        try:
            await context.write(self._status(service))
        finally:
            self._responses.ended(response)

    def _status(self, service: str) -> Any:
        if service not in self._services:
            return _Status(status=_Status.SERVICE_UNKNOWN)
        return _Status(status=_Status.NOT_SERVING if self._stopping.is_set() else _Status.SERVING)
