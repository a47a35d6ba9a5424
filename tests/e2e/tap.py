"""Stands between Crossplane and the function: keeps a record of each call, and lets no response expire.

Crossplane calls again when the time to live of a response has passed. Such calls say nothing about who was woken, and
on a slow machine there are more of them. Here every response lives for a day, so each call has a cause.
"""

import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import wire
from tests.e2e.pki import Pki

DAY = 24 * 60 * 60
# A message that follows another in the same bytes is merged into it (protobuf, "Last One Wins").
LASTING = fnv1.RunFunctionResponse(meta=fnv1.ResponseMeta(ttl={"seconds": DAY})).SerializeToString()
CALLS_AT_ONCE = 32  # more than the function has workers: those that wait for one do so in the function
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]


class Call(NamedTuple):
    """A call that the function has answered."""

    kind: str
    name: str
    request_bytes: int


@dataclass(slots=True)
class Tap:
    """Every call since the start, in the order of the answers."""

    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, request: bytes) -> None:
        origin = wire.peek(request)
        with self.lock:
            self.calls.append(Call(origin.kind, origin.name, len(request)))

    def count(self, kind: str, name: str, since: int = 0) -> int:
        return sum((one.kind, one.name) == (kind, name) for one in self.calls[since:])


@dataclass(frozen=True, slots=True)
class Forwarder(grpc.GenericRpcHandler):
    """Passes the bytes of every method on."""

    tap: Tap
    channel: grpc.Channel

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        forward: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(details.method)

        def run(request: bytes, context: grpc.ServicerContext) -> bytes:
            try:
                answer = forward(request, timeout=context.time_remaining())
            except grpc.RpcError as error:
                context.abort(error.code(), error.details() or "")
            self.tap.note(request)
            return answer + LASTING

        return grpc.unary_unary_rpc_method_handler(run)


@contextmanager
def tapping(pki: Pki, port: int) -> Iterator[tuple[Tap, int]]:
    """Listen in front of the function on a port of loopback. Gives what is recorded, and the port to call."""
    tap = Tap()
    with grpc.secure_channel(f"127.0.0.1:{port}", client_credentials(pki.client), options=UNLIMITED) as channel:
        server = grpc.server(futures.ThreadPoolExecutor(CALLS_AT_ONCE), options=UNLIMITED)
        server.add_generic_rpc_handlers((Forwarder(tap, channel),))
        entry = server.add_secure_port("127.0.0.1:0", server_credentials(pki.server))
        server.start()
        try:
            yield tap, entry
        finally:
            server.stop(grace=0).wait()


def client_credentials(folder: Path) -> grpc.ChannelCredentials:
    authority, key, certificate = read(folder)
    return grpc.ssl_channel_credentials(authority, key, certificate)


def server_credentials(folder: Path) -> grpc.ServerCredentials:
    authority, key, certificate = read(folder)
    return grpc.ssl_server_credentials([(key, certificate)], root_certificates=authority, require_client_auth=True)


def read(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / name).read_bytes() for name in ("ca.crt", "tls.key", "tls.crt"))
