"""The pods of services' proxies on the control cluster, which has no nodes: real Envoys, fed as kubelets do."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.e2e import service_proxy
from tests.e2e.kube import CONTROLLERS, TOKENS, Api, Object
from tests.e2e.programs import Site
from tests.e2e.service_proxy import CONFIG, PODS, Running
from tests.e2e.team import Team

ADDRESS = "198.18.2.4"
SERVICE = "modelplane.ai/service"  # label of a proxy
PAUSE = 0.1
SLICE = "discovery.k8s.io/v1"


@dataclass(slots=True)
class Pods:
    """The proxies of a namespace's services, by name. A Deployment has one Envoy, which counts for all of its pods."""

    api: Api
    namespace: str
    site: Site
    secrets: Mapping[str, Mapping[str, str]]
    running: dict[str, Running] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    def follow(self) -> None:
        while not self.stopped.wait(PAUSE):
            self.look()
        for one in self.running.values():
            one.stop()

    def look(self) -> None:
        """Do what is to be done: start, exchange files, report, stop."""
        found = self.api.list("apps/v1", "Deployment", self.namespace)
        there = {one["metadata"]["name"]: one for one in found if SERVICE in one["metadata"].get("labels", {})}
        for name, deployment in there.items():
            config = self.api.find("v1", "ConfigMap", name, self.namespace)
            if config:
                self.run(name, deployment, config)
        for name in self.running.keys() - there.keys():
            self.running.pop(name).stop()

    def run(self, name: str, deployment: Object, config: Object) -> None:
        is_new = name not in self.running
        proxy = self.running.get(name) or self.placed()
        if is_new or proxy.observed[CONFIG]["data"] != config["data"]:
            proxy.observed = {CONFIG: config, PODS: deployment}
            proxy.write()
        if is_new:
            proxy.start()
            self.running[name] = proxy
        self.report(deployment)
        self.publish(name, proxy)

    def placed(self) -> Running:
        made = service_proxy.placed(self.site, ADDRESS)
        for name, data in self.secrets.items():
            made.secret(name, **data)
        return made

    def report(self, deployment: Object) -> None:
        generation = deployment["metadata"]["generation"]
        if deployment.get("status", {}).get("observedGeneration") != generation:
            counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 2)
            self.api.patch(deployment, {"status": {**counts, "observedGeneration": generation}}, "status")

    def publish(self, name: str, proxy: Running) -> None:
        """Write the slice of a proxy's Service."""
        service = self.api.find("v1", "Service", name, self.namespace)
        if service is None or self.api.find(SLICE, "EndpointSlice", name, self.namespace):
            return
        labels = {"kubernetes.io/service-name": name}
        port = int(proxy.url.rpartition(":")[2])
        self.api.apply(
            {
                "apiVersion": SLICE,
                "kind": "EndpointSlice",
                "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
                "addressType": "IPv4",
                "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": True}}],
                "ports": [{"name": service["spec"]["ports"][0]["name"], "port": port, "protocol": "TCP"}],
            }
        )


@contextlib.contextmanager
def playing(team: Team, site: Site, **secrets: Mapping[str, str]) -> Iterator[Pods]:
    """Play the pods of a namespace until the end of the block. `secrets` are what its Secrets hold."""
    # Another user has a connection of its own, for another thread.
    pods = Pods(team.api.as_user(TOKENS[CONTROLLERS]), team.namespace, site, secrets)
    thread = threading.Thread(target=pods.follow)
    thread.start()
    try:
        yield pods
    finally:
        pods.stopped.set()
        thread.join()
