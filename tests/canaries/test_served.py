"""What the server tells: gRPC statuses, fatal results, log lines and metrics have no canary, whatever is wrong."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
import structlog
from crossplane.function.proto.v1 import run_function_pb2 as fnv1
from google.protobuf import json_format
from prometheus_client import generate_latest

from function import registry
from function.core import deadline
from function.core.errors import DeadlineExceeded
from function.server import log
from function.server.runner import Runner
from tests.support.canaries import Canary, Leak, search
from tests.support.serving import running

ONE, WORD = Canary("a request"), Canary("a word in a request", is_word=True)
TOKEN = f"{ONE.token} {WORD.token}"
DEPTHS = ("requirements", "compose", "held")


class Told:
    """Stands for the context of a call with a request. It tells the status that the call is aborted with."""

    def __init__(self, data: bytes) -> None:
        self.data, self.status = data, ""

    async def read(self) -> bytes:
        return self.data

    def add_done_callback(self, _: object) -> None:
        """The call ends with the test."""

    def peer(self) -> str:
        return "ipv4:127.0.0.1:1"

    async def abort(self, code: grpc.StatusCode, why: str) -> None:
        self.status = f"{code} {why}"
        raise grpc.aio.AbortError

    def time_remaining(self) -> float | None:
        return None


@pytest.fixture(params=[False, True], ids=["JSON", "debug"])
def is_debug(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Each configuration of the log. The one of before is there again after the test."""
    before, handlers, level = structlog.get_config(), logging.root.handlers[:], logging.root.level
    log.configure(debug=request.param)
    yield request.param
    structlog.configure(**before)
    logging.root.handlers[:], logging.root.level = handlers, level


def request(**fields: Any) -> bytes:
    """A request with canaries in every part that the function passes on or ignores."""
    xr = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCaller", "metadata": {"name": "a", "namespace": "ml"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": ONE.base64(TOKEN)}}
    given = {
        "meta": {"tag": "0123456789abcdef"},
        "observed": {"composite": {"resource": xr, "connectionDetails": {"token": ONE.base64(TOKEN)}}},
        "requiredResources": {"secret": {"items": [{"resource": secret}]}},
        "credentials": {"cloud": {"credentialData": {"data": {"key": ONE.base64(TOKEN)}}}},
        **fields,
    }
    return json_format.ParseDict(given, fnv1.RunFunctionRequest()).SerializeToString()


def answered(data: bytes, capfd: pytest.CaptureFixture[str]) -> tuple[bytes | None, list[Leak]]:
    """Return the answer, and the canaries in all else that leaves the process."""
    context, found = Told(data), None
    try:
        found = asyncio.run(Runner(workers=1).run(None, context))  # type: ignore[arg-type]
    except grpc.aio.AbortError:
        assert context.status
    out = capfd.readouterr()
    answer = json_format.MessageToJson(fnv1.RunFunctionResponse.FromString(found)) if found is not None else ""
    told = {"status": context.status, "stdout": out.out, "stderr": out.err, "metrics": generate_latest().decode()}
    assert out.out, "nothing was logged"
    return found, search([ONE, WORD], {**told, "answer": answer})


def test_credentials_and_connection_details_go_nowhere(is_debug: bool, capfd: pytest.CaptureFixture[str]) -> None:
    got, leaked = answered(request(), capfd)

    assert (got is not None, leaked) == (True, [])


