"""An InferenceCluster whose capacity is observed, by the program that its serving stack installs.

kwok only plays the pod of the observer's Deployment. So the program runs here, with the service account that the stack
has made on the cluster, and with no other right.
"""

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from function.vocabulary import labels, names
from tests.e2e import fleet, objects
from tests.e2e.control import Control
from tests.e2e.inference import takes_pods
from tests.e2e.kube import Api, Object, Refused, condition
from tests.e2e.processes import Process, healthy, ports
from tests.e2e.waiting import until

POOL = fleet.Pool(name="watched-h100", hardware=fleet.H100, nodes=2)
CLUSTER = fleet.Cluster(name="watched", pools=(POOL,), labels={"modelplane.ai/region": "watched"})
FIRST, SECOND = (f"{POOL.name}-{index}" for index in range(POOL.nodes))


@dataclass(slots=True)
class Watched:
    control: Control
    cluster: Api
    observer: Process = field(init=False)

    @property
    def manifest(self) -> Object:
        return objects.cluster(CLUSTER, capacity={"source": "Observed"})

    def bring(self) -> None:
        """Add the nodes and the InferenceCluster, and start the program once its rights are there."""
        for name in (FIRST, SECOND):
            self.add(name)
        self.control.api.apply(objects.secret(CLUSTER.name, kubeconfig=self.cluster.from_outside()), self.manifest)
        account = functools.partial(self.cluster.find, "v1", "ServiceAccount", names.OBSERVER, objects.SYSTEM)
        until(account, "the service account of the observer")
        self.start()
        self.says("CapacityObserved", "Observed")

    def add(self, name: str) -> None:
        """Add a node with its devices, and wait until it takes pods."""
        self.cluster.apply(fleet.node(POOL, name), fleet.devices(fleet.H100, name))
        self.cluster.patch(self.node(name), fleet.room(), "status")
        until(functools.partial(self.node, name), f"node {name} to take pods", holds=takes_pods)

    def node(self, name: str) -> Object:
        return self.cluster.get("v1", "Node", name)

    def start(self) -> None:
        (port,) = ports(1)
        site = self.control.site
        config = site.write("watched.kubeconfig", self.cluster.as_user(self.token()).kubeconfig())
        self.observer = site.processes.start(
            names.OBSERVER,
            Path(sys.executable).with_name("modelplane"),
            "observe",
            "--follow",
            f"--kubeconfig={config}",
            f"--address=127.0.0.1:{port}",
            serves=healthy(port, "/readyz"),
        )

    def stop(self) -> None:
        self.control.site.processes.stop(self.observer)

    def token(self) -> str:
        """A token of the service account, as a pod has it."""
        path = f"/api/v1/namespaces/{objects.SYSTEM}/serviceaccounts/{names.OBSERVER}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        return str(self.cluster.send("POST", path, asked)["status"]["token"])

    def says(self, kind: str, reason: str) -> str:
        """Wait until a condition of the InferenceCluster has a reason, and give its message."""
        seen = until(
            lambda: condition(self.control.api.current(self.manifest), kind),
            f"the cluster to say {kind} {reason}",
            holds=lambda said: said.get("reason") == reason,
        )
        return str(seen["message"])

    def counts(self, **wanted: int) -> None:
        """Wait until the status of the InferenceCluster counts nodes by their state so."""

        def counted() -> dict[str, int]:
            status = (self.control.api.current(self.manifest) or {}).get("status", {})
            [pool] = status.get("capacity", {}).get("pools") or [{}]
            return {state: pool.get(state, 0) for state in wanted}

        until(counted, f"nodes to be counted as {wanted}", holds=lambda seen: seen == wanted)

    @contextmanager
    def cordoned(self, name: str) -> Iterator[None]:
        self.cluster.patch(self.node(name), {"spec": {"unschedulable": True}})
        try:
            yield
        finally:
            self.cluster.patch(self.node(name), {"spec": {"unschedulable": None}})

    def clear(self) -> None:
        self.stop()
        until(self.released, "nothing to use the cluster any more")
        for name in (FIRST, SECOND):
            for one in (fleet.devices(fleet.H100, name), fleet.node(POOL, name)):
                self.cluster.delete(one)

    def released(self) -> bool:
        """Whether the cluster could be deleted. The replicas of the last story are on it for a moment longer."""
        try:
            self.control.api.delete(self.manifest)
        except Refused:
            return False
        return True

    def notebook(self, namespace: str, devices: int) -> list[Object]:
        """A pod of somebody else that claims devices of the pool, and the template of its claim."""
        exactly = {"deviceClassName": fleet.DRIVER, "count": devices, "allocationMode": "ExactCount"}
        claim = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
        meta = {"name": "notebook", "namespace": namespace}
        template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": meta}
        container = {"name": "notebook", "image": "example.org/notebook:1", "resources": {"claims": [{"name": "gpu"}]}}
        spec = {
            "nodeSelector": {labels.POOL: POOL.name},
            "tolerations": [{"key": fleet.GPU_TAINT["key"], "operator": "Exists"}],
            "containers": [container],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "notebook"}],
        }
        return [
            {**template, "spec": {"spec": claim}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec},
        ]
