"""Where an API server is, and who asks it: a kubeconfig as kubectl reads it, or the service account of a pod.

lightkube makes the client: it runs credential plugins and rereads rotated tokens. It reads one file, and ignores some
fields. Here several files are merged, and a field that would change who asks, or whom, is honoured or refused.

Errors name the file, the context and the field. They never repeat a value of a user: it may be a credential.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml
from lightkube.config.client_adapter import AsyncClient, ConnectionParams
from lightkube.config.kubeconfig import SERVICE_ACCOUNT, KubeConfig, SingleConfig
from lightkube.config.models import NameValue, User, UserExec
from lightkube.core.exceptions import ConfigError

from function.core import closest, dig, enumerate_names, redaction

SECONDS = 30.0
"""For which a request may take to connect, and to answer."""
_VARIABLE = "KUBECONFIG"
_DEFAULT = "~/.kube/config"
_IN_POD = "KUBERNETES_SERVICE_HOST"
_PLUGIN_VERSIONS = ("v1", "v1beta1")
_PLUGINS = "client.authentication.k8s.io"
_LISTS = {"clusters": "cluster", "users": "user", "contexts": "context"}
"""Lists of a kubeconfig, and the field of each item that holds its content."""
_PATHS = {
    "clusters": ("certificate-authority",),
    "users": ("client-certificate", "client-key", "tokenFile"),
}
"""Fields that are paths, relative to the file that has them."""


class UnusableCredentials(Exception):
    """The kubeconfig or the service account cannot be used."""


@dataclass(frozen=True, slots=True)
class Access:
    """An API server, and who asks it."""

    client: httpx2.AsyncClient
    server: str
    """Its URL, without a user and a password."""
    who: str
    """Where the credentials are from, for messages: the context and the file."""
    namespace: str = ""
    """The namespace that the context names; empty if it names none."""


def found(file: Path | None = None, context: str | None = None) -> Access:
    """The access that kubectl would have: by `file`, else by $KUBECONFIG, else by ~/.kube/config, else as a pod.

    Raises: UnusableCredentials.
    """
    if file is not None:
        return of_files([file], context)
    listed = [Path(name) for name in os.environ.get(_VARIABLE, "").split(os.pathsep) if name]
    if listed:
        return of_files(listed, context)
    default = Path(_DEFAULT).expanduser()
    if default.exists() or context is not None:
        return of_files([default], context)
    if _IN_POD in os.environ:
        return in_cluster()
    raise UnusableCredentials(
        f"there is no kubeconfig: ${_VARIABLE} is not set, and {default} does not exist; pass --kubeconfig"
    )


def in_cluster(account: str = SERVICE_ACCOUNT) -> Access:
    """The access of the service account of this pod, whose files are in the folder `account`.

    Raises: UnusableCredentials.
    """
    try:
        config = KubeConfig.from_service_account(account).get()
        assert config is not None, "a service account has one context"
        return Access(_client(config, {}, {}), config.cluster.server, "the service account of this pod")
    except KeyError as missing:
        raise UnusableCredentials(
            f"{missing.args[0]} is not set: this is no pod of a cluster; pass --kubeconfig"
        ) from None
    except (ConfigError, OSError) as error:
        raise UnusableCredentials(f"this is no pod with a service account: {error}; pass --kubeconfig") from None


def of_files(files: Sequence[Path], context: str | None = None) -> Access:
    """The access of a context in one or more kubeconfigs; by default, of the current context.

    Of several files, the first one that has a name wins, and one that does not exist is passed over.

    Raises: UnusableCredentials.
    """
    named = os.pathsep.join(map(str, files))
    try:
        merged = _merged(files)
        name = _context(merged, context)
        chosen = _content(merged, "contexts", name)
        cluster, user = (_content(merged, f"{of}s", chosen.get(of)) for of in ("cluster", "user"))
        config = KubeConfig.from_dict(merged, files[0]).get(name)
        assert config is not None, "the context exists"
        who = f"context {name} of {named}"
        server = _bare(config.cluster.server)
        return Access(_client(config, cluster, user), server, who, config.context.namespace or "")
    except KeyError as missing:
        raise UnusableCredentials(f"{named}: {missing} is missing") from None
    except (ConfigError, OSError) as error:
        raise UnusableCredentials(f"{named}: {error}") from None
    except Exception as error:  # noqa: BLE001  (of the YAML reader and msgspec: their texts can quote the file)
        raise UnusableCredentials(f"{named}: not a kubeconfig ({type(error).__name__})") from None


def _bare(url: str) -> str:
    """A URL without user, parameters and fragment. The user ends at the last @: a password may hold slashes."""
    scheme, mark, rest = re.split(r"[?#]", url, maxsplit=1)[0].rpartition("://")
    return redaction.message(f"{scheme}{mark}{rest.rpartition('@')[2]}")


# Files


def _merged(files: Sequence[Path]) -> dict[str, Any]:
    given = [(file, yaml.safe_load(file.read_text(encoding="utf-8"))) for file in files if _is_there(file)]
    if not given:
        raise ConfigError("no such file" if len(files) == 1 else "none of these files exists")
    for file, content in given:
        if not isinstance(content, Mapping):
            raise ConfigError(f"{file} is not a kubeconfig" if len(files) > 1 else "not a kubeconfig")
    merged = {name: [*_first(name, given)] for name in _LISTS}
    current = next((str(one["current-context"]) for _, one in given if one.get("current-context")), None)
    return {**merged, "current-context": current}


def _is_there(file: Path) -> bool:
    """Whether a file exists. One that exists and cannot be read is an error later."""
    return os.path.lexists(file)


def _first(name: str, given: Iterable[tuple[Path, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    """The items of a list of all files; of equal names, the first."""
    known: set[str] = set()
    for file, content in given:
        for item in content.get(name) or ():
            if item["name"] not in known:
                known.add(item["name"])
                yield {"name": item["name"], _LISTS[name]: _absolute(file, name, item[_LISTS[name]] or {})}


def _absolute(file: Path, name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an item, with paths that hold wherever the program runs."""
    folder = file.absolute().parent
    paths: dict[str, Any] = {
        field: str(folder / content[field]) for field in _PATHS.get(name, ()) if content.get(field)
    }
    command = dig(content, "exec", "command")
    if isinstance(command, str) and os.sep in command:
        paths["exec"] = {**content["exec"], "command": str(folder / command)}
    return {**content, **paths}


