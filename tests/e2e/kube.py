"""A small Kubernetes client: one connection kept open, objects as dicts, refusals as an exception."""

import base64
import contextlib
import http.client
import json
import re
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode

from tests.e2e.waiting import until

TOKEN = "loopback-only"  # the API servers listen on 127.0.0.1 and live as long as a test run
CROSSPLANE = "system:serviceaccount:crossplane-system:crossplane"
CONTROLLERS = "system:kube-controller-manager"
PROVIDER = "system:serviceaccount:crossplane-system:provider-kubernetes"
EDGE = "modelplane"  # whose credentials are in the kubeconfig of an inference cluster
TOKENS = {
    "admin": TOKEN,
    CROSSPLANE: f"{TOKEN}-crossplane",
    CONTROLLERS: f"{TOKEN}-controllers",
    PROVIDER: f"{TOKEN}-provider",
    EDGE: f"{TOKEN}-edge",
}
ACCOUNTS = "system:serviceaccounts:crossplane-system"  # a group: the service accounts of a namespace
MANAGER = "e2e"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
RETRY = 0.1  # seconds until an API server is asked again that said no

Object = dict[str, Any]
Header = tuple[str, str]


class Refused(Exception):
    """The API server said no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Resource:
    """How a kind is addressed."""

    prefix: str  # /api/v1, /apis/apps/v1
    plural: str
    namespaced: bool

    def path(self, namespace: str | None, name: str | None = None, *more: str) -> str:
        where = ("namespaces", namespace) if self.namespaced and namespace else ()
        parts = (*where, self.plural, *((name,) if name else ()), *more)
        return "/".join((self.prefix, *(quote(part) for part in parts)))


@dataclass(slots=True)
class Api:
    """An API server, as an administrator."""

    port: int
    authority: Path
    token: str = TOKEN
    user: str = ""  # who is impersonated, if anybody
    groups: tuple[str, ...] = ()
    known: dict[tuple[str, str], Resource] = field(default_factory=dict)
    connection: http.client.HTTPSConnection | None = None
    warnings: list[str] = field(default_factory=list)  # what the last answer warned of

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def as_user(self, token: str) -> Self:
        """The same API server, for another user."""
        return type(self)(self.port, self.authority, token)

    def from_outside(self) -> str:
        """A kubeconfig as an InferenceCluster has it, for an identity of its own."""
        return self.as_user(TOKENS[EDGE]).kubeconfig()

    def impersonating(self, user: str, *groups: str) -> Self:
        """The same API server, as an administrator who acts for somebody else."""
        return type(self)(self.port, self.authority, self.token, user=user, groups=groups)

    # What most tests use.

    def apply(self, *manifests: Object, **options: str) -> list[Object]:
        """Server-side apply, strictly: an unknown field is refused."""
        options = {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"} | options
        return [
            self.send("PATCH", self.address(one), one, "application/apply-patch+yaml", **options) for one in manifests
        ]

    def apply_text(self, collection: str, text: str) -> None:
        """Server-side apply YAML as it is, into a collection."""
        name = re.findall(r"^  name: (\S+)$", text, re.MULTILINE)[0]
        options = {"fieldManager": MANAGER, "force": "true"}
        self.text("PATCH", f"{collection}/{name}", text, "application/apply-patch+yaml", **options)

    def create(self, manifest: Object, **options: str) -> Object:
        """Create, strictly; `dryRun="All"` only asks whether it could be created."""
        resource = self.resource(manifest["apiVersion"], manifest["kind"])
        path = resource.path(manifest["metadata"].get("namespace", "default"))
        return self.send("POST", path, manifest, **{"fieldManager": MANAGER, "fieldValidation": "Strict"} | options)

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """An object, or None when there is none."""
        return self.look(self.resource(api_version, kind).path(namespace, name))

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        return self.send("GET", self.resource(api_version, kind).path(namespace, name))

    def list(
        self, api_version: str, kind: str, namespace: str | None = None, labels: dict[str, str] | None = None
    ) -> list[Object]:
        """All objects of a kind, by name."""
        selector = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        options = {"labelSelector": selector} if selector else {}
        answer = self.send("GET", self.resource(api_version, kind).path(namespace), **options)
        found = ({"apiVersion": api_version, "kind": kind} | item for item in answer["items"])
        return sorted(found, key=lambda one: (one["metadata"].get("namespace", ""), one["metadata"]["name"]))

    def table(self, api_version: str, kind: str, namespace: str | None = None) -> Object:
        """All objects of a kind as `kubectl get` asks for them: columns, and a row of cells for each."""
        path = self.resource(api_version, kind).path(namespace)
        asks = [("Authorization", f"Bearer {self.token}"), ("Accept", TABLE)]
        return dict(json.loads(self.exchange("GET", path, None, asks)[1]))

    def watch(self, api_version: str, kind: str) -> Iterator[tuple[str, Object]]:
        """All objects of a kind, ADDED, and each again when it is MODIFIED or DELETED, until the API server ends.

        The API server ends a watch when it changes the storage of a kind. What was missed is told then.
        """
        path, user = self.resource(api_version, kind).path(None), self.as_user(self.token)
        known: dict[str, Object] = {}
        with contextlib.suppress(OSError, http.client.HTTPException):  # no API server any more
            while True:
                try:
                    listed = user.send("GET", path)
                except Refused:
                    time.sleep(RETRY)
                    continue
                yield from missed(known, listed["items"])
                for change, found in user.events(path, listed["metadata"]["resourceVersion"]):
                    known[found["metadata"]["uid"]] = found
                    if change == "DELETED":
                        del known[found["metadata"]["uid"]]
                    yield change, found

    def events(self, path: str, since: str) -> Iterator[tuple[str, Object]]:
        """What changes in a collection since a resource version, until the API server ends the watch."""
        connection = self.as_user(self.token).connect(patience=None)
        target = f"{path}?watch=true&resourceVersion={since}"
        send(connection, "GET", target, None, [("Authorization", f"Bearer {self.token}")])
        with contextlib.suppress(OSError, http.client.HTTPException):
            response = connection.getresponse()
            while line := response.readline():
                event = json.loads(line)
                if "uid" not in event.get("object", {}).get("metadata", {}):
                    break  # an error, such as a version that is too old
                yield event["type"], event["object"]
        connection.close()

    def apply_status(self, target: Object, status: Object) -> None:
        """Server-side apply a part of an object's status, beside what others write there."""
        own = {key: target["metadata"][key] for key in ("name", "namespace") if key in target["metadata"]}
        body = {"apiVersion": target["apiVersion"], "kind": target["kind"], "metadata": own, "status": status}
        options = {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"}
        self.send("PATCH", f"{self.address(target)}/status", body, "application/apply-patch+yaml", **options)

    def patch(self, target: Object, change: Object, *subresource: str) -> Object:
        """Merge a change into an object, or into its status."""
        path = "/".join((self.address(target), *subresource))
        return self.send("PATCH", path, change, "application/merge-patch+json", fieldValidation="Strict")

    def delete(self, target: Object, **options: str) -> None:
        """Ask for an object's deletion; it need not be there."""
        with contextlib.suppress(Gone):
            self.send("DELETE", self.address(target), **options)

    def current(self, target: Object) -> Object | None:
        """The same object as it is now, or None."""
        return self.look(self.address(target))

    # How it is done.

    def address(self, target: Object) -> str:
        metadata = target["metadata"]
        resource = self.resource(target["apiVersion"], target["kind"])
        return resource.path(metadata.get("namespace", "default"), metadata["name"])

    def resource(self, api_version: str, kind: str) -> Resource:
        """How a kind is addressed: known, or asked for until the API server serves it."""
        key = (api_version, kind)
        if key not in self.known:
            until(lambda: self.discover(api_version) or key in self.known, f"{api_version} {kind} to be served",
                  holds=lambda _: key in self.known)  # fmt: skip
        return self.known[key]

    def discover(self, api_version: str) -> None:
        prefix = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        for one in (self.look(prefix) or {"resources": []})["resources"]:
            if "/" not in one["name"]:
                self.known[api_version, one["kind"]] = Resource(prefix, one["name"], one["namespaced"])

    def serves(self, path: str = "/readyz") -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException, Refused):
            self.text("GET", path)
            return True
        return False

    def look(self, path: str) -> Object | None:
        with contextlib.suppress(Gone):
            return self.send("GET", path)
        return None

    def send(
        self, method: str, path: str, body: Object | None = None, kind: str = "application/json", **options: str
    ) -> Object:
        return dict(json.loads(self.text(method, path, body and json.dumps(body), kind, **options)))

    def text(
        self, method: str, path: str, body: str | None = None, kind: str = "application/json", **options: str
    ) -> str:
        """One exchange. The API server reads YAML as it reads JSON."""
        target = f"{path}?{urlencode(options)}" if options else path
        headers = [("Authorization", f"Bearer {self.token}"), ("Content-Type", kind), *self.impersonation()]
        response, answer = until(
            lambda: self.exchange(method, target, body, headers),
            "an API server with room for a request",  # it says no while it makes the storage of a new kind
            holds=lambda seen: seen[0].status != http.HTTPStatus.TOO_MANY_REQUESTS,
        )
        self.warnings = [line.split('"')[1] for line in response.headers.get_all("Warning", [])]
        if response.status == http.HTTPStatus.NOT_FOUND:
            raise Gone(response.status, message(answer))
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise Refused(response.status, message(answer))
        return answer

    def impersonation(self) -> tuple[Header, ...]:
        groups = (("Impersonate-Group", group) for group in self.groups)
        return (("Impersonate-User", self.user), *groups) if self.user else ()

    def exchange(
        self, method: str, target: str, body: str | None, headers: Iterable[Header]
    ) -> tuple[http.client.HTTPResponse, str]:
        """Send over the open connection; over a new one when that was closed, or when there is none."""
        fresh = self.connection is None
        connection = self.connection or self.connect()
        try:
            send(connection, method, target, body and body.encode(), headers)
            response = connection.getresponse()
            return response, response.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.connection = None
            if fresh:
                raise
            return self.exchange(method, target, body, headers)

    def connect(self, patience: float | None = 30) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=self.authority)
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=patience, context=context)
        return self.connection

    def kubeconfig(self) -> str:
        """A kubeconfig for this user, in JSON (which is YAML)."""
        authority = base64.b64encode(self.authority.read_bytes()).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
            "clusters": [{"name": "it", "cluster": {"server": self.url, "certificate-authority-data": authority}}],
            "users": [{"name": "it", "user": {"token": self.token}}],
        }
        return json.dumps(config, indent=2)


