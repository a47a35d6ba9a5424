"""Follows the page of the install, on an empty control cluster and an empty inference cluster.

Real: API servers, Crossplane with its chart and its RBAC manager, the crossplane CLI, kubectl, our packages and the
function, provider-kubernetes. Played: Helm's client (Helm's library renders the chart), what Docker builds, the nodes
of both clusters, provider-helm. provider-kubernetes is the newest that can be built; its package has the version that
ours depends on.
"""

import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from function.publish import access
from package import build, xpkg
from tests.e2e import builds, charts, internet, kubelets, pins, programs, registry
from tests.e2e.inference import install
from tests.e2e.internet import Internet
from tests.e2e.kube import Api, Object, says
from tests.e2e.kubelets import Kubelets
from tests.e2e.pages import Block
from tests.e2e.processes import Process, healthy, listens, ports
from tests.e2e.programs import SYSTEM, Site
from tests.e2e.waiting import until

REPOSITORY = Path(__file__).parents[2]
REGISTRY = "registry.example.org"
PROVIDERS = tuple(one for one in build.configuration()[0]["spec"]["dependsOn"] if one["kind"] == "Provider")
HOSTS = (REGISTRY, *sorted({one["package"].partition("/")[0] for one in PROVIDERS}))
BROUGHT = {"provider-kubernetes": pins.PROVIDER_KUBERNETES, "provider-helm": pins.PROVIDER_HELM}
KINDS = {"provider-kubernetes": "kubernetes.m.*.yaml", "provider-helm": "helm.m.*.yaml"}
EDGE = (pins.LEADER_WORKER_SET, pins.GATEWAY_API, pins.INFERENCE_EXTENSION, pins.ENVOY_GATEWAY)
CONTROLLERS = ("garbage-collector-controller", "namespace-controller", "clusterrole-aggregation-controller",
               "validatingadmissionpolicy-status-controller")  # fmt: skip
NO_LEASE = {"LEADER_ELECTION": "false"}
"""A program that cannot renew its lease in time ends. A kubelet starts it again, and nobody does here."""
PAUSED, PORT = "crossplane.io/paused", "modelplane.test/port"
LONGEST_WAIT = 15
TIMEOUT = re.compile(r"--timeout=(\d+)m")
_OF_MAKE = frozenset({"MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"})
"""Variables of a `make` that runs this story. An operator's shell has none, and `make` prints more with them."""
REVISIONS = "/apis/pkg.crossplane.io/v1/functionrevisions"


@dataclass(slots=True)
class Cluster:
    """A cluster, and who plays its nodes."""

    name: str
    api: Api
    nodes: Kubelets


