"""A prefill/decode pair, run as its pods would run it: llm-d's real picker and routing sidecars, as they are composed.

Pods are bound by the scheduler and simulated by kwok. Beside each pod that takes requests runs what is in it: sidecars
are the real program with the container's own arguments and variables, engines are stand-ins on the container's port.
The picker runs with its container's arguments and its pod's ServiceAccount.
"""

import contextlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.e2e import engines, pins, pod_network
from tests.e2e.engines import Engine
from tests.e2e.kube import Api, Object, says
from tests.e2e.pod_network import PodNetwork
from tests.e2e.processes import Process, listens
from tests.e2e.programs import Site
from tests.e2e.waiting import until
from tests.support import replicas

ROLE = "llm-d.ai/role"
CLUSTER = "west"
POOL = "west-l4"
GPU = {"name": "gpu", "deviceClassName": "gpu.nvidia.com"}
numbers = itertools.count(1)

Parts = Mapping[str, Object]


def composed(namespace: str, prefill: Object, decode: Object, *, copies: int = 1) -> Parts:
    """Compose a pair whose engines have these containers, and give its manifests by key."""
    phases = {"prefill": prefill, "decode": decode}
    each = [
        replicas.engine(name, member(container), phase=name.capitalize(), copies=copies)
        for name, container in phases.items()
    ]
    xr = replicas.replica(*each, namespace=namespace, clusterName="east", serving={"mode": "PrefillDecode"})
    return replicas.manifests(replicas.compose(xr, replicas.cluster(POOL)))


def vllm(connector: str, **env: str) -> tuple[Object, Object]:
    """The containers of a prefill and a decode engine."""

    def container(role: str) -> Object:
        transfer = json.dumps({"kv_connector": connector, "kv_role": role})
        return {
            "image": "vllm/vllm-openai:v0.33.0",
            "args": ["--model=org/model", f"--kv-transfer-config={transfer}"],
            "env": [{"name": name, "value": value} for name, value in env.items()],
        }

    return container("kv_producer"), container("kv_consumer")


def sglang(*options: str) -> tuple[Object, Object]:
    """The containers of a prefill and a decode engine."""

    def container(mode: str) -> Object:
        args = ["--model-path=org/model", "--host=0.0.0.0", f"--disaggregation-mode={mode}", *options]
        command = ["python3", "-m", "sglang.launch_server"]
        return {"image": "lmsysorg/sglang:v0.5.23", "command": command, "args": args}

    return container("prefill"), container("decode")


def member(container: Object) -> Object:
    template = {"spec": {"containers": [{"name": "engine"} | container]}}
    return {"role": "Standalone", "nodePoolName": POOL, "deviceRequests": [GPU], "template": template}


def apply(cluster: Api, parts: Parts) -> None:
    """Apply a pair, its namespace first."""
    cluster.apply(parts["namespace"], *(one for key, one in parts.items() if key != "namespace"))


def remove(cluster: Api, parts: Parts) -> None:
    """Delete a pair with its namespace, and wait until its nodes are free."""
    cluster.delete(parts["namespace"])
    name = parts["namespace"]["metadata"]["name"]
    until(lambda: cluster.list("v1", "Pod", name), f"the pods of {name} to go", holds=lambda seen: not seen)


# What runs beside the pods


def pods(cluster: Api, parts: Parts, key: str) -> list[Object]:
    """The pods of a composed Deployment, once all are Ready."""
    deployment = parts[key]
    namespace, labels = deployment["metadata"]["namespace"], deployment["spec"]["selector"]["matchLabels"]
    count = deployment["spec"]["replicas"]
    return until(
        lambda: cluster.list("v1", "Pod", namespace, labels),
        f"{count} Ready pods of {key}",
        holds=lambda seen: [says(one, "Ready") for one in seen] == [True] * count,
    )


@contextlib.contextmanager
def serving(site: Site, *pods: Object) -> Iterator[dict[str, Engine]]:
    """Run what is in the pods, and give the stand-ins for their engines by the pods' names."""
    with contextlib.ExitStack() as stack:
        yield {one["metadata"]["name"]: stack.enter_context(inside(site, one)) for one in pods}


@contextlib.contextmanager
def inside(site: Site, pod: Object) -> Iterator[Engine]:
    """A pod with a sidecar has a network of its own, since both listen on all addresses and meet on loopback."""
    [container] = pod["spec"]["containers"]
    name, address, sidecars = pod["metadata"]["name"], pod["status"]["podIP"], pod["spec"].get("initContainers", ())
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(pod_network.made(address)) if sidecars else None
        engine, *_ = [stack.enter_context(engines.serving(name, address, one, network)) for one in ports(container)]
        for one in sidecars:
            assert network
            stack.enter_context(sidecar(site, network, pod, one))
        yield engine


