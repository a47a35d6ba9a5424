"""How each program is run on loopback, outside containers and outside a cluster."""

import base64
import functools
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e import audit, builds, pins, pki
from tests.e2e.kube import ACCOUNTS, CONTROLLERS, CROSSPLANE, PROVIDER, TOKENS, Api
from tests.e2e.processes import Process, Processes, healthy, listens, ports
from tests.e2e.waiting import until

SYSTEM = "crossplane-system"
# Addresses of the range for benchmarks (RFC 2544), which is routed nowhere; loopback addresses are no endpoints.
POD_ADDRESSES = "198.18.1.0/24"
NODE_ADDRESS = "198.18.0.1"
# By default an XR that sees more than 100 events loses all but one in 30 s for five minutes (crossplane v2.4, internal/
# circuit). An update counts twice, and a ModelReplica wakes its deployment as composed and as required: one deployment
# that becomes Ready within seconds is enough.
ROOM_FOR_EVENTS = ("--circuit-breaker-burst=1000", "--circuit-breaker-refill-rate=50")
REQUESTS = 500  # a second, of Kubernetes' own clients: by default 20 and 50, which hundreds of pods wait for
SPREADS, PACKS = "default-scheduler", "packing-scheduler"  # names by which pods choose how they are scored
CLUSTER_GATEWAY = ("198.18.0.2", 80)
CONTROL_GATEWAY = ("198.18.0.3", 8000)


@dataclass(frozen=True, slots=True)
class Site:
    """Where a run keeps what it needs: a temporary folder, certificates, built programs."""

    folder: Path
    pki: pki.Pki
    processes: Processes
    cache: Path
    toolchain: str
    tools: Path  # folder of the programs from PyPI

    def build(self, module: pins.Module) -> builds.Build:
        return builds.build(module, self.cache, self.toolchain)

    def program(self, module: pins.Module) -> Path:
        return self.build(module).program

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path


def etcd(site: Site) -> int:
    """Serves all API servers, each under a prefix. Gives its port."""
    port, peer = ports(2)
    site.processes.start(
        "etcd",
        site.program(pins.ETCD),
        f"--data-dir={site.folder / 'etcd'}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        *(f"--{flag}-client-urls=http://127.0.0.1:{port}" for flag in ("listen", "advertise")),
        *(f"--{flag}-peer-urls=http://127.0.0.1:{peer}" for flag in ("listen", "initial-advertise")),
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        serves=healthy(port, "/health"),
    )
    return port


def api_server(site: Site, name: str, store: int) -> Api:
    """An API server that knows an administrator, Crossplane, its provider and the controllers, whom RBAC allows
    everything; other users can be tried. It logs what Crossplane and the provider ask of it."""
    (port,) = ports(1)
    api = Api(port, site.pki.authority)
    site.processes.start(
        f"{name}-kube-apiserver",
        site.program(pins.API_SERVER),
        *serving(site, port),
        f"--etcd-servers=http://127.0.0.1:{store}",
        f"--etcd-prefix=/{name}",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.96.0.0/16",
        f"--token-auth-file={site.write('tokens.csv', known_users())}",
        "--authorization-mode=RBAC",
        "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={site.pki.accounts}",
        f"--service-account-signing-key-file={site.pki.accounts}",
        *audit.flags(site.write("audit-policy.json", json.dumps(audit.POLICY)), site.folder / name / audit.LOG),
        serves=api.serves,
    )
    site.write(f"{name}.kubeconfig", api.kubeconfig())
    for user in (CROSSPLANE, CONTROLLERS, PROVIDER):
        site.write(f"{name}.{user.rpartition(':')[2]}.kubeconfig", api.as_user(TOKENS[user]).kubeconfig())
    return api


def known_users() -> str:
    """Of every API server: tokens, names and groups."""
    return "\n".join(f'{token},{user},{user},"{",".join(groups(user))}"' for user, token in TOKENS.items())


def groups(user: str) -> tuple[str, ...]:
    return ("system:masters", ACCOUNTS) if ACCOUNTS.partition(":serviceaccounts")[2] in user else ("system:masters",)


def controller_manager(site: Site, name: str, *controllers: str) -> Process:
    """The named controllers, or all."""
    (port,) = ports(1)
    return site.processes.start(
        f"{name}-kube-controller-manager",
        site.program(pins.CONTROLLER_MANAGER),
        *serving(site, port),
        f"--kubeconfig={kubeconfig(site, name, CONTROLLERS)}",
        f"--service-account-private-key-file={site.pki.accounts}",
        "--leader-elect=false",
        f"--kube-api-qps={REQUESTS}",
        f"--kube-api-burst={REQUESTS}",
        *((f"--controllers={','.join(controllers)}",) if controllers else ()),
        serves=listens(port),
    )


