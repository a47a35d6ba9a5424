"""The inference cluster with the nodes of random fleets, and pods put there by hand: kube-scheduler decides."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from tests.e2e import objects
from tests.e2e.inference import takes_pods
from tests.e2e.kube import Api, Object, condition
from tests.e2e.planned import POOL, Workload
from tests.e2e.random_fleet import FLEET, RandomFleet, device_classes
from tests.e2e.waiting import until

WRITERS = 6
SHOWN = "20"  # pods of which it is told that they wait
FORCED = "forced"  # the namespace of what Modelplane refused
CLAIM, CLAIM_TEMPLATE = ("resource.k8s.io/v1", "ResourceClaim"), ("resource.k8s.io/v1", "ResourceClaimTemplate")
OURS = f"{FLEET}=random"


@dataclass(slots=True)
class Yard:
    cluster: Api
    fleets: Sequence[RandomFleet]
    writers: list[Api] = field(init=False)

    def __post_init__(self) -> None:
        self.writers = [self.cluster.as_user(self.cluster.token) for _ in range(WRITERS)]

    def furnish(self) -> None:
        self.cluster.apply(*device_classes(), objects.namespace(FORCED))
        self.create([objects.namespace(one.name) for one in self.fleets])
        self.create([manifest for one in self.fleets for manifest in (*one.nodes, *one.slices)])

    def await_nodes(self) -> None:
        """Wait until every node takes pods. They are looked at one after the other, for all are a megabyte."""
        for one in (node for fleet in self.fleets for node in fleet.nodes):
            look = partial(self.cluster.current, one)
            until(look, f"{one['metadata']['name']} to take pods", holds=lambda seen: seen and takes_pods(seen))

    def clear(self) -> None:
        for namespace in (FORCED, *(one.name for one in self.fleets)):
            self.empty(namespace)
            self.cluster.delete(objects.namespace(namespace))
        for api_version, kind in (("v1", "Node"), ("resource.k8s.io/v1", "ResourceSlice")):
            self.cluster.send("DELETE", self.cluster.resource(api_version, kind).path(None), labelSelector=OURS)

    # Pods

    def bring(self, pods: Sequence[Object]) -> None:
        """Create pods in this order, and wait until each is bound to a node of its pool."""
        self.create(pods)
        until(self.unbound, f"{len(pods)} pods to be bound", holds=lambda seen: not seen)

    def restart(self, pods: Sequence[Object]) -> None:
        """Delete pods at once, create them again in this order, and wait until each is bound."""
        self.each(pods, lambda api, one: api.delete(one, gracePeriodSeconds="0"))
        self.bring(pods)

    def unbound(self) -> list[str]:
        """What some of the pods say that are on no node, but for those that are forced."""
        waiting = self.listed("v1", "Pod", "modelplane.ai/workload", fieldSelector="spec.nodeName=", limit=SHOWN)
        return [
            f"{one['metadata']['namespace']}/{one['metadata']['name']} on {one['spec']['nodeSelector'][POOL]}: "
            f"{condition(one, 'PodScheduled').get('message', 'nothing yet')}"
            for one in waiting
            if one["metadata"]["namespace"] != FORCED
        ]

    def strayed(self) -> list[str]:
        """Pods on a node of another pool than theirs."""
        pools = {name: pool.name for one in self.fleets for pool in one.pools.values() for name in pool.node_names}
        return [
            f"{one['metadata']['name']} of {one['spec']['nodeSelector'][POOL]} on {one['spec']['nodeName']}"
            for one in self.listed("v1", "Pod", "modelplane.ai/workload")
            if pools.get(one["spec"].get("nodeName", "")) != one["spec"]["nodeSelector"][POOL]
        ]

    def empty(self, namespace: str) -> None:
        """Delete all pods of a namespace at once, as if their kubelets had agreed."""
        self.cluster.send("DELETE", self.cluster.resource("v1", "Pod").path(namespace), gracePeriodSeconds="0")

    # What was refused

    def force(self, trials: Sequence[tuple[Workload, ...]]) -> list[list[str]]:
        """Create the pods of replicas, and give for each what its unschedulable pods say. Nothing of them is left.

        A pod's claim reaches kube-scheduler after the end of the claims before it, by the same watch: what was forced
        before does not stand in its way.
        """
        self.create([claim for trial in trials for one in trial for claim in one.claims])
        self.create([pod for trial in trials for one in trial for pod in one.pods])
        said = [[self.judged(pod) for one in trial for pod in one.pods] for trial in trials]
        self.empty(FORCED)
        self.cluster.send("DELETE", self.cluster.resource(*CLAIM_TEMPLATE).path(FORCED))
        until(lambda: self.cluster.list(*CLAIM, FORCED), "the devices to be free again", holds=lambda seen: not seen)
        return [[one for one in trial if one] for trial in said]

    def judged(self, pod: Object) -> str:
        """Wait until kube-scheduler has judged a pod, and give why it is unschedulable; empty if it is bound."""

        def look() -> str | None:
            found = self.cluster.current(pod)
            return verdict(found) if found else None

        found = until(look, f"{pod['metadata']['name']} to be judged", holds=lambda seen: seen is not None)
        return found or ""

    # How it is done

    def create(self, manifests: Sequence[Object]) -> None:
        self.each(manifests, Api.create)

    def each(self, manifests: Sequence[Object], act: Callable[[Api, Object], object]) -> None:
        """Do something to each object, in order, with several connections at once."""
        with ThreadPoolExecutor(len(self.writers)) as threads:
            shares = [manifests[start :: len(self.writers)] for start in range(len(self.writers))]
            list(threads.map(lambda api, share: [act(api, one) for one in share], self.writers, shares))

    def listed(self, api_version: str, kind: str, labels: str, **options: str) -> list[Object]:
        path = self.cluster.resource(api_version, kind).path(None)
        return list(self.cluster.send("GET", path, labelSelector=labels, **options)["items"])


def verdict(pod: Object) -> str | None:
    if pod["spec"].get("nodeName"):
        return ""
    said = condition(pod, "PodScheduled")
    message = str(said.get("message", ""))
    return message if said.get("reason") == "Unschedulable" and message.startswith("0/") else None