def ports(container: Object) -> list[int]:
    """Where an engine listens: for requests, and where Mooncake lets others ask for its ranks."""
    [port] = container["ports"]
    bootstrap = [one["value"] for one in container["env"] if one["name"] == "VLLM_MOONCAKE_BOOTSTRAP_PORT"]
    return [port["containerPort"], *map(int, bootstrap)]


@contextlib.contextmanager
def sidecar(site: Site, network: PodNetwork, pod: Object, container: Object) -> Iterator[None]:
    """Run llm-d's routing sidecar, and wait for what its startup probe waits for."""
    port = container["startupProbe"]["tcpSocket"]["port"]
    with network.entered():
        process = site.processes.launch(
            f"{pod['metadata']['name']}-{container['name']}",
            site.program(pins.ROUTING_SIDECAR),
            *container["args"],
            **variables(pod, container),
        )
    try:
        until(lambda: listens(port, network.address)() or not process.runs, "the routing sidecar to listen")
        assert process.runs, process.tail()
        yield
    finally:
        site.processes.stop(process)


def variables(pod: Object, container: Object) -> dict[str, str]:
    """A container's environment, as a kubelet resolves it."""
    return {one["name"]: one.get("value") or field(pod, one["valueFrom"]) for one in container.get("env", ())}


def field(pod: Object, source: Object) -> str:
    found: Any = pod
    for part in source["fieldRef"]["fieldPath"].split("."):
        found = found[part]
    return str(found)


# The picker


@dataclass(slots=True)
class Picker:
    """A picker beside its pod: with the arguments, the configuration and the rights that the pod has."""

    site: Site
    cluster: Api
    pod: Object
    process: Process | None = None

    def start(self) -> Process:
        """Start it, and wait until a kubelet would let it take requests."""
        process = self.launch()
        until(lambda: self.serves or not process.runs, "the picker to serve")
        assert process.runs, process.tail()
        return process

    def launch(self) -> Process:
        [container] = self.pod["spec"]["containers"]
        name = f"picker-{next(numbers)}"
        kubeconfig = self.site.write(f"{name}.kubeconfig", as_account(self.cluster, self.pod).kubeconfig())
        self.process = self.site.processes.launch(
            name,
            self.site.program(pins.PICKER),
            *mounted(self.site, self.cluster, self.pod, container, name),
            KUBECONFIG=str(kubeconfig),
            **variables(self.pod, container),
        )
        return self.process

    @property
    def serves(self) -> bool:
        """What its readiness probe finds."""
        probe = self.pod["spec"]["containers"][0]["readinessProbe"]["grpc"]
        with grpc.insecure_channel(f"{self.pod['status']['podIP']}:{probe['port']}") as channel:
            request = health_pb2.HealthCheckRequest(service=probe["service"])
            try:
                answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)
            except grpc.RpcError:
                return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    def stop(self) -> None:
        if self.process:
            self.site.processes.stop(self.process)
            self.process = None


@contextlib.contextmanager
def picker(site: Site, cluster: Api, parts: Parts) -> Iterator[Picker]:
    """The picker of a pair, which is not started yet; it is stopped in the end."""
    [pod] = pods(cluster, parts, "picker")
    one = Picker(site, cluster, pod)
    try:
        yield one
    finally:
        one.stop()


def mounted(site: Site, cluster: Api, pod: Object, container: Object, name: str) -> list[str]:
    """Put a container's ConfigMap into a folder, and give the arguments that lead there."""
    [mount] = container["volumeMounts"]
    [volume] = [one for one in pod["spec"]["volumes"] if one["name"] == mount["name"]]
    config = cluster.get("v1", "ConfigMap", volume["configMap"]["name"], pod["metadata"]["namespace"])
    for file, text in config["data"].items():
        site.write(f"{name}/{file}", text)
    return [one.replace(mount["mountPath"], str(site.folder / name)) for one in container["args"]]


def as_account(cluster: Api, pod: Object) -> Api:
    """The API server for a pod's ServiceAccount, by a token as a kubelet asks for it."""
    metadata = {"name": pod["spec"]["serviceAccountName"], "namespace": pod["metadata"]["namespace"]}
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    answer = cluster.send("POST", f"{cluster.address(account)}/token", request)
    return cluster.as_user(answer["status"]["token"])
