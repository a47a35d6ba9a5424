"""The two servers that are compared: ours, and the floor. Prints its port, then serves until it is killed."""

from __future__ import annotations

import asyncio
import logging
import sys

import grpc
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import registry
from function.probes import ListenAddress
from function.server import grpc_server as server
from function.server import process
from tests.support import odd_server

_UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


async def _floor() -> None:
    """Parses with the SDK's message, and answers nothing. Memory is settled as ours is."""

    async def run(req: fnv1.RunFunctionRequest, _: object) -> fnv1.RunFunctionResponse:
        return fnv1.RunFunctionResponse(meta=fnv1.ResponseMeta(tag=req.meta.tag))

    method = grpc.unary_unary_rpc_method_handler(
        run, fnv1.RunFunctionRequest.FromString, fnv1.RunFunctionResponse.SerializeToString
    )
    service = "apiextensions.fn.proto.v1.FunctionRunnerService"
    listening = grpc.aio.server(options=_UNLIMITED)
    listening.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"RunFunction": method}),))
    port = listening.add_insecure_port("127.0.0.1:0")
    await listening.start()
    process.configure_memory()
    print(port, flush=True)
    await listening.wait_for_termination()


async def _ours() -> None:
    await server.serve(
        server.Settings(address=ListenAddress("127.0.0.1", 0)), started=lambda port: print(port, flush=True)
    )


async def _odd() -> None:
    registry.COMPOSERS = {**registry.COMPOSERS, **odd_server.COMPOSERS}
    await _ours()


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run({"ours": _ours, "odd": _odd, "floor": _floor}[sys.argv[1]]())
