"""No command with `--live` shows a canary of a control cluster, of its answers, or of the kubeconfig that names it.

Canaries are in every Secret, whether it may be read or not, in managed fields and annotations of kubectl, in messages
of Crossplane and of providers, in errors of the API server that quote a token, and in all fields of a user.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from function.main import main
from tests.support import live_fleets
from tests.support.api_server_standin import CORE, ApiServer, _Handler, serving
from tests.support.canaries import Canary, search
from tests.support.canary_places import Object, Planter

EXAMPLE = "tiers"
TOKEN, ENTRY, PROXY = Canary("token"), Canary("a word", is_word=True), Canary("proxy", is_word=True)
CLUSTER, DEPLOYMENT, ENDPOINT = "{cluster}", "{deployment}", "{endpoint}"
COMMANDS: dict[str, tuple[str, ...]] = {
    "top": ("top",),
    "plan": ("plan", "--live", "--all"),
    "explain a deployment": ("explain", "--live", DEPLOYMENT),
    "explain a cluster": ("explain", "--live", f"InferenceCluster/{CLUSTER}"),
    "explain an endpoint": ("explain", "--live", ENDPOINT),
}
PAGES = ("plan", "explain a deployment")
"""Commands that write a page, too."""


def options(name: str, option: str) -> list[str]:
    """The choices of an option of a command."""
    command = main.get_command(click.Context(main), name)
    assert command is not None
    params = [one for one in command.params if option in one.opts and isinstance(one.type, click.Choice)]
    return [str(choice) for one in params for choice in one.type.choices]  # type: ignore[attr-defined]


RUNS = [(name, form) for name, words in COMMANDS.items() for form in options(words[0], "--output")]
REFUSALS = [*itertools.product(("", "/objects", "/modelcaches"), (403, 500)), ("", 401), ("", 429), ("/objects", 410)]
"""A part of the paths that are refused, and the status."""


@dataclass(frozen=True)
class Control:
    """A control cluster with canaries."""

    api: ApiServer
    canaries: list[Canary]
    words: dict[str, str]

    def kubeconfig(self, folder: Path, user: Object | None = None) -> Path:
        file = self.api.kubeconfig(folder / "kubeconfig")
        config = json.loads(file.read_text())
        config["users"][0]["user"] = user or {"token": self.api.token}
        config["clusters"][0]["cluster"]["server"] = self.api.url
        file.write_text(json.dumps(config))
        return file

    def run(self, name: str, folder: Path, *more: str, user: Object | None = None) -> tuple[Result, dict[str, str]]:
        """Run a command. Return its result, and all that it told."""
        page = folder / "page.html"
        words = [self.words.get(word, word) for word in COMMANDS[name]]
        words = [word.replace(CLUSTER, self.words[CLUSTER]) for word in words]
        pages = ["--html", str(page)] if name in PAGES else []
        got = CliRunner().invoke(
            main,
            [*words, "--kubeconfig", str(self.kubeconfig(folder, user)), *pages, *more],
            env={
                "MODELPLANE_TRACEBACK": "1",
                "ALL_PROXY": f"http://u:{PROXY.token}@127.0.0.1:1",
                "NO_PROXY": "127.0.0.1",
            },
        )
        return got, {"out": got.stdout, "err": got.stderr, "page": page.read_text() if page.exists() else ""}

    def leaks(self, told: dict[str, str]) -> list[Any]:
        return search([*self.canaries, TOKEN, ENTRY, PROXY], told)


@pytest.fixture(scope="module")
def control() -> Iterator[Control]:
    objects = [one for one in copy.deepcopy(live_fleets.settled(EXAMPLE)) if one["kind"] != "Secret"]
    known, unread = Planter(refused=True, words=True), Planter()
    secrets = [_secret(name) for name in ("hub", "cloud")]
    for secret in secrets:
        unread.secret(secret)
    known.everything(objects)
    for one in objects:
        for number, field in enumerate(("managedFields", "annotations")):
            _of_others(one, field, unread.canary(f"{field} {number} of {one['kind']} {one['metadata']['name']}"))
        _say(one, unread)
    words = {CLUSTER: "InferenceCluster", DEPLOYMENT: "ModelDeployment", ENDPOINT: "ModelEndpoint"}
    with serving(ApiServer(token=TOKEN.token)) as api:
        live_fleets.serve(api, objects)
        api.serve(f"{CORE}/secrets", *secrets)
        named = {word: _name(next(one for one in objects if one["kind"] == kind)) for word, kind in words.items()}
        yield Control(api, [*known.canaries.values(), *unread.canaries.values()], named)


def _secret(name: str) -> Object:
    metadata = {"name": name, "namespace": "ml-team"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"token": "eA==", "kubeconfig": "eA=="}}


def _of_others(one: Object, field: str, canary: Canary) -> None:
    metadata = one["metadata"]
    if field == "managedFields":
        metadata[field] = [{"manager": canary.token, "fieldsV1": {f"f:{canary.token}": {}}}]
    else:
        metadata[field] = {**metadata.get(field, {}), "example.org/key": canary.token, f"x/{canary.token}": "x"}
        metadata["labels"] = {**metadata.get("labels", {}), "example.org/owner": canary.token}


def _say(one: Object, unread: Planter) -> None:
    """Let every condition quote the Secrets that are not read, by values that only their form tells."""
    said = ", ".join(
        f"\x1b[31mBearer\x1b[0m {canary.token}" for canary in unread.canaries.values() if "Secret" in canary.place
    )
    conditions = one.get("status", {}).get("conditions", [])
    for condition in conditions if isinstance(conditions, list) else ():
        condition["message"] = f"{condition.get('message', '')} {said}"


def _name(one: Object) -> str:
    namespace = one["metadata"].get("namespace")
    return f"{one['kind']}/{namespace}/{one['metadata']['name']}" if namespace else str(one["metadata"]["name"])


def test_top_shows_no_canary(control: Control, tmp_path: Path) -> None:
    got, told = control.run("top", tmp_path, "-o", "wide")

    assert (got.exit_code, control.leaks(told)) == (0, [])
    assert not any("secrets" in path for _, path, _ in control.api.requests)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), RUNS)
def test_no_command_shows_a_canary(name: str, form: str, control: Control, tmp_path: Path) -> None:
    got, told = control.run(name, tmp_path, "-o", form)

    assert "a bug in modelplane" not in got.output, got.output
    assert got.stdout, got
    assert ("<html" in told["page"]) == (name in PAGES)
    assert control.leaks(told) == []


@pytest.fixture
def quoting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of the API server quote the token of the request at their end, where they are cut."""

    def status(self: Any, code: int, message: str) -> None:
        given = f"{self.headers.get('Authorization')} token={TOKEN.token} {TOKEN.base64()}"
        said = f"{message}: {'.' * 190} {TOKEN.token} {given} \x1b[1mBearer\x1b[0m {TOKEN.token}\r\n{TOKEN.token}"
        self._json(code, {"kind": "Status", "code": code, "message": said, "details": {"name": given}})

    monkeypatch.setattr(_Handler, "_status", status)