def scheduler(site: Site, name: str) -> None:
    (port,) = ports(1)
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig(site, name)), "qps": REQUESTS, "burst": REQUESTS},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": SPREADS}, {"schedulerName": PACKS, "pluginConfig": [filling_nodes()]}],
    }
    site.processes.start(
        f"{name}-kube-scheduler",
        site.program(pins.SCHEDULER),
        *serving(site, port),
        f"--config={site.write(f'{name}-scheduler.json', json.dumps(config))}",
        serves=listens(port),
    )


def filling_nodes() -> dict[str, Any]:
    """Scores that prefer nodes that are in use: by default those that are not."""
    strategy = {"type": "MostAllocated", "resources": [{"name": one, "weight": 1} for one in ("cpu", "memory")]}
    return {"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}


def kwok(site: Site, name: str) -> None:
    """Plays every node's kubelet: nodes are ready, pods that are bound run and are ready, pods that are deleted go."""
    (port,) = ports(1)
    stages = site.build(pins.KWOK).files("stages")
    wanted = (
        "node/fast/node-initialize",
        "node/heartbeat/node-heartbeat",
        "pod/fast/pod-ready",
        "pod/fast/pod-complete",
        "pod/fast/pod-delete",
    )
    site.processes.start(
        f"{name}-kwok",
        site.program(pins.KWOK),
        f"--kubeconfig={kubeconfig(site, name)}",
        "--manage-all-nodes",
        f"--cidr={POD_ADDRESSES}",
        f"--node-ip={NODE_ADDRESS}",
        f"--server-address=127.0.0.1:{port}",
        *(f"--config={stages / stage}.yaml" for stage in wanted),
        serves=healthy(port, "/healthz"),
    )


def leader_worker_set(site: Site, name: str, api: Api) -> None:
    """LeaderWorkerSet's controller with its webhooks, which inject the environment of a gang."""
    webhooks, health, metrics = ports(3)
    config = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhooks, "certDir": str(site.pki.server)},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics}"},
    }
    site.processes.start(
        f"{name}-lws",
        site.program(pins.LEADER_WORKER_SET),
        f"--config={site.write(f'{name}-lws.json', json.dumps(config))}",
        KUBECONFIG=str(kubeconfig(site, name)),
        serves=healthy(health, "/readyz"),
    )
    api.apply(*leader_worker_set_webhooks(f"https://127.0.0.1:{webhooks}", bundle(site)))


def leader_worker_set_webhooks(url: str, authority: str) -> list[dict[str, Any]]:
    """What LWS's chart installs (test_charts.py), with an address on loopback in the place of a Service."""
    sets = {"apiGroups": ["leaderworkerset.x-k8s.io"], "apiVersions": ["v1"], "resources": ["leaderworkersets"]}
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    theirs = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}

    def hook(name: str, path: str, rule: dict[str, Any], *operations: str, **more: Any) -> dict[str, Any]:
        return {
            "name": name,
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "clientConfig": {"url": url + path, "caBundle": authority},
            "rules": [rule | {"operations": list(operations)}],
            **more,
        }

    mutating = [
        hook("mlws.kb.io", "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset", sets, "CREATE", "UPDATE"),
        hook("mpod.kb.io", "/mutate--v1-pod", pods, "CREATE", objectSelector=theirs),
    ]
    validating = [
        hook("vlws.kb.io", "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset", sets, "CREATE", "UPDATE"),
        hook("vpod.kb.io", "/validate--v1-pod", pods, "CREATE", "UPDATE", objectSelector=theirs),
    ]
    return [
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": "lws"},
            "webhooks": hooks,
        }
        for kind, hooks in (("Mutating", mutating), ("Validating", validating))
    ]


def gateway(site: Site, name: str, address: str, port: int, listener: int | None = None) -> Process:
    """Serves the routes of a cluster's Gateways, all at one address; their listeners' port may be another."""
    return site.processes.start(
        f"{name}-gateway",
        site.program(pins.GATEWAY),
        f"-listen={address}:{port}",
        f"-entrypoint=web=:{listener or port}",
        f"-address={address}",
        KUBECONFIG=str(kubeconfig(site, name)),
        serves=listens(port, address),
    )


