"""What befalls nodes: they are cordoned, drained or lost. And what becomes of the pods on them."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from function import podspec
from function.scheduling import packing
from tests.e2e.fleet_story import REPLICA, WORKLOAD, Story, gang, named
from tests.e2e.kube import Gone, Object, condition, says
from tests.e2e.planned import POOL
from tests.e2e.random_fleet import Ask, Pool, node, slices
from tests.e2e.yard import verdict

WAITS = ("ModelStarting", "Degraded")  # reasons of ModelReady while an engine lacks copies


@dataclass(frozen=True, slots=True)
class Mishap:
    """Nodes by name, each of which runs pods that claim devices."""

    story: Story
    cordoned: Sequence[str]
    drained: Sequence[str]
    lost: Sequence[str]
    before: Sequence[Object]  # pods

    def happen(self) -> None:
        for name in (*self.cordoned, *self.drained):
            self._cordon(name, how=True)
        for name in self.lost:
            self._lose(name)
        for pod in self.before:
            if pod["spec"]["nodeName"] in self.drained:
                self._evict(pod)

    def mend(self) -> None:
        for name in (*self.cordoned, *self.drained):
            self._cordon(name, how=False)
        homes = [(pool, name) for one in self.story.fleets for pool in one.pools.values() for name in pool.node_names]
        lost = [(pool, name) for pool, name in homes if name in self.lost]
        self.story.yard.create(
            [made for pool, name in lost for made in (node(pool, name), *slices(pool.hardware, name))]
        )
        self.story.yard.await_nodes()

    # What is seen

    def __str__(self) -> str:
        counts = f"{len(self.lost)} lost, {len(self.drained)} drained, {len(self.cordoned)} cordoned"
        return f"{counts}: {len(self.before) - len(self.untouched)} pods hit, {len(self.waiting())} wait for a node"

    @property
    def hit(self) -> set[tuple[str, ...]]:
        """The gangs of pods that lost their node."""
        return {gang(pod) for pod in self.before if pod["spec"]["nodeName"] in (*self.drained, *self.lost)}

    @property
    def untouched(self) -> list[Object]:
        hit = self.hit
        return [pod for pod in self.before if gang(pod) not in hit]

    def displaced(self) -> list[str]:
        """Pods that are not where they belong now: running on a node that is left, or waiting where nodes are few."""
        pods = self.story.pods()
        few = self._too_few()
        return [
            *(f"{place}: {count:+} pods" for place, count in self.story.differences(self.story.all(REPLICA), pods)),
            *(
                f"{named(pod)} on {pod['spec'].get('nodeName')}: {condition(pod, 'PodScheduled')}"
                for pod in pods
                if "deletionTimestamp" in pod["metadata"]
                or pod["spec"].get("nodeName") in (*self.drained, *self.lost)
                or not (says(pod, "Ready") or (verdict(pod) and pod["spec"]["nodeSelector"][POOL] in few))
            ),
        ]

    def _too_few(self) -> set[str]:
        """Pools of whose pods some may have to wait, as Modelplane counts: on the nodes that are left."""
        away, replicas = {*self.cordoned, *self.drained, *self.lost}, self.story.all(REPLICA)
        pools = [pool for one in self.story.fleets for pool in one.pools.values()]
        return {pool.name for pool in pools if not suffices(pool, len({*pool.node_names} - away), replicas)}

    def waiting(self) -> list[Object]:
        return [pod for pod in self.story.pods() if verdict(pod)]

    def unsaid(self) -> list[str]:
        """Replicas with pods that wait, and that name no engine which lacks them."""
        waiting = {(pod["metadata"]["namespace"], pod["metadata"]["labels"][WORKLOAD]) for pod in self.waiting()}
        lacking = {
            named(one): (one, [said["engine"] for said in one["status"]["workloads"] if _of(one, said) in waiting])
            for one in self.story.all(REPLICA)
        }
        return [
            f"{name} says of {engines}: {condition(one, 'ModelReady')}"
            for name, (one, engines) in lacking.items()
            if engines and not any(_says(one, engine) for engine in engines)
        ]

    # How it is done

    def _cordon(self, name: str, *, how: bool) -> None:
        target = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
        self.story.cluster.patch(target, {"spec": {"unschedulable": how}})

    def _lose(self, name: str) -> None:
        """The node goes with what its drivers published. Its pods are collected by Kubernetes after 40 s or more."""
        cluster = self.story.cluster
        cluster.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
        for one in cluster.list("resource.k8s.io/v1", "ResourceSlice"):
            if one["spec"].get("nodeName") == name:
                cluster.delete(one)

    def _evict(self, pod: Object) -> None:
        metadata = {key: pod["metadata"][key] for key in ("name", "namespace")}
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
        with contextlib.suppress(Gone):  # with the rest of its gang
            self.story.cluster.send("POST", f"{self.story.cluster.address(pod)}/eviction", eviction)


def suffices(pool: Pool, nodes: int, replicas: Iterable[Object]) -> bool:
    """Whether a number of nodes of a pool is enough for its pods, however they are put."""
    pods: Counter[packing.PodDemand] = Counter()
    for one in replicas:
        for engine in one["spec"]["engines"]:
            for member in engine["members"]:
                if member["nodePoolName"] == pool.name:
                    pods[demand(pool, member)] += engine.get("copies", 1) * member.get("worker", {}).get("nodes", 1)
    if not pool.shared:
        return sum(count for one, count in pods.items() if one.devices) <= nodes
    return packing.is_safe({capacity(pool): nodes}, pods)


def capacity(pool: Pool) -> packing.NodeCapacity:
    hardware = pool.hardware
    counted = (1000 * hardware.cpu, hardware.memory << 30, None) if hardware.sized else (None, None, None)
    return packing.NodeCapacity(tuple(entry.count for entry in hardware.entries), counted)


def demand(pool: Pool, member: Object) -> packing.PodDemand:
    """What a pod of a replica's member takes of a node."""
    entries = list(enumerate(pool.hardware.entries))
    asks = [Ask(one["name"], one["count"], one["selectors"][0]["cel"]) for one in member.get("deviceRequests", ())]
    devices = tuple(sorted((ask.count, tuple(at for at, entry in entries if ask.takes(entry))) for ask in asks))
    requested = podspec.requested(member["template"]["spec"]) if pool.hardware.sized else (0, 0, 0)
    return packing.PodDemand(devices, requested)


def _of(replica: Object, workload: Object) -> tuple[str, str]:
    return replica["metadata"]["namespace"], workload["name"]


def _says(replica: Object, engine: str) -> bool:
    said = condition(replica, "ModelReady")
    return said.get("reason") in WAITS and f"engine {engine}: " in said["message"]


def draw(story: Story) -> Mishap:
    """In each fleet up to three nodes: one is lost, one drained, one cordoned. One that runs pods is left if it can."""
    before = story.pods()
    chosen = [list(_nodes(story, namespace.name, before)) for namespace in story.fleets]
    lost, drained, cordoned = ([names[at] for names in chosen if len(names) > at] for at in range(3))
    return Mishap(story, cordoned, drained, lost, before)


def _nodes(story: Story, namespace: str, pods: Sequence[Object]) -> Iterator[str]:
    found = sorted(
        {
            pod["spec"]["nodeName"]
            for pod in pods
            if pod["metadata"]["namespace"] == namespace and "resourceClaims" in pod["spec"]
        }
    )
    yield from story.random.sample(found, min(3, max(1, len(found) - 1)))