@pytest.mark.slow
@pytest.mark.usefixtures("quoting")
@pytest.mark.parametrize("name", ["top", "plan"])
@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_an_error_is_not_repeated(
    name: str, refusal: tuple[str, int], control: Control, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    part, status = refusal
    refused = [path for path in control.api.objects if part in path]
    monkeypatch.setattr(control.api, "refuses", dict.fromkeys(refused, status))

    got, told = control.run(name, tmp_path)

    assert got.output
    assert "a bug in modelplane" not in got.output, got.output
    assert control.leaks(told) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["top", "plan", "explain a deployment"])
def test_a_bug_is_told_without_values(
    name: str, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def bug(*_: Any, **__: Any) -> Any:
        local = {TOKEN.token: ENTRY.token}
        raise ValueError(f"{local}")

    monkeypatch.setattr("function.live.fleet.read", bug)

    got, told = control.run(name, tmp_path)

    assert "a bug in modelplane" in got.stderr
    assert control.leaks(told) == []


def plugin(folder: Path, token: str) -> Object:
    """A user whose plugin answers with a token, and complains about it."""
    status = {"token": token, "clientKeyData": ENTRY.pem}
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    (folder / "answer.json").write_text(json.dumps(answer))
    path = folder / "plugin"
    path.write_text(f"#!/bin/sh\necho '{token} password={ENTRY.token}' >&2\ncat {folder / 'answer.json'}\n")
    path.chmod(0o700)
    env = [{"name": "SECRET", "value": ENTRY.token}]
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": str(path), "args": [ENTRY.token], "env": env}}


@pytest.mark.slow
@pytest.mark.parametrize("token", [TOKEN.token, "wrong"], ids=["accepted", "not accepted"])
@pytest.mark.parametrize("name", ["top", "plan", "explain a deployment"])
def test_a_plugin_is_not_repeated(
    name: str, token: str, control: Control, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told_token = token if token == TOKEN.token else f"{TOKEN.token}{ENTRY.token}"

    got, told = control.run(name, tmp_path, user=plugin(tmp_path, told_token))

    out, err = capfd.readouterr()
    assert (got.exit_code == 1) == (token == "wrong")
    assert control.leaks({**told, "fd 1": out, "fd 2": err}) == []


@pytest.mark.slow
@pytest.mark.parametrize("field", ["server", "proxy-url"])
def test_an_address_is_told_without_its_user(
    field: str, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = control.kubeconfig(tmp_path)
    config = json.loads(file.read_text())
    config["clusters"][0]["cluster"][field] = f"http://u:{PROXY.token}@127.0.0.1:1/?token={TOKEN.token}"
    file.write_text(json.dumps(config))
    monkeypatch.setattr(Control, "kubeconfig", lambda *_: file)

    for name in ("top", "plan", "explain a deployment"):
        got, told = control.run(name, tmp_path)
        assert (got.exit_code, control.leaks(told)) == (1, []), name