def _context(merged: Mapping[str, Any], wanted: str | None) -> str:
    """The name of the context to use. Raises ConfigError."""
    names = [str(item["name"]) for item in merged["contexts"]]
    name = wanted or merged["current-context"]
    if name in names:
        return str(name)
    known = enumerate_names(sorted(names), 8) or "none"
    if not name:
        raise ConfigError(f"it has no current context; pass --context, one of: {known}")
    meant = closest(name, names)
    raise ConfigError(f"there is no context {name!r}; {f'did you mean {meant!r}?' if meant else f'known: {known}'}")


def _content(merged: Mapping[str, Any], name: str, of: str | None) -> Mapping[str, Any]:
    """What a cluster or a user of a kubeconfig has. Raises ConfigError."""
    if of is None:
        return {}
    found: Any = next((item[_LISTS[name]] for item in merged[name] if item["name"] == of), None)
    if found is None:
        raise ConfigError(f"the context names {_LISTS[name]} {of!r}, and {name} has none of that name")
    return dict(found)


# The client


def _client(config: SingleConfig, cluster: Mapping[str, Any], given: Mapping[str, Any]) -> httpx2.AsyncClient:
    """The client of a context, honouring what lightkube does not read. Raises ConfigError, OSError."""
    user = config.user or User()
    if user.exec:
        user.exec = _plugin(user.exec)
    if cluster.get("tls-server-name"):
        raise ConfigError(f"cluster {config.context.cluster}: tls-server-name is not supported")
    connection = ConnectionParams(timeout=httpx2.Timeout(SECONDS), proxy=cluster.get("proxy-url"))
    try:
        client = AsyncClient(config._replace(user=user), connection)
    except ssl.SSLError:
        raise ConfigError("its certificates cannot be read") from None
    except (httpx2.InvalidURL, ValueError):
        raise ConfigError("its server or proxy-url is not a URL, or a certificate is not in base64") from None
    client.headers.update(_impersonation(given))
    return client


def _impersonation(user: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The headers of a user that acts as another one."""
    if not user.get("as"):
        return []
    if user.get("as-user-extra") or len(user.get("as-groups") or ()) > 1:
        raise ConfigError("as-user-extra, and more than one of as-groups, are not supported")
    uid = [("Impersonate-Uid", str(user["as-uid"]))] if user.get("as-uid") else []
    return [("Impersonate-User", str(user["as"])), *uid, *(("Impersonate-Group", g) for g in user.get("as-groups", ()))]


def _plugin(given: UserExec) -> UserExec:
    """A credential plugin that is told the version of its API, and that lightkube runs whatever that version is.

    lightkube 1.0 knows v1beta1 only. Its successor v1 has the same fields. Source: k8s.io/client-go v0.36,
    pkg/apis/clientauthentication. Raises ConfigError if the program is not installed.
    """
    if shutil.which(given.command) is None:
        hint = f". {given.installHint.strip()}" if given.installHint else ""
        raise ConfigError(f"the credential plugin {given.command} is not installed{hint}")
    if given.apiVersion not in [f"{_PLUGINS}/{version}" for version in _PLUGIN_VERSIONS]:
        return given
    told = {"apiVersion": given.apiVersion, "kind": "ExecCredential", "spec": {"interactive": False}}
    env = [*(given.env or []), NameValue("KUBERNETES_EXEC_INFO", json.dumps(told))]
    return UserExec(f"{_PLUGINS}/v1beta1", given.command, env=env, args=given.args)
