"""What each call is answered alone, in one thread: what it is answered under load must be equal."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

import structlog
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import wire
from function.server.runner import Runner
from tests.load.replay import Call

_MOMENT = re.compile(rb"(?<![0-9])1[6-9][0-9]{8}(?![0-9])")
"""Seconds since 1970. A service that loses an endpoint notes when (function/kinds/modelservice/proxy.py)."""


class Alone(NamedTuple):
    """One call alone."""

    digest: bytes
    """Of the response, whatever the order of its maps, and apart from times."""
    cpu: float
    """Seconds."""
    floor: float
    """CPU seconds to parse the request with the SDK's message, and no more."""


def answers(calls: Iterable[Call]) -> dict[bytes, Alone]:
    """Answer calls one after the other in this process. By the bytes of the request."""
    runner = Runner(workers=1)
    with _without_log():
        return {call.data: _alone(runner, call.data) for call in calls}


@contextmanager
def _without_log() -> Iterator[None]:
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)


def swallow(calls: Iterable[Call]) -> None:
    """Answer calls, which may be malformed, and keep nothing."""
    runner = Runner(workers=1)
    with _without_log():
        for call in calls:
            with suppress(wire.MalformedRequest):
                runner.answer(call.data)


def _alone(runner: Runner, data: bytes) -> Alone:
    start = time.thread_time()
    fnv1.RunFunctionRequest.FromString(data)
    parsed = time.thread_time()
    answer = runner.answer(data)
    return Alone(digest(answer), time.thread_time() - parsed, parsed - start)


def digest(response: bytes) -> bytes:
    """A digest of a response that does not depend on the order of its maps or on the time."""
    ordered = fnv1.RunFunctionResponse.FromString(response).SerializeToString(deterministic=True)
    return sha256(_MOMENT.sub(b"0000000000", ordered)).digest()
