"""The observer as a process: its probes answer, and SIGTERM ends it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from function.main import main
from tests.support.api_server_standin import CORE, DRA, ApiServer, serving
from tests.support.observed import gpus, node, resource_slice

PATIENCE = 30.0


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving(ApiServer()) as server:
        for path in (f"{CORE}/pods", f"{CORE}/configmaps", f"{CORE}/events", f"{DRA}/resourceclaims"):
            server.serve(path)
        server.serve(f"{CORE}/nodes", node("a"))
        server.serve(f"{DRA}/resourceslices", resource_slice("a", gpus(8)))
        yield server


def status(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.slow
def test_probes_answer_and_sigterm_ends_it(api: ApiServer, tmp_path: Path) -> None:
    command = ["observe", "--follow", "--kubeconfig", str(api.kubeconfig(tmp_path / "config"))]
    process = subprocess.Popen(
        [sys.executable, "-c", "from function.main import main; main()", *command, "--address", "127.0.0.1:0"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        started = re.search(r'"port": (\d+)', process.stdout.readline())
        assert started is not None
        url = f"http://127.0.0.1:{started[1]}"
        end = time.monotonic() + PATIENCE
        while (got := status(f"{url}/readyz"))[0] != 200:
            assert time.monotonic() < end, got
            time.sleep(0.05)
        assert (got, status(f"{url}/healthz"), status(f"{url}/other")[0]) == ((200, "ok\n"), (200, "ok\n"), 404)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("arguments", "want"),
    [
        (["--context", "x"], "--context needs --kubeconfig"),
        (["--follow"], "--follow needs --kubeconfig"),
        (["--address", "a b"], "neither a host name"),
        (["--kubeconfig", "/nowhere/config"], "/nowhere/config"),
        (["--address", "127.0.0.1:0"], "pass --kubeconfig"),
    ],
)
def test_what_cannot_be_observed_is_an_error(arguments: list[str], want: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)

    got = CliRunner().invoke(main, ["observe", *arguments])

    assert (got.exit_code != 0, want in got.output, "Traceback" in got.output) == (True, True, False)


@pytest.mark.parametrize("content", ["", "- a", "clusters: 1", "a: [", "token: secret-in-file\nusers: ]"])
def test_a_file_that_is_no_kubeconfig_is_an_error_that_does_not_quote_it(content: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(content)

    got = CliRunner().invoke(main, ["observe", "--kubeconfig", str(file)])

    assert (got.exit_code, "secret-in-file" in got.output, str(file) in got.output) == (1, False, True)


def with_plugin(api: ApiServer, file: Path, script: str, version: str = "v1") -> Path:
    """A kubeconfig with a credential plugin."""
    config = json.loads(api.kubeconfig(file).read_text())
    plugin = {"apiVersion": f"client.authentication.k8s.io/{version}", "command": "sh", "args": ["-c", script]}
    config["users"][0]["user"] = {"exec": plugin}
    file.write_text(json.dumps(config))
    return file


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_credential_plugin_is_told_its_version_and_run(api: ApiServer, tmp_path: Path, version: str) -> None:
    told = tmp_path / "told"
    answer = json.dumps({"status": {"token": api.token}})
    config = with_plugin(api, tmp_path / "config", f"echo \"$KUBERNETES_EXEC_INFO\" > {told}; echo '{answer}'", version)

    got = CliRunner().invoke(main, ["observe", "--kubeconfig", str(config), "-o", "json"])

    assert (got.exit_code, list(json.loads(got.stdout)["pools"])) == (0, ["h100"])
    assert json.loads(told.read_text())["apiVersion"] == f"client.authentication.k8s.io/{version}"


@pytest.mark.parametrize(
    "script", ["exit 3", "echo {}", "echo secret-of-a-plugin", "echo '{\"secret-of-a-plugin\": 1}'", "echo []"]
)
def test_a_credential_plugin_that_fails_is_an_error_that_does_not_quote_it(
    api: ApiServer, tmp_path: Path, script: str
) -> None:
    config = with_plugin(api, tmp_path / "config", script)

    got = CliRunner().invoke(main, ["observe", "--kubeconfig", str(config)])

    assert (got.exit_code, "secret-of-a-plugin" in got.output, "a bug" in got.output) == (1, False, False)


def test_a_kubeconfig_with_another_token_is_an_error(api: ApiServer, tmp_path: Path) -> None:
    config = api.kubeconfig(tmp_path / "config")
    api.token = "another"

    got = CliRunner().invoke(main, ["observe", "--kubeconfig", str(config)])

    assert (got.exit_code, got.stderr) == (1, "Error: nodes: the API server does not accept the credentials\n")