@dataclass(slots=True)
class Platform:
    """What a platform team has: a shell in a checkout, an empty control cluster, and an inference cluster."""

    site: Site
    control: Cluster
    internet: Internet
    version: str
    checkout: Path
    variables: dict[str, str] = field(default_factory=dict)
    manager: Process | None = None

    # The shell

    def run(self, block: Block) -> str:
        """Run the commands of a block, and give what they print."""
        return "".join(self.command(one) for one in block.commands)

    def command(self, command: str) -> str:
        words = shlex.split(command)
        played = {"helm": self.helm, "docker": self.docker, "make": self.make, "export": self.export}.get(words[0])
        if played:
            return played(*words[1:])
        printed = self.shell(command)
        if " scale " in command:  # `kubectl wait` sees pods that end: here are none to be seen
            until(self.control.nodes.is_settled, "the pods of Deployments to run or end as they should")
        return printed

    def shell(self, command: str) -> str:
        done = self.tried(TIMEOUT.sub(patient, command))
        if done.returncode:
            seen = self.tried(described(command)).stdout if " wait " in command else ""
            raise AssertionError(f"{command}\n{done.stdout}{done.stderr}{seen}")
        return done.stdout

    def tried(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.checkout, env=self.env(), text=True, capture_output=True, check=False,
        )  # fmt: skip

    def env(self) -> dict[str, str]:
        programs_ = (self.site.tools, self.site.program(pins.CLI).parent)
        return {
            **{name: value for name, value in os.environ.items() if name not in _OF_MAKE},
            **self.internet.env,
            **self.variables,
            "PATH": ":".join((*map(str, programs_), os.environ["PATH"])),
            "KUBECONFIG": str(self.site.folder / f"{self.control.name}.kubeconfig"),
            "NO_PROXY": "127.0.0.1,localhost",
            "HOME": str(self.checkout),
        }

    def export(self, assignment: str) -> str:
        name, _, text = assignment.partition("=")
        self.variables[name] = text
        return ""

    def make(self, *arguments: str) -> str:
        """Run the recipe of a target, without the environment that it makes first."""
        said = self.shell(f"make --dry-run {shlex.join(arguments)}".replace("'$", "$").replace("'", ""))
        return self.shell(said.strip().splitlines()[-1])

    def docker(self, *arguments: str) -> str:
        if arguments[0] == "save":
            internet.image(self.checkout / arguments[arguments.index("-o") + 1])
        return ""

    def publish(self, version: str) -> None:
        """Have another version of both packages in the registry: they differ in an annotation."""
        repository = f"{REGISTRY}/team"
        made = {
            "configuration-modelplane": build.configuration(f"{repository}/function-modelplane"),
            "function-modelplane": build.function(),
        }
        for name, (meta, *rest) in made.items():
            meta["metadata"]["annotations"]["modelplane.test/version"] = version
            self.internet.found.update(registry.paths({f"team/{name}:{version}": xpkg.package([meta, *rest])}))

    # Helm

    def helm(self, verb: str, *arguments: str) -> str:
        if verb == "install":
            self.install_crossplane(yaml.safe_load((self.checkout / option(arguments, "--values")).read_text()))
        elif verb == "uninstall":
            self.uninstall_crossplane()
        return ""

    def chart(self, values: dict[str, Any]) -> tuple[Object, ...]:
        folder = self.site.folder / self.control.name / "chart"
        if not folder.exists():
            builds.copy(self.site.build(pins.CROSSPLANE_CHART).files("chart"), folder)
        helm = charts.Helm(self.site.program(pins.HELM), {}, charts.served(self.control.api))
        question = {"release": "crossplane", "namespace": SYSTEM, "version": self.version.removeprefix("v")}
        found = helm.ask(
            folder=str(folder), kubernetes=pins.KUBERNETES, served=helm.served, values=values, **question
        )  # fmt: skip
        return tuple(placed(self.control.api, one) for one in found["objects"])

    def install_crossplane(self, values: dict[str, Any]) -> None:
        """Install the chart, and wait until its Deployments are available."""
        api = self.control.api
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
        objects = self.chart(values)
        api.apply(*(one for one in objects if one["kind"] != "Deployment"))
        api.apply(*(one for one in objects if one["kind"] == "Deployment"))

    def uninstall_crossplane(self) -> None:
        """Delete what the chart installed; its pods end."""
        values = yaml.safe_load((self.checkout / "package/crossplane-values.yaml").read_text())
        objects = self.chart(values)
        for one in objects:
            if one["kind"] == "Deployment":
                self.end(one)
        until(lambda: self.deleted(objects), "what the chart installed to be deleted")

    def deleted(self, objects: tuple[Object, ...]) -> bool:
        """Delete objects, and tell whether all are gone: the parts of an aggregated role have it written again."""
        api = self.control.api
        left = [one for one in objects if api.current(one)]
        for one in left:
            api.delete(one)
        return not left

    def end(self, deployment: Object) -> None:
        """End the program of a Deployment."""
        name = f"{self.control.name}-{deployment['metadata']['name']}"
        if ended := [one for one in self.site.processes.running if one.name in (name, f"{name}-function")]:
            self.site.processes.stop(*ended)

    # Pods

    def run_crossplane(self, deployment: Object) -> None:
        nodes, folder = self.control.nodes, self.site.folder / self.control.name
        build_ = self.site.build(pins.CROSSPLANE[self.version])
        init = nodes.container(deployment, build_.program, "--enable-webhooks=false", init=0)
        until(lambda: init.succeeds(CRDS_PATH=str(build_.files("crds"))), "crossplane core init")
        health, metrics, webhooks = ports(3)
        (folder / "xpkg").mkdir(parents=True, exist_ok=True)
        nodes.container(
            deployment,
            build_.program,
            f"--tls-client-certs-dir={self.site.pki.client}",
            f"--tls-server-certs-dir={self.site.pki.server}",
            f"--cache-dir={folder / 'xpkg'}",
            f"--webhook-port={webhooks}",
            f"--metrics-port={metrics}",
            f"--health-probe-port={health}",
            "--debug",
        ).start(healthy(health, "/readyz"), **self.internet.env, **NO_LEASE)
        nodes.api.apply(programs.usage_webhook(f"https://127.0.0.1:{webhooks}", programs.bundle(self.site)))

    def run_manager(self, deployment: Object) -> None:
        program = self.site.program(pins.CROSSPLANE[self.version])
        self.manager = self.control.nodes.container(deployment, program).start(listens(8080), **NO_LEASE)

    def run_function(self, deployment: Object) -> None:
        """At an address of loopback, of which Crossplane's package manager would know nothing: it is paused."""
        (port,) = ports(1)
        name = deployment["metadata"]["name"]
        programs.function(self.site, f"{self.control.name}-{name}", port)
        [revision] = [one for one in self.revisions() if one["metadata"]["name"] == name]
        self.control.nodes.api.patch(revision, {"metadata": {"annotations": {PORT: str(port)}}})

    def revisions(self) -> list[Object]:
        return list(self.control.nodes.items(REVISIONS, "pkg.crossplane.io/v1", "FunctionRevision"))

    def connect_function(self) -> None:
        """Pause the function's revision once it is healthy, and give it the address at which the function serves.

        Once it is deleted, or another revision takes its place, it is not paused: Crossplane has to end it.
        """
        api = self.control.nodes.api
        for one in self.revisions():
            annotations = one["metadata"].get("annotations", {})
            is_paused, port = PAUSED in annotations, annotations.get(PORT)
            is_over = "deletionTimestamp" in one["metadata"] or one["spec"]["desiredState"] != "Active"
            if is_over and is_paused:
                api.patch(one, {"metadata": {"annotations": {PAUSED: None}}})
            elif port and not is_paused and not is_over and says(one, "RuntimeHealthy"):
                api.patch(one, {"metadata": {"annotations": {PAUSED: "true"}}})
                api.patch(one, {"status": {"endpoint": f"127.0.0.1:{port}"}}, "status")

    def run_provider(self, deployment: Object) -> None:
        """Its port 8080 is the RBAC manager's as well, which has done its work: a kubelet gives each a network."""
        nodes = self.control.nodes
        account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
        until(lambda: bound(nodes.api, account), f"the RBAC manager to bind {account}")
        until(lambda: defined(nodes.api), "the RBAC manager to let Crossplane write each kind that is defined")
        if self.manager:
            self.site.processes.stop(self.manager)
            self.manager = None
        (health,) = ports(1)
        arguments = ("--debug", "--poll=10s", f"--health-probe-bind-addr=127.0.0.1:{health}")
        container = nodes.container(deployment, self.site.program(pins.PROVIDER_KUBERNETES), *arguments)
        container.start(healthy(health, "/readyz"), WEBHOOK_TLS_CERT_DIR=str(self.site.pki.server))


