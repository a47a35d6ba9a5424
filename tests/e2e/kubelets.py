"""Plays the nodes of a cluster that has none: pods run as processes, and what nodes and gateways report is reported.

A process gets what a kubelet gives a container: the token of its ServiceAccount and the address of the API server, in
the places of a pod. So it has the rights that were granted to it, and no others.
"""

import contextlib
import datetime as dt
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.kube import Api, Object, Refused
from tests.e2e.processes import Process
from tests.e2e.programs import Site

PAUSE = 0.2
GATEWAY = "/apis/gateway.networking.k8s.io/v1"
RELEASES = "/apis/helm.m.crossplane.io/v1beta1/releases"
CONTROLLER = "traefik.io/gateway-controller"
# A mount namespace of its own, in which the files of a ServiceAccount are where client-go looks for them.
INSIDE = (
    "mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount && "
    'cp "$0"/* /run/secrets/kubernetes.io/serviceaccount/ && exec "$@"'
)
Run = Callable[[Object], None]


@dataclass(slots=True)
class Kubelets:
    """The nodes of one cluster."""

    site: Site
    name: str
    api: Api
    address: str
    """Of the gateways."""
    runs: Mapping[str, Run] = field(default_factory=dict)
    """What starts the program of a Deployment, by the package that it runs, or else by its name."""
    ends: Run = lambda _: None
    """What ends the program of a Deployment that was scaled to nothing."""
    each: Callable[[], None] = lambda: None
    """What is done besides, each time."""
    stopped: threading.Event = field(default_factory=threading.Event)
    started: set[str] = field(default_factory=set)

    def follow(self) -> None:
        while not self.stopped.wait(PAUSE):
            try:
                self.look()
            except (Refused, OSError):
                continue  # the object has changed or is gone, or the API server is busy

    def look(self) -> None:
        for one in self.items("/apis/apps/v1/deployments", "apps/v1", "Deployment"):
            if one.get("status", {}).get("observedGeneration") != one["metadata"]["generation"]:
                self.run(one)
        for one in self.items(RELEASES, "helm.m.crossplane.io/v1beta1", "Release"):
            if "conditions" not in one.get("status", {}):
                self.api.patch(one, {"status": {"conditions": conditions("Synced", "Ready")}}, "status")
        self.report_gateways()
        self.each()

    def run(self, deployment: Object) -> None:
        name, wanted = deployment["metadata"]["name"], deployment["spec"].get("replicas", 1)
        known = self.runs.get(package(deployment) or name)
        if wanted and known and name not in self.started:
            known(deployment)
            self.started.add(name)
        if not wanted and name in self.started:
            self.ends(deployment)
            self.started.remove(name)
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), wanted)
        generation = deployment["metadata"]["generation"]
        status = {**counts, "observedGeneration": generation, "conditions": conditions("Available", "Progressing")}
        self.api.patch(deployment, {"status": status}, "status")

    def is_settled(self) -> bool:
        """Whether every Deployment was looked at since it was changed."""
        found = self.api.as_user(self.api.token).list("apps/v1", "Deployment")
        return all(one.get("status", {}).get("observedGeneration") == one["metadata"]["generation"] for one in found)

    def report_gateways(self) -> None:
        for one in self.items(f"{GATEWAY}/gatewayclasses", GATEWAY[6:], "GatewayClass"):
            if stale(one, "Accepted"):
                self.api.patch(one, {"status": {"conditions": current(one, "Accepted")}}, "status")
        for one in self.items(f"{GATEWAY}/gateways", GATEWAY[6:], "Gateway"):
            if stale(one, "Programmed"):
                addresses = [{"type": "IPAddress", "value": self.address}]
                status = {"addresses": addresses, "conditions": current(one, "Accepted", "Programmed")}
                self.api.patch(one, {"status": status}, "status")
        for one in self.items(f"{GATEWAY}/httproutes", GATEWAY[6:], "HTTPRoute"):
            if is_unseen(one):
                self.api.patch(one, {"status": {"parents": accepted(one)}}, "status")

    def items(self, path: str, api_version: str, kind: str) -> Iterator[Object]:
        """The objects of a kind, as long as it is served."""
        for one in (self.api.look(path) or {"items": []})["items"]:
            yield {"apiVersion": api_version, "kind": kind} | one

    def container(self, deployment: Object, program: Path, *arguments: str, init: int | None = None) -> "Container":
        """A container of a Deployment, ready to be run as a program."""
        pod = deployment["spec"]["template"]["spec"]
        spec = pod["containers"][0] if init is None else pod["initContainers"][init]
        account, namespace = pod["serviceAccountName"], deployment["metadata"]["namespace"]
        env = {one["name"]: value(one, account, namespace) for one in spec.get("env", ())}
        secrets = self.account(namespace, account)
        command = ["--mount", "sh", "-c", INSIDE, str(secrets), str(program), *spec.get("args", ()), *arguments]
        reached = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.api.port)}
        return Container(self.site, f"{self.name}-{deployment['metadata']['name']}", command, {**env, **reached})

    def account(self, namespace: str, name: str) -> Path:
        """What is mounted into a pod of a ServiceAccount."""
        folder = self.site.folder / self.name / "accounts" / namespace / name
        folder.mkdir(parents=True, exist_ok=True)
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
        (folder / "token").write_text(self.api.send("POST", path, asked)["status"]["token"])
        (folder / "ca.crt").write_bytes(self.site.pki.authority.read_bytes())
        (folder / "namespace").write_text(namespace)
        return folder


