"""Many calls at once give the same answers as one after the other."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import registry
from function.cel import selector
from function.fleet import clusters as published
from function.fleet import replicas as standing
from function.sandbox import remote
from function.sandbox.settle import resolve
from function.server.runner import Runner
from tests.support.cases import CASES, load

_THREADS = 8


@pytest.fixture(autouse=True)
def _threads_in_turn() -> Iterator[None]:
    """Threads take turns often, so that they meet."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
def test_answers_of_many_threads_are_those_of_one() -> None:
    runner = Runner(workers=1)
    requests = [data for case in CASES for data in _requests(case)]
    one_by_one = [_bytes(runner.answer(data)) for data in requests]
    order = sorted(range(len(requests)), key=lambda i: i * 7919 % len(requests))
    for cache in (published.STATUSES, published.SHAPES, standing.TAKEN):
        cache.clear()
    selector.clear_caches()
    with ThreadPoolExecutor(_THREADS) as threads:
        at_once = dict(zip(order, threads.map(lambda i: _bytes(runner.answer(requests[i])), order), strict=True))
    assert [i for i, want in enumerate(one_by_one) if at_once[i] != want] == []


def _requests(case) -> list[bytes]:
    """A case's first call, and the one in which all that it asks for is answered."""
    request, objects = load(case)
    required = resolve(registry.compose(request).requirements, objects)
    return [remote.encode(r).SerializeToString() for r in (request, replace(request, required=required))]


def _bytes(answer: bytes) -> bytes:
    """With maps in order."""
    return fnv1.RunFunctionResponse.FromString(answer).SerializeToString(deterministic=True)