@pytest.mark.parametrize(
    "broken",
    [
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCaller", "metadata": {TOKEN: TOKEN}},
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCaller", "metadata": TOKEN},
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCaller", "metadata": {"name": [TOKEN]}},
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCaller", "metadata": {"name": "a", "labels": TOKEN}},
        {"apiVersion": "modelplane.ai/v1alpha1", "kind": [TOKEN], "metadata": {"name": "a"}},
        {"apiVersion": {TOKEN: TOKEN}, "kind": "ModelCaller", "metadata": {"name": "a"}},
        TOKEN,
    ],
    ids=lambda one: (
        "-".join(sorted(key for key, value in one.items() if TOKEN in str(value))) if one != TOKEN else "no object"
    ),
)
def test_a_malformed_object_is_not_quoted(broken: Any, is_debug: bool, capfd: pytest.CaptureFixture[str]) -> None:
    is_object = isinstance(broken, dict)
    data = request(observed={"composite": {"resource": broken}}) if is_object else b"\x0a" + TOKEN.encode()

    assert answered(data, capfd)[1] == []


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(
    "raised", [ValueError, RecursionError, MemoryError, UnicodeDecodeError, ExceptionGroup], ids=str
)
def test_a_bug_is_told_without_values(
    depth: str, raised: type[Exception], is_debug: bool, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    key = ("modelplane.ai/v1alpha1", "ModelCaller")
    monkeypatch.setattr(
        "function.registry.COMPOSERS", {**registry.COMPOSERS, key: _with_bug(registry.COMPOSERS[key], depth, raised)}
    )

    got, leaked = answered(request(), capfd)

    assert (got is not None and b"a bug in modelplane" in got, leaked) == (True, [])


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_call_that_is_given_up_is_told_without_values(
    is_cancelled: bool, is_debug: bool, capfd: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr("function.registry.of", _given_up(is_cancelled))

    assert answered(request(), capfd)[1] == []


def test_an_exception_that_nobody_catches_is_told_without_values(
    is_debug: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    loop = asyncio.new_event_loop()
    log.of_loop(loop, {"message": TOKEN, "exception": ValueError(TOKEN), "future": TOKEN})
    loop.close()
    logging.getLogger("grpc._cython").error("failed", exc_info=ValueError(TOKEN))

    out = capfd.readouterr()

    assert ("ValueError" in out.out, search([ONE, WORD], {"out": out.out, "err": out.err})) == (True, [])


def _with_bug(composer: Any, depth: str, raised: type[Exception]) -> Any:
    def bug(_: Any) -> Any:
        local = {TOKEN: [TOKEN]}
        try:
            json.loads(f"{TOKEN} {local}")
        except ValueError as cause:
            raise _made(raised) from cause

    class Buggy:
        kind = composer.kind

        def __call__(self, request: Any) -> Any:
            return _deep(lambda: bug(request), DEPTHS.index(depth) * 30)

    return Buggy()


def _deep(act: Callable[[], Any], frames: int) -> Any:
    return _deep(act, frames - 1) if frames else act()


def _made(raised: type[Exception]) -> Exception:
    if raised is UnicodeDecodeError:
        return UnicodeDecodeError("utf-8", TOKEN.encode(), 0, 1, TOKEN)
    return ExceptionGroup(TOKEN, [ValueError(TOKEN)]) if raised is ExceptionGroup else raised(TOKEN)


def _given_up(is_cancelled: bool) -> Callable[[Any], Any]:
    def of(_: Any) -> Any:
        local = TOKEN
        assert local
        deadline.check()
        raise DeadlineExceeded(cancelled=is_cancelled)

    return of


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--debug",)], ids=["JSON", "debug"])
def test_a_process_does_not_log_requests_even_if_grpc_is_told_to_be_verbose(options: tuple[str, ...]) -> None:
    with (
        running("--insecure", *options, GRPC_VERBOSITY="debug", HF_TOKEN=ONE.token) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        call = channel.unary_unary("/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction")
        call(request(), timeout=60)
        with pytest.raises(grpc.RpcError) as refused:
            call(b"\x0a" + TOKEN.encode(), timeout=60)
        with pytest.raises(grpc.RpcError) as unknown:
            channel.unary_unary("/grpc.health.v1.Health/Check")(TOKEN.encode(), timeout=60)
        server.stop()
        told = {"log": server.log.read_text(), "refused": str(refused.value), "unknown": str(unknown.value)}

    assert "Answered" in told["log"]
    assert search([ONE, WORD], told) == []
