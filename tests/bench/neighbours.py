"""How long a short call takes while long calls of others are under way.

The long calls compute until the end. Before calls had several workers, a short one waited for all that came before it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from rich.console import Console
from rich.table import Table

from tests.bench import fleet, shuffled
from tests.bench.reconciles import Call, Deployment, Index

_LONG = 600
"""Seconds: no run takes so long."""
_LONG_CALLS = (0, 1, 12)


def main(server: Callable[[], AbstractContextManager[grpc.Channel]], call: str, console: Console, runs: int) -> None:
    """`server` runs one with the kinds of `tests.odd_server`, and gives a channel to it."""
    table = Table("long calls sent", "answered meanwhile", "short call, median ms", "slowest ms", "of alone")
    alone = 0.0
    for count in _LONG_CALLS:
        with server() as channel:
            run = channel.unary_unary(call)
            request = _short(run)
            with _long_calls(run, count) as long:
                taken = sorted(_taken(run, request) for _ in range(runs * 5))
                answered = sum(future.done() for future in long)
        middle = statistics.median(taken)
        alone = alone or middle
        table.add_row(str(count), str(answered), f"{middle:.1f}", f"{taken[-1]:.1f}", f"{middle / alone:.1f}")
    console.print(table)


@contextmanager
def _long_calls(run: grpc.UnaryUnaryMultiCallable, count: int) -> Iterator[list[grpc.Future]]:
    """Calls of a namespace each that compute until they are cancelled."""
    started = [run.future(_long(i), timeout=_LONG) for i in range(count)]
    yield started
    for future in started:
        future.cancel()


def _long(number: int) -> bytes:
    req = fnv1.RunFunctionRequest()
    metadata = {"name": "long", "namespace": f"team-{number}", "generation": 1}
    xr = {"apiVersion": "test/v1", "kind": "Steps", "metadata": metadata, "spec": {"seconds": _LONG}}
    req.observed.composite.resource.update(xr)
    return req.SerializeToString()


def _short(run: Call) -> bytes:
    """The last call of a placement."""
    objects = (*fleet.clusters(10), *fleet.replicas(50, 10, "single"))
    deployment = Deployment(run, Index(objects), fleet.deployment("single", 2))
    return shuffled.request(deployment.xr, {}, deployment.reconcile().sent[-1], tag="bench")


def _taken(run: Callable[[bytes], bytes], request: bytes) -> float:
    start = time.perf_counter()
    run(request)
    return (time.perf_counter() - start) * 1e3
