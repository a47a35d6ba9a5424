"""A real server that may write no file: as with `readOnlyRootFilesystem`, and without a home or temporary folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support import certificates as certificates_of
from tests.support import load, rights
from tests.unit.server.test_probes import asked
from tests.unit.server.test_server import channel
from tests.unit.server.under_load.test_faults import _steps as request
from tests.unit.server.under_load.test_faults import free_port

pytestmark = pytest.mark.slow

_BOUND = 120
_ROOT = Path(__file__).parents[4]
_READ_ONLY = (
    "unshare",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    'mount -o remount,bind,ro / && ! touch "$0" 2>/dev/null && exec "$@"',
)
"""Mounts the root read-only, sees that a file cannot be made, and executes what follows."""


def read_only(probe: Path) -> tuple[str, ...]:
    """A command that shows a read-only root to another, where the system lets it. Elsewhere the limit alone does it."""
    wrapper = (*_READ_ONLY, str(probe))
    can = (
        shutil.which("unshare") and subprocess.run([*wrapper, "true"], check=False, capture_output=True).returncode == 0
    )
    return wrapper if can else ()


def bound() -> None:
    rights.obey_permissions()
    rights.write_no_file()


@contextmanager
def serving(folder: Path, certificates: Path, environment: Mapping[str, str | None]) -> Iterator[tuple[int, int]]:
    """A server in a folder, which logs to a pipe. Yields its ports. It must end by itself, and leave its log."""
    own, http = free_port(), free_port()
    command = [*read_only(folder / "probe"), sys.executable, "-m", "tests.support.odd_server", "serve"]
    command += ["--address", f"127.0.0.1:{own}", "--http-address", f"127.0.0.1:{http}"]
    wanted = {**os.environ, "PYTHONPATH": str(_ROOT), "TLS_SERVER_CERTS_DIR": str(certificates), **environment}
    env = {name: value for name, value in wanted.items() if value is not None}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    process = subprocess.Popen(command, cwd=folder, env=env, preexec_fn=bound, **output)  # noqa: PLW1509
    try:
        yield own, http
        process.send_signal(signal.SIGTERM)
        logged, _ = process.communicate(timeout=_BOUND)
        assert process.returncode == 0, logged
        assert '"msg": "Stopped"' in logged.splitlines()[-1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("place", ["unwritable", "missing"])
def test_it_serves_where_nothing_can_be_written(tmp_path: Path, place: str) -> None:
    certificates = tmp_path / "pki"
    certificates.mkdir()
    certificates_of.write(certificates)
    folder = tmp_path / "unwritable"
    folder.mkdir(0o555)
    places = dict.fromkeys(("HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"), str(tmp_path / place))
    with serving(folder, certificates, {**places, "PYTHONDONTWRITEBYTECODE": None}) as (own, http):
        with channel(certificates, own) as to:
            assert to.unary_unary(load.RUN)(request(), timeout=_BOUND, wait_for_ready=True)
            answer = health_pb2_grpc.HealthStub(to).Check(health_pb2.HealthCheckRequest(), timeout=_BOUND)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert asked(http, "/readyz") == (200, "ok\n")
        assert "modelplane_log_lines_lost_total 0.0" in asked(http, "/metrics")[1]
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "missing").exists()
