"""The client's side of the wire: what Crossplane would send, and what it makes of the answer."""

from __future__ import annotations

import socket

import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from function import wire
from function.core import ComposedResource, Condition, Event, Request, Requirement, Result
from function.sandbox import remote
from function.sandbox.errors import Fatal, Unreachable

XR = {"apiVersion": "x/v1", "kind": "X", "metadata": {"name": "a", "generation": 3}, "spec": {"ratio": 0.5, "on": True}}


def test_a_request_reads_the_same_on_the_other_side() -> None:
    """An answered requirement that found nothing is there, and empty."""
    request = Request(xr=XR, observed={"key": XR}, required={"some": (XR, XR), "none": ()})

    got = wire.decode(remote.encode(request).SerializeToString()).request

    assert (got.xr, dict(got.observed), {k: tuple(v) for k, v in got.required.items()}) == (
        request.xr,
        request.observed,
        request.required,
    )


def test_an_answer_reads_the_same_on_the_other_side() -> None:
    want = Result(
        ready=True,
        conditions=(Condition("Fine", "True", "Reason", "message"), Condition("Bad", "Unknown", "Reason")),
        resources={"key": ComposedResource(XR, ready=True), "other": ComposedResource(XR)},
        status={"count": 3, "ratio": 0.5},
        events=(Event("Moved", "told", warning=True), Event("Placed", "told")),
        requirements=(
            Requirement("all", "x/v1", "X"),
            Requirement("labelled", "x/v1", "X", match_labels={"a": "b"}, namespace="team"),
            Requirement("named", "x/v1", "X", match_name="n"),
        ),
        ttl=30,
    )
    call = wire.decode(remote.encode(Request(xr=XR)).SerializeToString())

    assert remote.decode(wire.encode(call, want)) == want


def test_where_nobody_listens_nobody_is_asked_again_and_again() -> None:
    """Without an answer nothing goes on; a reconcile that failed would be tried for ever."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        target = f"127.0.0.1:{taken.getsockname()[1]}"
        function = remote.RemoteFunction(target, patience=0.05)

        with pytest.raises(Unreachable, match=f"^no function answers at {target} in plain text within 0.05 seconds$"):
            function(Request(xr=XR))
        function.close()


def test_a_fatal_answer_is_raised() -> None:
    response = fnv1.RunFunctionResponse(results=[fnv1.Result(severity=fnv1.SEVERITY_FATAL, message="boom")])

    with pytest.raises(Fatal, match=r"^boom$"):
        remote.decode(response)
