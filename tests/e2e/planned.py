"""What Modelplane places of a random fleet, and the pods of it, by the control plane of `modelplane plan`."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from function.core import Manifest, dig, plain
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.vocabulary import crossplane
from tests.e2e import objects
from tests.e2e.kube import Object, condition
from tests.e2e.random_fleet import Cluster, RandomFleet, asks
from tests.e2e.team import DEPLOYMENT, OBJECT

POOL = "modelplane.ai/pool"
WIDE = 64  # nodes, which every replica fits on
TEMPLATES = "ResourceClaimTemplate"
FORCEABLE = ("Full", "Fragmented")  # reasons for which the pods of a replica can be tried on the cluster
WORKLOADS = ("Deployment", "LeaderWorkerSet")


@dataclass(frozen=True, slots=True)
class Workload:
    """An engine of a replica as it is composed for its cluster."""

    replica: str
    deployment: str
    engine: str
    claims: tuple[Object, ...]  # the ResourceClaimTemplates of its pods
    pods: tuple[Object, ...]

    def on(self, pool: str, cluster: str, namespace: str) -> "Workload":
        """The same on another pool, in another namespace, under names of its own there."""
        claims = tuple(_renamed(one, cluster, namespace) for one in self.claims)
        pods = tuple(_moved(_renamed(one, cluster, namespace), pool, cluster) for one in self.pods)
        return replace(self, claims=claims, pods=pods)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A deployment of which a cluster takes no more replicas."""

    deployment: Object
    cluster: Cluster
    reason: str
    message: str

    def is_exact(self, tried: Sequence["Workload"], *, whole: bool) -> bool:
        """Whether it counts as kube-scheduler does: whole nodes where pods take whole nodes; or, where nodes are
        shared, devices and resources of the pool that it names, if no other was tried."""
        shared = [pool.name for pool in self.cluster.pools if pool.shared]
        if self.reason != "Full" or not shared:
            return self.reason == "Full" and whole
        pools = {pod["spec"]["nodeSelector"][POOL] for one in tried for pod in one.pods}
        return pools == {name for name in shared if f"pool {name} " in self.message}

    def assignments(self, sample: Sequence[Workload], namespace: str) -> Iterator[tuple[Workload, ...]]:
        """A replica on every choice of the cluster's pools for its engines, from one that is composed for another.

        A pool is a choice for an engine if one node of it satisfies each of its members.
        """
        engines, pools = self.deployment["spec"]["engines"], self.cluster.pools
        composed = {one.engine: one for one in sample}
        choices = [
            [
                composed[engine["name"]].on(pool.name, self.cluster.name, namespace)
                for pool in pools
                if all(pool.hardware.has(asks(member)) for member in engine["members"])
            ]
            for engine in engines
        ]
        yield from itertools.product(*choices)


Samples = Mapping[str, Sequence[Workload]]
"""One replica of each deployment, by the deployment."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a fleet comes to."""

    fleet: RandomFleet
    workloads: tuple[Workload, ...]
    refusals: tuple[Refusal, ...]
    samples: Samples


def plan(fleet: RandomFleet) -> Planned:
    """Place a fleet's deployments. Then make its pools wide, so that there is a sample of those that were refused."""
    control = _settled(fleet.classes, fleet.clusters, fleet.deployments)
    refusals = tuple(refused(fleet, control.store.of_kind(objects.GROUP, "ModelDeployment")))
    workloads = tuple(_workloads(control))
    for one in fleet.clusters if refusals else ():
        control.loop.replace(_wide(one).written)
    control.loop.settle()
    return Planned(fleet, workloads, refusals, _samples(control))


def samples(fleet: RandomFleet) -> Samples:
    """A replica of each deployment, as it is composed where there is room."""
    single = [objects.changed(one, "spec.replicas", 1) for one in fleet.deployments]
    return _samples(_settled(fleet.classes, [_wide(one) for one in fleet.clusters], single))


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


def _wide(cluster: Cluster) -> Cluster:
    return replace(cluster, pools=tuple(replace(pool, nodes=WIDE) for pool in cluster.pools))


def _settled(classes: Sequence[Object], clusters: Sequence[Cluster], deployments: Sequence[Object]) -> ControlPlane:
    control = ControlPlane()
    manifests = [*classes, *(one.written for one in clusters)]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    control.loop.load(deployments)
    control.loop.settle()
    return control


def _samples(control: ControlPlane) -> Samples:
    by_replica: dict[str, dict[str, list[Workload]]] = {}
    for one in _workloads(control):
        by_replica.setdefault(one.deployment, {}).setdefault(one.replica, []).append(one)
    return {deployment: next(iter(replicas.values())) for deployment, replicas in by_replica.items()}


def _workloads(control: ControlPlane) -> Iterator[Workload]:
    """Every engine of every replica, from the Objects that hold its manifests."""
    found = [plain(one) for one in control.store.of_kind(OBJECT, "Object")]
    manifests = [one["spec"]["forProvider"]["manifest"] for one in found]
    claims = {_identity(one): one for one in manifests if one["kind"] == TEMPLATES}
    for one, manifest in zip(found, manifests, strict=True):
        if manifest["kind"] in WORKLOADS:
            [owner] = one["metadata"]["ownerReferences"]
            key, labels = one["metadata"]["annotations"][crossplane.COMPOSITION_KEY], one["metadata"]["labels"]
            pods = tuple(pods_of(manifest))
            composed = tuple(_claimed(pods, claims))
            yield Workload(owner["name"], labels[DEPLOYMENT], key.partition("-")[2], composed, pods)


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


def _renamed(manifest: Object, prefix: str, namespace: str) -> Object:
    metadata = manifest["metadata"] | {"name": f"{prefix}-{manifest['metadata']['name']}", "namespace": namespace}
    return manifest | {"metadata": metadata}


def _moved(pod: Object, pool: str, prefix: str) -> Object:
    """A pod on a pool, with claim templates that were renamed."""
    spec = pod["spec"] | {"nodeSelector": pod["spec"]["nodeSelector"] | {POOL: pool}}
    if "resourceClaims" in spec:
        template = "resourceClaimTemplateName"
        spec["resourceClaims"] = [one | {template: f"{prefix}-{one[template]}"} for one in spec["resourceClaims"]]
    return pod | {"spec": spec}