def send(
    connection: http.client.HTTPSConnection,
    method: str,
    target: str,
    body: bytes | None,
    headers: Iterable[Header],
) -> None:
    """A request whose headers may repeat, as those of impersonated groups do."""
    connection.putrequest(method, target)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)


def missed(known: dict[str, Object], listed: Iterable[Object]) -> Iterator[tuple[str, Object]]:
    """The events between what was known, which is brought up to date, and what is listed."""
    there = {one["metadata"]["uid"]: one for one in listed}
    for uid in known.keys() - there.keys():
        yield "DELETED", known.pop(uid)
    for uid, one in there.items():
        before = known.get(uid)
        known[uid] = one
        if before is None:
            yield "ADDED", one
        elif before["metadata"]["resourceVersion"] != one["metadata"]["resourceVersion"]:
            yield "MODIFIED", one


class Gone(Refused):
    """What was asked for is not there."""


def message(answer: str) -> str:
    """The sentence of a Status, or the text itself."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(json.loads(answer)["message"])
    return answer


def condition(target: Object | None, kind: str) -> Object:
    """A condition of an object; an empty dict when it is not said."""
    conditions = ((target or {}).get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one["type"] == kind), {})


def says(target: Object | None, kind: str, status: str = "True") -> bool:
    return condition(target, kind).get("status") == status
