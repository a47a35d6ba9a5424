"""A real server whose log, certificates, files or signals go wrong: no call is lost, and a sentence says why."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from crossplane.function.proto.v1 import run_function_pb2 as fnv1

from tests.support import certificates as certificates_of
from tests.support import load
from tests.support.load import Prober
from tests.support.serving import running
from tests.unit.server.test_door import code, odd
from tests.unit.server.test_probes import HTTP, asked, port
from tests.unit.server.test_server import channel

pytestmark = pytest.mark.slow

_BOUND = 120
_SERVE = [sys.executable, "-m", "tests.support.odd_server", "serve", "--insecure"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


@contextmanager
def without_log(command: str, *, wrapper: tuple[str, ...] = (), **environment: str) -> Iterator[int]:
    """A server that a shell starts with its output somewhere. Yields its port."""
    listening = free_port()
    serve = " ".join([*wrapper, *_SERVE, "--address", f"127.0.0.1:{listening}"])
    process = subprocess.Popen(["sh", "-c", command.format(serve=f"exec {serve}")], env={**os.environ, **environment})
    try:
        yield listening
        process.send_signal(signal.SIGTERM)
        assert process.wait(_BOUND) == 0
    finally:
        process.kill()
        process.wait()


def answered(listening: int) -> bool:
    request = fnv1.RunFunctionRequest()
    xr = {"apiVersion": "test/v1", "kind": "Steps", "metadata": {"name": "x"}, "spec": {"seconds": 0}}
    request.observed.composite.resource.update(xr)
    with grpc.insecure_channel(f"127.0.0.1:{listening}") as to:
        call = to.unary_unary(load.RUN)
        return bool(call(request.SerializeToString(), timeout=_BOUND, wait_for_ready=True))


@pytest.mark.parametrize(
    "command",
    ["{serve} >/dev/full", "{serve} >/dev/full 2>/dev/full", "{serve} >&-", "{serve} >&- 2>&-"],
    ids=["full disk", "full disk for both", "closed", "both closed"],
)
def test_a_log_that_cannot_be_written_ends_neither_the_server_nor_a_call(command: str) -> None:
    with without_log(command) as listening:
        assert all(answered(listening) for _ in range(3))


def test_a_log_whose_reader_has_left_or_does_not_read_is_lost_and_counted() -> None:
    reading, writing = os.pipe()
    listening, http = free_port(), free_port()
    command = [*_SERVE, "--address", f"127.0.0.1:{listening}", "--http-address", f"127.0.0.1:{http}"]
    process = subprocess.Popen(command, stdout=writing)
    os.close(writing)
    try:
        assert answered(listening)
        while "modelplane_log_lines_lost_total 0.0" in asked(http, "/metrics")[1]:  # nobody reads: the pipe fills
            assert answered(listening)
        os.close(reading)
        assert answered(listening)
        process.send_signal(signal.SIGTERM)
        assert process.wait(_BOUND) == 0
    finally:
        process.kill()
        process.wait()


def test_it_runs_as_a_user_without_a_name_or_a_home_and_without_a_folder_for_temporary_files() -> None:
    """As a container does with `runAsUser` (unshare(1) gives the process that user, where the system lets it)."""
    user = ("unshare", "--user", "--map-user=12345")
    is_possible = shutil.which("unshare") and subprocess.run([*user, "true"], check=False).returncode == 0
    wrapper = ("env", "-u", "HOME", *(user if is_possible else ()))
    with without_log("{serve}", wrapper=wrapper, TMPDIR="/nonexistent") as listening:
        assert answered(listening)


def test_without_free_files_it_serves_again_once_there_are_some() -> None:
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))  # noqa: E731
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert before[1] >= 48
    listening, http = free_port(), free_port()
    command = [*_SERVE, "--address", f"127.0.0.1:{listening}", "--http-address", f"127.0.0.1:{http}"]
    process = subprocess.Popen(command, preexec_fn=limit)  # noqa: PLW1509
    try:
        assert answered(listening)
        clients = [load.RawClient(listening) for _ in range(80)]
        for client in clients:
            client.close()
        assert answered(listening)
        assert asked(http, "/readyz")[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(_BOUND) == 0
    finally:
        process.kill()
        process.wait()


# Certificates


def mounted(folder: Path, name: str) -> None:
    """Write certificates as the kubelet does: files are links into `..data`, which is replaced at once."""
    version = folder / name
    version.mkdir()
    certificates_of.write(version)
    link = folder / "..data_tmp"
    link.symlink_to(name)
    link.rename(folder / "..data")
    for file in ("tls.crt", "tls.key", "ca.crt"):
        if not (folder / file).is_symlink():
            (folder / file).symlink_to(f"..data/{file}")


def test_certificates_are_rotated_under_load_without_a_call_that_is_lost(tmp_path: Path) -> None:
    mounted(tmp_path, "..first")
    with running("--tls-certs-dir", str(tmp_path), module="tests.support.odd_server") as server:
        with channel(tmp_path / "..first", server.port) as before:
            connected, failed, stop = before.unary_unary(load.RUN), [], threading.Event()
            connected(_steps(), timeout=_BOUND)

            def calling() -> None:
                while not stop.is_set():
                    try:
                        connected(_steps(), timeout=_BOUND)
                    except grpc.RpcError as problem:
                        failed.append(problem)

            thread = threading.Thread(target=calling)
            thread.start()
            for version in ("..second", "..third"):
                mounted(tmp_path, version)
                with channel(tmp_path / version, server.port) as after:
                    assert after.unary_unary(load.RUN)(_steps(), timeout=_BOUND)
            stop.set()
            thread.join(_BOUND)
        assert failed == []
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (shutil.rmtree, "{folder}/tls.key: No such file or directory"),
        (lambda folder: (folder / "tls.crt").unlink(), "{folder}/tls.crt: No such file or directory"),
        (lambda folder: (folder / "ca.crt").write_bytes(b""), "{folder}/ca.crt: it is empty"),
    ],
    ids=["no folder", "no file", "empty"],
)
def test_certificates_that_cannot_be_used_are_one_sentence(
    tmp_path: Path, spoil: Callable[[Path], object], why: str
) -> None:
    folder = tmp_path / "pki"
    folder.mkdir()
    certificates_of.write(folder)
    spoil(folder)
    command = [sys.executable, "-m", "function", "serve", "--address", "127.0.0.1:0", "--tls-certs-dir", str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_BOUND)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"Error: cannot serve: --tls-certs-dir: {why.format(folder=folder)}")
    assert len(ended.stderr.splitlines()) == 1


# Signals and limits


def test_sigterm_under_load_loses_no_call_of_a_client_that_tries_again() -> None:
    with odd() as (old, _), odd() as (new, _):
        with grpc.insecure_channel(old.address) as first, grpc.insecure_channel(new.address) as second:
            ends: list[str] = []
            go = threading.Event()

            def calling() -> None:
                for _ in range(40):
                    try:
                        first.unary_unary(load.RUN)(_steps(0.01), timeout=_BOUND)
                        ends.append("first")
                    except grpc.RpcError as problem:
                        ends.append(problem.code().name)
                        second.unary_unary(load.RUN)(_steps(0.01), timeout=_BOUND)
                    if len(ends) >= 50:
                        go.set()

            threads = [threading.Thread(target=calling) for _ in range(10)]
            for thread in threads:
                thread.start()
            assert go.wait(_BOUND)
            old.process.send_signal(signal.SIGTERM)
            old.process.send_signal(signal.SIGTERM)
            for thread in threads:
                thread.join(_BOUND)
        assert old.process.wait(_BOUND) == 0
        assert len(ends) == 400
        assert set(ends) <= {"first", "UNAVAILABLE", "CANCELLED"}


def test_a_call_without_a_deadline_ends_at_the_servers_limit_with_what_took_the_time() -> None:
    with odd("--max-call-seconds", "1", "--workers", "1", *HTTP) as (server, caller):
        prober = Prober(port(server))
        with prober:
            call = caller.start("Steps", timeout=None, seconds=600)
            assert code(call) == grpc.StatusCode.DEADLINE_EXCEEDED
        why = "computing it takes more than 1 seconds, the limit of --max-call-seconds; it was in "
        assert call.details().startswith(why)
        assert caller.start("Steps", seconds=0).result(_BOUND)
        assert prober.probed.failed == []


def _steps(seconds: float = 0) -> bytes:
    request = fnv1.RunFunctionRequest()
    xr = {"apiVersion": "test/v1", "kind": "Steps", "metadata": {"name": "x"}, "spec": {"seconds": seconds}}
    request.observed.composite.resource.update(xr)
    return request.SerializeToString()
