"""A kubeconfig is read as kubectl reads it, and one that is wrong is named without what it contains."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from function.apiserver import client as clients
from function.apiserver import credentials
from function.apiserver.credentials import UnusableCredentials
from function.live import fleet, kinds
from tests.support.api_server_standin import CORE, ApiServer, serving
from tests.support.proxy_standin import Proxy, proxying

SECRET = "hunter2"


@dataclass(frozen=True, slots=True)
class Nodes:
    path: str = f"{CORE}/nodes"
    selectors: dict[str, str] | Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "selectors", {})

    def __str__(self) -> str:
        return "nodes"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with serving(ApiServer()) as server:
        server.serve(f"{CORE}/nodes", {"metadata": {"name": "a"}})
        yield server


def config(api: ApiServer, **user: Any) -> dict[str, Any]:
    return {
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": api.url}}],
        "users": [{"name": "me", "user": user or {"token": api.token}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me", "namespace": "ml-team"}}],
    }


def written(file: Path, content: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(content))
    return file


def names(access: credentials.Access) -> list[str]:
    async def story() -> list[str]:
        async with access.client as client:
            return [one["metadata"]["name"] for one in await clients.listed(client, Nodes())]

    return asyncio.run(story())


def refusal(file: Path, context: str | None = None) -> str:
    with pytest.raises(UnusableCredentials) as caught:
        credentials.of_files([file], context)
    return str(caught.value).removeprefix(f"{file}: ")


# Where it is


def test_a_given_file_wins_over_the_environment(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")

    assert names(credentials.found(written(tmp_path / "config", config(api)))) == ["a"]


def test_several_files_of_the_environment_are_merged_and_the_first_wins(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = config(api)
    first = written(tmp_path / "1", {"clusters": whole["clusters"], "current-context": "here"})
    second = written(tmp_path / "2", {**whole, "current-context": "other", "clusters": [
        {"name": "here", "cluster": {"server": "https://192.0.2.1"}}]})  # fmt: skip
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(["", str(first), "/nowhere", str(second)]))

    found = credentials.found()

    assert (names(found), found.server, found.namespace) == (["a"], api.url, "ml-team")


def test_the_file_in_the_home_folder_is_the_default(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    written(tmp_path / ".kube/config", config(api))

    assert names(credentials.found()) == ["a"]


def test_without_any_the_error_names_where_was_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(UnusableCredentials, match=r"\$KUBECONFIG is not set, and .*/\.kube/config does not exist"):
        credentials.found()


def test_in_a_pod_it_is_the_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")

    with pytest.raises(UnusableCredentials, match="no pod with a service account"):
        credentials.found()


# What it says


def test_paths_are_relative_to_their_file(api: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(api.token)

    assert names(credentials.of_files([written(tmp_path / "config", config(api, tokenFile="token"))])) == ["a"]


def test_a_server_is_verified_by_the_authority_of_the_file(tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with serving(ApiServer(), context) as api:
        api.serve(f"{CORE}/nodes", {"metadata": {"name": "a"}})
        right, wrong = config(api), config(api)
        for one, ca in ((right, authority), (wrong, trustme.CA())):
            data = base64.b64encode(ca.cert_pem.bytes()).decode()
            one["clusters"][0]["cluster"]["certificate-authority-data"] = data

        assert names(credentials.of_files([written(tmp_path / "right", right)])) == ["a"]
        with pytest.raises(clients.NoAnswer, match="CERTIFICATE_VERIFY_FAILED"):
            names(credentials.of_files([written(tmp_path / "wrong", wrong)]))


def test_the_proxy_of_a_cluster_is_used(api: ApiServer, tmp_path: Path) -> None:
    with proxying(Proxy(api.url)) as proxy:
        given = config(api)
        given["clusters"][0]["cluster"] = {"server": "http://control.example.org", "proxy-url": proxy.url}

        assert names(credentials.of_files([written(tmp_path / "config", given)])) == ["a"]
        assert any("control.example.org" in asked for asked in proxy.asked)


def test_a_user_can_act_as_another(api: ApiServer, tmp_path: Path) -> None:
    given = config(api, token=api.token, **{"as": "alice", "as-groups": ["ml"]})

    headers = credentials.of_files([written(tmp_path / "config", given)]).client.headers

    assert (headers["Impersonate-User"], headers["Impersonate-Group"]) == ("alice", "ml")


def plugin(tmp_path: Path, says: str) -> dict[str, Any]:
    script = tmp_path / "plugin.sh"
    script.write_text(f"#!/bin/sh\n{says}\n")
    script.chmod(0o755)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin.sh"}}


def test_a_credential_plugin_beside_the_file_is_run(api: ApiServer, tmp_path: Path) -> None:
    answer = json.dumps({"kind": "ExecCredential", "status": {"token": api.token}})
    given = config(api, **plugin(tmp_path, f"echo '{answer}'"))

    assert names(credentials.of_files([written(tmp_path / "config", given)])) == ["a"]


def test_a_plugin_that_fails_is_named(api: ApiServer, tmp_path: Path) -> None:
    given = config(api, **plugin(tmp_path, "echo 'login first' >&2; exit 3"))

    with pytest.raises(clients.NoAnswer, match=r"plugin\.sh returned 3: login first"):
        names(credentials.of_files([written(tmp_path / "config", given)]))


def test_a_plugin_runs_once_for_many_lists(api: ApiServer, tmp_path: Path) -> None:
    """It may ask a person."""
    answer = json.dumps({"kind": "ExecCredential", "status": {"token": api.token}})
    given = config(api, **plugin(tmp_path, f"echo run >> {tmp_path}/runs; echo '{answer}'"))
    for kind in kinds.ours():
        api.serve(kind.path)

    async def story() -> None:
        async with credentials.of_files([written(tmp_path / "config", given)]).client as client:
            await fleet.read(client)

    asyncio.run(story())
    assert (tmp_path / "runs").read_text() == "run\n"


def test_a_server_that_does_not_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        api = ApiServer(url=f"http://127.0.0.1:{silent.getsockname()[1]}")

        with pytest.raises(clients.NoAnswer, match="nodes: no answer in time"):
            names(credentials.of_files([written(tmp_path / "config", config(api))]))


# What is wrong

Change = Callable[[dict[str, Any]], Any]
WRONG: dict[str, tuple[Change, str]] = {
    "no current context": (
        lambda one: one.pop("current-context"), "it has no current context; pass --context, one of: here",
    ),
    "an unknown current context": (
        lambda one: one.update({"current-context": "hare"}), "there is no context 'hare'; did you mean 'here'?",
    ),
    "an unknown cluster": (
        lambda one: one.update(clusters=[]), "the context names cluster 'here', and clusters has none of that name",
    ),
    "an unknown user": (
        lambda one: one.update(users=[]), "the context names user 'me', and users has none of that name",
    ),
    "a cluster without content": (lambda one: one["clusters"][0].pop("cluster"), "'cluster' is missing"),
    "another name of the server": (
        lambda one: one["clusters"][0]["cluster"].update({"tls-server-name": "x"}),
        "cluster here: tls-server-name is not supported",
    ),
    "a missing plugin": (
        lambda one: one["users"][0].update(user={"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-plugin",
            "installHint": "Install it from example.org."}}),
        "the credential plugin no-such-plugin is not installed. Install it from example.org.",
    ),
    "an authority that is none": (
        lambda one: one["clusters"][0]["cluster"].update({"certificate-authority-data": "c2VjcmV0"}),
        "its certificates cannot be read",
    ),
    "an authority that is not in base64": (
        lambda one: one["clusters"][0]["cluster"].update({"certificate-authority-data": "x"}),
        "its server or proxy-url is not a URL, or a certificate is not in base64",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(api: ApiServer, tmp_path: Path, what: str) -> None:
    change, want = WRONG[what]
    given = config(api)
    change(given)

    assert refusal(written(tmp_path / "config", given)) == want


def test_a_password_in_the_url_of_a_server_is_not_part_of_its_name(api: ApiServer, tmp_path: Path) -> None:
    given = config(api)
    given["clusters"][0]["cluster"]["server"] = f"https://me:{SECRET}@control.example.org/k8s"

    found = credentials.of_files([written(tmp_path / "config", given)])

    assert (found.server, SECRET in found.who) == ("https://control.example.org/k8s", False)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere") == "no such file"


@pytest.mark.parametrize(
    "text",
    [f"users: [{SECRET}", f"- {SECRET}", f"users: {SECRET}", f"users: [{{name: a, user: {SECRET}}}]", f"\x00{SECRET}",
     f"contexts: [{{name: {SECRET}-, context: [{SECRET}]}}]\ncurrent-context: {SECRET}-", "", "a: &a [*a]"],
)  # fmt: skip
def test_a_file_that_is_no_kubeconfig_is_not_quoted(tmp_path: Path, text: str) -> None:
    (tmp_path / "config").write_text(text)

    told = refusal(tmp_path / "config")

    assert told
    assert SECRET not in told


def test_an_unknown_context_is_named_with_the_nearest(api: ApiServer, tmp_path: Path) -> None:
    assert refusal(written(tmp_path / "config", config(api)), "herr").endswith("did you mean 'here'?")
    assert refusal(written(tmp_path / "config", config(api)), "prod").endswith("known: here")
