"""What Modelplane places of a random fleet, and the pods of it, by the control plane of `modelplane plan`."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from function.core import Manifest, dig, plain
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.vocabulary import crossplane
from tests.e2e import objects
from tests.e2e.kube import Object, condition
from tests.e2e.random_fleet import Cluster, RandomFleet, asks
from tests.e2e.team import OBJECT

POOL = "modelplane.ai/pool"
WIDE = 64  # nodes, which every replica fits on
TEMPLATES = "ResourceClaimTemplate"
WORKLOADS = ("Deployment", "LeaderWorkerSet")


@dataclass(frozen=True, slots=True)
class Workload:
    """An engine of a replica as it is composed for its cluster."""

    engine: str
    claims: tuple[Object, ...]  # the ResourceClaimTemplates of its pods
    pods: tuple[Object, ...]

    def on(self, pool: str, namespace: str) -> "Workload":
        """The same on another pool, for another namespace."""
        claims = tuple(objects.changed(one, "metadata.namespace", namespace) for one in self.claims)
        return Workload(self.engine, claims, tuple(_moved(one, pool, namespace) for one in self.pods))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A deployment of which a cluster takes no more replicas."""

    deployment: Object
    cluster: Cluster
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Planned:
    """What a fleet comes to."""

    fleet: RandomFleet
    workloads: tuple[Workload, ...]
    refusals: tuple[Refusal, ...]
    wanted: int  # replicas


def plan(fleet: RandomFleet) -> Planned:
    """Place a fleet's deployments; they arrive in the order of the fleet."""
    control = _settled(fleet.classes, fleet.clusters, fleet.deployments)
    refusals = tuple(refused(fleet, control.store.of_kind(objects.GROUP, "ModelDeployment")))
    return Planned(
        fleet, tuple(_workloads(control)), refusals, sum(one["spec"]["replicas"] for one in fleet.deployments)
    )


def refused(fleet: RandomFleet, deployments: Iterable[Manifest]) -> Iterator[Refusal]:
    """What deployments that lack replicas say of the clusters."""
    clusters = {cluster.name: cluster for cluster in fleet.clusters}
    written = {one["metadata"]["name"]: one for one in fleet.deployments}
    for one in deployments:
        if condition(plain(one), "ReplicasScheduled").get("reason") == "InsufficientCapacity":
            for said in dig(one, "status", "rejections") or ():
                deployment = written[one["metadata"]["name"]]
                if said["cluster"] in clusters:
                    yield Refusal(deployment, clusters[said["cluster"]], said["reason"], said["message"])


def assignments(refusal: Refusal, classes: Sequence[Object], namespace: str) -> Iterator[tuple[Workload, ...]]:
    """A replica that was refused, as it would be composed for the cluster: on every choice of pools for its engines.

    A pool is a choice for an engine if one node of it satisfies each of its members.
    """
    cluster = refusal.cluster
    wide = replace(cluster, pools=tuple(replace(pool, nodes=WIDE) for pool in cluster.pools))
    alone = objects.changed(refusal.deployment, "spec.replicas", 1)
    composed = {one.engine: one for one in _workloads(_settled(classes, [wide], [alone]))}
    choices = [
        [composed[engine["name"]].on(pool.name, namespace) for pool in cluster.pools if _takes(pool.hardware, engine)]
        for engine in alone["spec"]["engines"]
    ]
    yield from itertools.product(*choices)


def _takes(hardware: Any, engine: Object) -> bool:
    return all(hardware.has(asks(member)) for member in engine["members"])


def _settled(classes: Sequence[Object], clusters: Sequence[Cluster], deployments: Sequence[Object]) -> ControlPlane:
    control = ControlPlane()
    manifests = [*classes, *(one.written for one in clusters)]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    for one in deployments:
        control.loop.load([one])
        control.loop.settle()
    return control


def _workloads(control: ControlPlane) -> Iterator[Workload]:
    """Every engine of every replica, from the Objects that hold its manifests."""
    found = [plain(one) for one in control.store.of_kind(OBJECT, "Object")]
    manifests = [one["spec"]["forProvider"]["manifest"] for one in found]
    claims = {_identity(one): one for one in manifests if one["kind"] == TEMPLATES}
    for one, manifest in zip(found, manifests, strict=True):
        if manifest["kind"] in WORKLOADS:
            key = one["metadata"]["annotations"][crossplane.COMPOSITION_KEY]
            pods = tuple(pods_of(manifest))
            yield Workload(key.partition("-")[2], tuple(_claimed(pods, claims)), pods)


def _claimed(pods: Iterable[Object], claims: Mapping[tuple[str, str], Object]) -> Iterator[Object]:
    names = {
        (pod["metadata"]["namespace"], claim["resourceClaimTemplateName"])
        for pod in pods
        for claim in pod["spec"].get("resourceClaims", ())
    }
    yield from (claims[name] for name in sorted(names))


def _identity(manifest: Object) -> tuple[str, str]:
    return manifest["metadata"]["namespace"], manifest["metadata"]["name"]


def pods_of(workload: Object) -> Iterator[Object]:
    """The pods that a Deployment, or a LeaderWorkerSet, makes of its templates."""
    spec = workload["spec"]
    if workload["kind"] == "Deployment":
        templates = [spec["template"]]
    else:
        gang = spec["leaderWorkerTemplate"]
        templates = [gang["leaderTemplate"], *[gang["workerTemplate"]] * (gang["size"] - 1)]
    for number, template in enumerate(templates * spec["replicas"]):
        metadata = template.get("metadata", {}) | {
            "name": f"{workload['metadata']['name']}-{number}",
            "namespace": workload["metadata"]["namespace"],
        }
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def _moved(pod: Object, pool: str, namespace: str) -> Object:
    moved = objects.changed(pod, "metadata.namespace", namespace)
    return objects.changed(moved, "spec.nodeSelector", pod["spec"]["nodeSelector"] | {POOL: pool})