def patient(timeout: re.Match[str]) -> str:
    """What a page waits on an idle cluster, on a machine that runs a dozen other programs."""
    return f"--timeout={max(LONGEST_WAIT, int(timeout[1]))}m"


def described(wait: str) -> str:
    """The command that shows what a `kubectl wait` waited for."""
    words = [one for one in shlex.split(wait) if one != "--all" and not one.startswith(("--for", "--timeout"))]
    words[words.index("wait")] = "describe"
    return shlex.join(words)


def option(arguments: tuple[str, ...], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def bound(api: Api, account: str) -> bool:
    """Whether a provider has the rights to its own kinds."""
    found = api.list("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
    names = {one["metadata"]["name"] for one in found for to in one.get("subjects", ()) if to.get("name") == account}
    return any(name.startswith("crossplane:provider:") for name in names)


def defined(api: Api) -> bool:
    """Whether Crossplane has the rights to all of our kinds: it needs them last when their definitions are deleted."""
    made = {one["metadata"]["name"] for one in api.list("rbac.authorization.k8s.io/v1", "ClusterRole")}
    return {f"crossplane:composite:{one.plural}.{one.group}:aggregate-to-crossplane" for one in access.OURS} <= made


def placed(api: Api, manifest: Object) -> Object:
    """An object of a chart in its namespace."""
    if api.resource(manifest["apiVersion"], manifest["kind"]).namespaced:
        manifest["metadata"].setdefault("namespace", SYSTEM)
    return manifest


def images(site: Site) -> dict[str, xpkg.Image]:
    """The providers, as their registry has them. Those of clouds bring nothing."""
    return {
        f"{one['package'].partition('/')[2]}:{oldest(one)}": xpkg.package(provider(site, one["package"]))
        for one in PROVIDERS
    }


def oldest(dependency: Object) -> str:
    return str(dependency["version"].partition(",")[0].removeprefix(">="))


def provider(site: Site, package: str) -> list[Object]:
    name = package.rpartition("/")[2]
    meta: Object = {"apiVersion": "meta.pkg.crossplane.io/v1", "kind": "Provider", "metadata": {"name": name}}
    if name not in BROUGHT:
        return [{**meta, "spec": {}}]
    folder = site.build(BROUGHT[name]).files("crds")
    texts = (path.read_text() for path in sorted(folder.glob(KINDS[name])))
    return [{**meta, "spec": {"capabilities": ["SafeStart"]}}, *(yaml.safe_load(text) for text in texts)]


def checkout(site: Site, name: str) -> Path:
    """A folder as a clone of the repository is, in which things may be written."""
    folder = site.folder / f"checkout-{name}"
    folder.mkdir()
    for path in REPOSITORY.iterdir():
        if path.name != "dist" and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@contextlib.contextmanager
def cluster(site: Site, store: int, name: str, address: str, *controllers: str) -> Iterator[Cluster]:
    """A cluster without nodes, and somebody who plays them."""
    api = programs.api_server(site, name, store)
    programs.controller_manager(site, name, *controllers)
    with kubelets.playing(Kubelets(site, name, api, address)) as nodes:
        yield Cluster(name, api, nodes)


@contextlib.contextmanager
def platform(site: Site, store: int, name: str, version: str) -> Iterator[Platform]:
    """An empty control cluster, and a shell for whoever installs there."""
    with internet.reached(site, images(site), *HOSTS) as reached, cluster(
        site, store, name, "198.18.0.3", *CONTROLLERS
    ) as control:  # fmt: skip
        made = Platform(site, control, reached, version, checkout(site, name))
        control.nodes.runs = {
            "crossplane": made.run_crossplane,
            "crossplane-rbac-manager": made.run_manager,
            "crossplane-contrib-provider-kubernetes": made.run_provider,
            "team-function-modelplane": made.run_function,
        }
        control.nodes.ends = made.end
        control.nodes.each = made.connect_function
        yield made


def edge(site: Site, api: Api) -> None:
    """What the inference cluster has before: kinds that charts would bring, and a node for the pool."""
    for module in EDGE:
        install(api, site, module)
    api.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "starter-l4-0"}})
