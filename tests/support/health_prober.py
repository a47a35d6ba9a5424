"""`python health_prober.py PORT [CERTIFICATES]`: asks gRPC's health service until its standard input ends.

It checks on a new connection each time, as the kubelet does, and watches on another. Then it tells what came.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

SERVICES = ("", "apiextensions.fn.proto.v1.FunctionRunnerService")
_TIMEOUT = 60
_PAUSE = 0.02
_SERVING = health_pb2.HealthCheckResponse.SERVING


def main(port: int, certificates: Path | None) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    with health(port, certificates) as watched:
        watch = watched.Watch(health_pb2.HealthCheckRequest())
        failed = [] if next(watch).status == _SERVING else ["Watch"]
        threading.Thread(target=lambda: failed.extend(_unexpected(watch, ended)), daemon=True).start()
        print("asking", flush=True)
        asked, slowest = 0, 0.0
        while not ended.wait(_PAUSE):
            for service in SERVICES:
                start = time.monotonic()
                if problem := _asked(port, certificates, service):
                    failed.append(f"Check {service}: {problem}")
                asked, slowest = asked + 1, max(slowest, time.monotonic() - start)
    print(json.dumps({"asked": asked, "failed": failed, "slowest": slowest}))


@contextmanager
def health(port: int, certificates: Path | None = None) -> Iterator[health_pb2_grpc.HealthStub]:
    """A client of the service, on a connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    with _channel(port, certificates, options) as channel:
        yield health_pb2_grpc.HealthStub(channel)


def _channel(port: int, certificates: Path | None, options: list[tuple[str, int]]) -> grpc.Channel:
    if certificates is None:
        return grpc.insecure_channel(f"127.0.0.1:{port}", options=options)
    key, own, authority = ((certificates / name).read_bytes() for name in ("tls.key", "tls.crt", "ca.crt"))
    return grpc.secure_channel(f"localhost:{port}", grpc.ssl_channel_credentials(authority, key, own), options=options)


def _asked(port: int, certificates: Path | None, service: str) -> str:
    """What is wrong with the answer."""
    with health(port, certificates) as to:
        try:
            answer = to.Check(health_pb2.HealthCheckRequest(service=service), timeout=_TIMEOUT)
        except grpc.RpcError as problem:
            return repr(problem)
        return "" if answer.status == _SERVING else repr(answer)


def _unexpected(watch: Iterator[health_pb2.HealthCheckResponse], ended: threading.Event) -> Iterator[str]:
    """What comes of a watch before the end: nothing may."""
    try:
        for answer in watch:
            yield f"Watch: {answer}"
        problem = "Watch: it ended"
    except grpc.RpcError as error:
        problem = f"Watch: {error!r}"
    if not ended.is_set():
        yield problem


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