@dataclass(frozen=True, slots=True)
class Container:
    site: Site
    name: str
    command: list[str]
    env: Mapping[str, str]

    def start(self, serves: Callable[[], bool], **env: str) -> Process:
        return self.site.processes.start(
            self.name, Path("unshare"), *self.command, serves=serves, **{"KUBECONFIG": "", **self.env, **env}
        )

    def succeeds(self, **env: str) -> bool:
        """Run it to its end."""
        settings = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(self.site.folder), **self.env, **env}
        done = subprocess.run(["unshare", *self.command], env=settings, check=False, capture_output=True)
        return done.returncode == 0


@contextlib.contextmanager
def playing(kubelets: Kubelets) -> Iterator[Kubelets]:
    # A user of its own has a connection of its own, for another thread.
    kubelets.api = kubelets.api.as_user(kubelets.api.token)
    thread = threading.Thread(target=kubelets.follow, name=kubelets.name, daemon=True)
    thread.start()
    try:
        yield kubelets
    finally:
        kubelets.stopped.set()
        thread.join()


def package(deployment: Object) -> str | None:
    """The package that Crossplane runs in a Deployment."""
    labels = deployment["spec"]["template"]["metadata"].get("labels", {})
    return labels.get("pkg.crossplane.io/provider") or labels.get("pkg.crossplane.io/function")


def value(variable: Object, account: str, namespace: str) -> str:
    """The value of a variable. Resources are not limited here."""
    fields = {"metadata.namespace": namespace, "spec.serviceAccountName": account}
    referenced = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath", "")
    return str(variable.get("value", fields.get(referenced, "")))


def conditions(*types: str, **more: Any) -> list[Object]:
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        {"type": one, "status": "True", "reason": "Played", "message": "", "lastTransitionTime": now, **more}
        for one in types
    ]


def current(target: Object, *types: str) -> list[Object]:
    return conditions(*types, observedGeneration=target["metadata"]["generation"])


def stale(target: Object, type_: str) -> bool:
    found = [one for one in target.get("status", {}).get("conditions", ()) if one["type"] == type_]
    return not any(one.get("observedGeneration") == target["metadata"]["generation"] for one in found)


def is_unseen(route: Object) -> bool:
    """Whether a route has changed since its gateway reported on it, or was never reported on."""
    reported = route.get("status", {}).get("parents", ())
    parents = [one["parentRef"] for one in reported]
    seen = {said["observedGeneration"] for one in reported for said in one["conditions"]}
    return parents != route["spec"]["parentRefs"] or seen != {route["metadata"]["generation"]}


def accepted(route: Object) -> list[Object]:
    said = current(route, "Accepted", "ResolvedRefs")
    return [
        {"parentRef": parent, "controllerName": CONTROLLER, "conditions": said}
        for parent in route["spec"]["parentRefs"]
    ]