def crossplane(site: Site, name: str, version: str, api: Api) -> int:
    """Crossplane's core, calling functions over mTLS. It makes certificates of its own, which go unused.

    Gives the port of its metrics.
    """
    build, user = site.build(pins.CROSSPLANE[version]), str(kubeconfig(site, name, CROSSPLANE))
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
    init = functools.partial(initialise, site, build, user)
    until(init, "crossplane core init")  # fails until the API server serves the CRDs that it made
    health, metrics, webhooks = ports(3)
    site.processes.start(
        f"{name}-crossplane",
        build.program,
        "core",
        "start",
        f"--namespace={SYSTEM}",
        "--debug",
        "--package-runtime=External",
        *ROOM_FOR_EVENTS,
        f"--tls-client-certs-dir={site.pki.client}",
        f"--tls-server-certs-dir={site.pki.server}",
        f"--cache-dir={site.folder / name / 'xpkg'}",
        f"--webhook-port={webhooks}",
        f"--metrics-port={metrics}",
        f"--health-probe-port={health}",
        KUBECONFIG=user,
        serves=healthy(health, "/readyz"),
    )
    api.apply(usage_webhook(f"https://127.0.0.1:{webhooks}", bundle(site)))
    return metrics


def initialise(site: Site, build: builds.Build, user: str) -> bool:
    """Install Crossplane's CRDs."""
    done = subprocess.run(
        [build.program, "core", "init", f"--namespace={SYSTEM}", "--enable-webhooks=false"],
        env={
            "KUBECONFIG": user,
            "CRDS_PATH": str(build.files("crds")),
            "TLS_CA_SECRET_NAME": "crossplane-root-ca",
            "TLS_CLIENT_SECRET_NAME": "crossplane-tls-client",
            "HOME": str(site.folder),
        },
        check=False,
        capture_output=True,
    )
    return done.returncode == 0


def usage_webhook(url: str, authority: str) -> dict[str, Any]:
    """Lets Crossplane refuse to delete what a Usage protects; its own would point at a Service (crossplane v2.3)."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "crossplane-no-usages"},
        "webhooks": [
            {
                "name": "nousages.protection.crossplane.io",
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": f"{url}/validate-no-usages", "caBundle": authority},
                "objectSelector": {"matchLabels": {"crossplane.io/in-use": "true"}},
                "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["DELETE"], "resources": ["*"]}],
                "failurePolicy": "Fail",
                "sideEffects": "None",
            }
        ],
    }


def provider_kubernetes(site: Site, name: str) -> Process:
    """Two of its ports cannot be chosen: 8080 (metrics) and 9443 (webhooks), on all interfaces (v1.2.1)."""
    (health,) = ports(1)
    return site.processes.start(
        f"{name}-provider-kubernetes",
        site.program(pins.PROVIDER_KUBERNETES),
        "--debug",
        "--enable-watches",
        "--sanitize-secrets",
        "--poll=10s",
        f"--health-probe-bind-addr=127.0.0.1:{health}",
        KUBECONFIG=str(kubeconfig(site, name, PROVIDER)),
        WEBHOOK_TLS_CERT_DIR=str(site.pki.server),
        serves=healthy(health, "/readyz"),
    )


def function(site: Site, name: str, port: int, *, insecure: bool = False) -> Process:
    """Our own server: as its image runs it, over mTLS, or in plain text for a renderer."""
    return site.processes.start(
        f"{name}-function",
        Path(sys.executable).with_name("modelplane"),
        "serve",
        f"--address=127.0.0.1:{port}",
        "--insecure" if insecure else f"--tls-certs-dir={site.pki.server}",
        serves=listens(port),
    )


def kubectl(site: Site, name: str, *arguments: str, stdin: str = "") -> str:
    """What kubectl prints; what it says on failure is the error's message."""
    command = [site.tools / "kubectl", f"--kubeconfig={kubeconfig(site, name)}", *arguments]
    done = subprocess.run(command, input=stdin, text=True, capture_output=True, check=False, cwd=site.folder)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def serving(site: Site, port: int) -> tuple[str, ...]:
    """What all of Kubernetes' servers are told."""
    return (
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={site.pki.server / 'tls.crt'}",
        f"--tls-private-key-file={site.pki.server / 'tls.key'}",
    )


def kubeconfig(site: Site, name: str, user: str = "") -> Path:
    """Of an API server, for a user; an administrator's if none is given."""
    return site.folder / ".".join(filter(None, (name, user.rpartition(":")[2], "kubeconfig")))


def bundle(site: Site) -> str:
    return base64.b64encode(site.pki.authority.read_bytes()).decode()
