"""gRPC's reflection service (grpc.reflection.v1alpha): which services the server has, and their messages."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

from grpc_reflection.v1alpha.reflection import aio

from function.server.open_calls import OpenCalls


class ReflectionService(aio.ReflectionServicer):
    """Answers for as long as a client asks, and until the server stops."""

    def __init__(self, services: Iterable[str], open_calls: OpenCalls) -> None:
        super().__init__(service_names=services)  # type: ignore[no-untyped-call]
        self._open = open_calls

    async def ServerReflectionInfo(  # noqa: N802  (gRPC's name)
        self, request_iterator: AsyncIterable[Any], context: Any
    ) -> AsyncIterator[Any]:
        await self._open.enter(context)
        async for response in super().ServerReflectionInfo(self._open.requests(request_iterator), context):
            yield response
