"""Commands that read a cluster show no canary: of a kubeconfig, of a credential plugin, of an API server's answer."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from function.main import main
from tests.support.canaries import Canary, search
from tests.support.handlers import answered_by

ONE, WORD = Canary("kubeconfig"), Canary("a word", is_word=True)
ANSWER = Canary("answer")
COMMANDS = (["top"], ["top", "-o", "json"], ["plan", "--live"], ["explain", "--live", "a"], ["observe", "-o", "json"])
User = dict[str, Any]


class _Server(BaseHTTPRequestHandler):
    """Refuses every request with a Status that quotes it."""

    code = 403

    def do_GET(self) -> None:
        quoted = f"{self.headers.get('Authorization')} Bearer {ANSWER.token} token={ANSWER.token}"
        body = {
            "kind": "Status",
            "code": self.code,
            "reason": "X",
            "message": f"no: {quoted}",
            "details": {"x": quoted},
        }
        raw = json.dumps(body).encode()
        self.send_response(self.code, "no")
        self.send_header("Content-Type", "application/json")
        self.send_header("WWW-Authenticate", f"Bearer {ANSWER.token}")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


def refusing(code: int) -> AbstractContextManager[str]:
    return answered_by(type("Handler", (_Server,), {"code": code}))


def kubeconfig(folder: Path, user: User, cluster: User) -> str:
    context = {"name": "here", "context": {"cluster": "here", "user": "me"}}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": cluster}],
        "users": [{"name": "me", "user": user}],
        "contexts": [context],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return str(path)


def leaks(command: list[str], path: str) -> tuple[int, Any]:
    got = CliRunner().invoke(
        main, [*command, "--kubeconfig", path], env={"HTTPS_PROXY": f"http://u:{WORD.token}@127.0.0.1:1"}
    )
    assert got.output
    return got.exit_code, search([ONE, WORD, ANSWER], {"stdout": got.stdout, "stderr": got.stderr})


@pytest.mark.slow
@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize("command", COMMANDS[:1])
def test_an_answer_is_not_repeated(command: list[str], code: int, tmp_path: Path) -> None:
    with refusing(code) as url:
        exit_code, leaked = leaks(command, kubeconfig(tmp_path, {"token": ONE.token}, {"server": url}))

    assert (exit_code != 0, leaked) == (True, [])


def plugin(folder: Path, script: str) -> User:
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\necho '{ONE.token} token={WORD.token}' >&2\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    env = [{"name": "TOKEN", "value": ONE.token}]
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "args": [ONE.token], "env": env}
    }


_PLUGINS = ("exit 1", f"echo '{ONE.token}'", f'echo \'{{"kind": "{ONE.token}"}}\'', f"printf '\\000{ONE.token}'")
USERS: dict[str, Callable[[Path], User]] = {
    "a token": lambda _: {"token": ONE.token},
    "a token with a line break": lambda _: {"token": f"{ONE.token}\n{WORD.token}"},
    "a token that is a map": lambda _: {"token": {ONE.token: WORD.token}},
    "a password": lambda _: {"username": "u", "password": ONE.odd},
    "a key that is none": lambda _: {"client-certificate-data": ONE.base64(), "client-key-data": WORD.base64(WORD.pem)},
    "a key that is no base64": lambda _: {"client-certificate-data": ONE.token + "!", "client-key-data": WORD.token},
    "a user that is a text": lambda _: ONE.token,  # type: ignore[return-value]
    "an auth provider": lambda _: {"auth-provider": {"name": "gcp", "config": {"access-token": ONE.token}}},
    **{f"plugin {n}": lambda folder, script=script: plugin(folder, script) for n, script in enumerate(_PLUGINS)},
}
SERVERS = (
    "http://127.0.0.1:1",
    f"http://u:{ONE.token}@127.0.0.1:1",
    f"http://u:{ONE.token[:12]}/{ONE.token[12:]}@127.0.0.1:1",
    f"http://u:{ONE.token}@{WORD.token}@127.0.0.1:1",
    f"http://127.0.0.1:1/?token={ONE.token}",
    f"http://u:{ONE.token}@[127.0.0.1:x",
    ONE.token,
)


@pytest.mark.parametrize("user", USERS)
def test_a_user_is_not_told(user: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = kubeconfig(tmp_path, USERS[user](tmp_path), {"server": SERVERS[0]})

    assert (leaks(COMMANDS[0], path)[1], search([ONE, WORD], dict(zip("oe", capfd.readouterr(), strict=True)))) == (
        [],
        [],
    )


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS, ids=range(len(SERVERS)))
@pytest.mark.parametrize("field", ["server", "proxy-url"])
def test_a_url_is_told_without_its_user(field: str, server: str, tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": ONE.token}, {"server": SERVERS[0], field: server})

    assert leaks(COMMANDS[0], path)[1] == []


@pytest.mark.parametrize(
    "content",
    [
        ONE.kubeconfig.replace("kind: Config", "kind Config"),
        f"token: {ONE.token}: x",
        f"- {ONE.token}",
        f"\0{ONE.token}",
    ],
    ids=["no YAML", "two colons", "a list", "NUL"],
)
def test_a_file_that_is_no_kubeconfig_is_not_quoted(content: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content)

    assert leaks(COMMANDS[0], str(path))[1] == []


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)
@pytest.mark.parametrize("user", USERS)
def test_no_other_command_tells_a_user(command: list[str], user: str, tmp_path: Path) -> None:
    with refusing(403) as url:
        path = kubeconfig(tmp_path, USERS[user](tmp_path), {"server": url})

        assert leaks(command, path)[1] == []
