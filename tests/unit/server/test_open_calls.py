"""Watches of health, and reflection: what they answer, how many there may be, and that they end with the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from function.server.open_calls import OpenCalls
from tests.support.serving import running

_BOUND = 60
_SERVICES = reflection_pb2.ServerReflectionRequest(list_services="")


class Context:
    """Of a call."""

    def __init__(self) -> None:
        self.ended: Callable[[object], None] | None = None

    async def abort(self, code: grpc.StatusCode, details: str) -> None:
        raise RuntimeError(code.name, details)

    def add_done_callback(self, callback: Callable[[object], None]) -> None:
        self.ended = callback


def test_too_many_open_calls_are_refused_until_one_ends() -> None:
    async def told() -> None:
        calls, first = OpenCalls(2), Context()
        for context in (first, Context()):
            await calls.enter(context)
        with pytest.raises(RuntimeError, match=r"RESOURCE_EXHAUSTED.*2 watches and calls of reflection are open"):
            await calls.enter(Context())
        assert first.ended is not None
        first.ended(first)
        await calls.enter(Context())

    asyncio.run(told())


def test_requests_end_with_their_client_or_with_the_server() -> None:
    async def told() -> None:
        async def sent(*, ends: bool) -> AsyncIterator[int]:
            yield 1
            yield 2
            if not ends:
                await asyncio.Event().wait()

        calls = OpenCalls()
        assert [request async for request in calls.requests(sent(ends=True))] == [1, 2]
        silent = aiter(calls.requests(sent(ends=False)))
        assert [await anext(silent), await anext(silent)] == [1, 2]
        asyncio.get_running_loop().call_soon(calls.end)
        assert [request async for request in silent] == []

    asyncio.run(told())


@pytest.mark.slow
def test_the_server_tells_its_services_and_their_messages() -> None:
    with running("--insecure") as server, grpc.insecure_channel(server.address) as channel:
        message = "apiextensions.fn.proto.v1.RunFunctionRequest"
        asked = [_SERVICES, reflection_pb2.ServerReflectionRequest(file_containing_symbol=message)]
        services, file = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(
            iter(asked), timeout=_BOUND
        )
        assert {each.name for each in services.list_services_response.service} == {
            "apiextensions.fn.proto.v1.FunctionRunnerService",
            "apiextensions.fn.proto.v1beta1.FunctionRunnerService",
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
        }
        assert b"RunFunctionRequest" in file.file_descriptor_response.file_descriptor_proto[0]


@pytest.mark.slow
def test_open_calls_do_not_delay_the_stop_of_the_server() -> None:
    """Its grace period is longer than this test waits."""
    done = threading.Event()

    def silent() -> Iterator[reflection_pb2.ServerReflectionRequest]:
        """Send one request, and then nothing."""
        yield _SERVICES
        done.wait(_BOUND)

    with (
        running("--insecure", "--shutdown-grace", str(10 * _BOUND)) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=_BOUND)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        reflection = stub.ServerReflectionInfo(silent(), timeout=_BOUND)
        next(reflection)
        assert server.stop() == 0
        assert [answer.status for answer in watch] == [health_pb2.HealthCheckResponse.NOT_SERVING]
        assert list(reflection) == []
        done.set()
