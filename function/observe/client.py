"""Reaches the API server of a cluster: credentials by lightkube, requests by httpx2.

lightkube reads kubeconfigs and service accounts, runs credential plugins, and rereads rotated tokens. Its own watch has
neither bookmarks nor a bound on silence, so lists and watches are requested here, and objects stay plain data.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
from lightkube.config.client_adapter import AsyncClient, ConnectionParams
from lightkube.config.kubeconfig import SERVICE_ACCOUNT, KubeConfig, SingleConfig
from lightkube.config.models import NameValue, User, UserExec
from lightkube.core.exceptions import ConfigError

from function.core import dig, dig_list, visible
from function.observe.kinds import Kind

PAGE = 500
"""Objects of one response, as kubectl asks for."""
SECONDS = 30.0
"""For which a request may take to connect, and to answer."""
_GONE, _FORBIDDEN, _UNAUTHORIZED, _NOT_FOUND, _CONFLICT = 410, 403, 401, 404, 409
_MOST_MESSAGE = 256
_PLUGIN_VERSIONS = ("v1", "v1beta1")
_PLUGINS = "client.authentication.k8s.io"


class NoAnswer(Exception):
    """The API server does not answer as it should. Another try may help."""


class KindRefused(Exception):
    """The API server refuses a kind, or does not have it. The message names the kind."""


class VersionGone(Exception):
    """The server no longer has the version from which to go on."""


FAULTS = (httpx2.HTTPError, ConfigError, OSError, ValueError, KeyError, TypeError)
"""What a request can raise: the network, and a credential plugin that is missing or answers with something else."""


class UnusableCredentials(Exception):
    """The kubeconfig or the service account cannot be used."""


def in_cluster(account: str = SERVICE_ACCOUNT) -> httpx2.AsyncClient:
    """The client of the service account of this pod, whose files are in the folder `account`.

    Raises: UnusableCredentials.
    """
    try:
        return _client(KubeConfig.from_service_account(account).get())
    except KeyError as missing:
        raise UnusableCredentials(
            f"{missing.args[0]} is not set: this is no pod of a cluster; pass --kubeconfig"
        ) from None
    except (ConfigError, OSError) as error:
        raise UnusableCredentials(f"this is no pod with a service account: {error}; pass --kubeconfig") from None


def of_file(file: Path, context: str | None = None) -> httpx2.AsyncClient:
    """The client of a context of a kubeconfig; by default, of its current one.

    Raises: UnusableCredentials.
    """
    try:
        return _client(KubeConfig.from_file(file).get(context))
    except KeyError as missing:
        raise UnusableCredentials(f"{file}: {missing} is missing") from None
    except (ConfigError, OSError, ValueError, TypeError, AttributeError) as error:
        raise UnusableCredentials(f"{file}: {error}") from None
    except Exception as error:  # noqa: BLE001  (of the YAML reader; its text can quote the file, credentials included)
        raise UnusableCredentials(f"{file}: not a kubeconfig ({type(error).__name__})") from None


def _client(config: SingleConfig | None) -> httpx2.AsyncClient:
    if config is None:
        raise ConfigError("it has no current context")
    user = config.user or User()
    if user.exec:
        user.exec = _plugin(user.exec)
    try:
        return AsyncClient(config._replace(user=user), ConnectionParams(timeout=httpx2.Timeout(SECONDS)))
    except ssl.SSLError:
        raise ConfigError("its certificates cannot be read") from None


def _plugin(given: UserExec) -> UserExec:
    """A credential plugin that is told the version of its API, and that lightkube runs whatever that version is.

    lightkube 1.0 knows v1beta1 only. Its successor v1 has the same fields. Source: k8s.io/client-go v0.36,
    pkg/apis/clientauthentication.
    """
    if given.apiVersion not in [f"{_PLUGINS}/{version}" for version in _PLUGIN_VERSIONS]:
        return given
    told = {"apiVersion": given.apiVersion, "kind": "ExecCredential", "spec": {"interactive": False}}
    env = [*(given.env or []), NameValue("KUBERNETES_EXEC_INFO", json.dumps(told))]
    return UserExec(f"{_PLUGINS}/v1beta1", given.command, env=env, args=given.args)


# Requests


async def pages(client: httpx2.AsyncClient, kind: Kind) -> AsyncIterator[tuple[list[Any], str]]:
    """All objects of a kind, page by page, each with the resource version of the list.

    Raises: KindRefused, NoAnswer, VersionGone.
    """
    following = ""
    while True:
        more = {"continue": following} if following else {}
        answer = await get(client, kind, {**kind.selectors, "limit": str(PAGE), **more})
        yield list(dig_list(answer, "items")), str(dig(answer, "metadata", "resourceVersion") or "")
        following = str(dig(answer, "metadata", "continue") or "")
        if not following:
            return


async def get(client: httpx2.AsyncClient, kind: Kind, parameters: Mapping[str, str]) -> Any:
    try:
        response = await client.get(kind.path, params=dict(parameters))
    except FAULTS as error:
        raise NoAnswer(f"{kind}: {fault(error)}") from None
    check(response.status_code, response.content, kind)
    try:
        return response.json()
    except ValueError:
        raise NoAnswer(f"{kind}: the answer is not JSON") from None


async def write(client: httpx2.AsyncClient, kind: Kind, manifest: Mapping[str, Any], *, is_new: bool) -> None:
    """Create or replace an object.

    Raises: KindRefused, NoAnswer; also where another one wrote it in between.
    """
    name = dig(manifest, "metadata", "name")
    try:
        if is_new:
            response = await client.post(kind.path, json=dict(manifest))
        else:
            response = await client.put(f"{kind.path}/{name}", json=dict(manifest))
    except FAULTS as error:
        raise NoAnswer(f"{kind} {name}: {fault(error)}") from None
    if response.status_code in (_NOT_FOUND, _CONFLICT):
        raise NoAnswer(f"{kind} {name}: {message(response.content) or 'it changed meanwhile'}")
    check(response.status_code, response.content, kind)


def check(status: int, body: bytes, kind: Kind) -> None:
    """Raises: KindRefused, NoAnswer, VersionGone."""
    if status < 300:  # noqa: PLR2004
        return
    if status == _GONE:
        raise VersionGone(str(kind))
    told = message(body) or f"status {status}"
    if status == _FORBIDDEN:
        raise KindRefused(f"{kind}: forbidden: {told}")
    if status == _NOT_FOUND:
        raise KindRefused(f"{kind}: the cluster does not have this API ({kind.path})")
    if status == _UNAUTHORIZED:
        raise NoAnswer(f"{kind}: the API server does not accept the credentials")
    raise NoAnswer(f"{kind}: {told}")


def message(body: bytes) -> str:
    """The message of a Status, or of the Status in an event."""
    try:
        given = json.loads(body)
        told = dig(given, "message") or dig(given, "object", "message")
    except ValueError:
        return ""
    return told[:_MOST_MESSAGE] if isinstance(told, str) else ""


def fault(error: Exception) -> str:
    """What is wrong, on one line. The answer of a credential plugin is not repeated: it may hold the credential."""
    told = (
        str(error) if isinstance(error, httpx2.HTTPError | ConfigError | OSError) else "the credentials cannot be read"
    )
    return (visible(told) or type(error).__name__)[:_MOST_MESSAGE]
