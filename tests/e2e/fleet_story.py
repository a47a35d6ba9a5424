"""Random fleets on the whole stack: what is written, what stands, and whether that is what was promised."""

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import Api, Object, Refused, condition, says
from tests.e2e.planned import FORCEABLE, POOL, Refusal, refused
from tests.e2e.random_fleet import RandomFleet
from tests.e2e.team import identities, is_reconciled, title
from tests.e2e.waiting import steady, until
from tests.e2e.yard import Yard

DEPLOYMENT, REPLICA = "ModelDeployment", "ModelReplica"
WORKLOAD = "modelplane.ai/workload"
GANG = ("leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index")
# A bound: of those that are placed at once on the same nodes some give way, which takes the provider 30 s each time.
SETTLED = 900.0
QUIET = 3.0  # how long nothing must happen before we believe that all is done

Place = tuple[str, str, str]  # of a pod: namespace, workload, pool


@dataclass(slots=True)
class Story:
    control: Control
    cluster: Api
    yard: Yard
    fleets: list[RandomFleet]
    random: Random

    # What is written

    def publish(self) -> None:
        """Publish the fleets, and wait until their clusters are Ready."""
        api, clusters = self.control.api, self.inference_clusters()
        self.yard.furnish()
        api.apply(*(manifest for one in self.fleets for manifest in one.classes))
        for one in clusters:
            api.apply(objects.secret(one["metadata"]["name"], kubeconfig=self.cluster.from_outside()), one)
        api.apply(*(objects.namespace(one.name) for one in self.fleets))
        for one in clusters:
            look = functools.partial(api.current, one)
            until(look, f"{title(one)} to be Ready", holds=lambda seen: says(seen, "Ready"))
        self.yard.await_nodes()

    def deploy(self) -> None:
        """Apply the deployments of all fleets at once, in no order."""
        deployments = [manifest for one in self.fleets for manifest in one.deployments]
        self.random.shuffle(deployments)
        self.control.api.apply(*deployments)

    def withdraw(self) -> None:
        """Delete everything, and wait until no cluster is left on which other stories' deployments could be placed."""
        for one in self.all(DEPLOYMENT):
            self.control.api.delete(one)
        until(lambda: self.all(REPLICA), "every replica to go", holds=lambda seen: not seen)
        for one in self.inference_clusters():
            until(functools.partial(self.is_deleted, one), f"{title(one)} to go")
        for one in (manifest for fleet in self.fleets for manifest in fleet.classes):
            self.control.api.delete(one)
        self.yard.clear()

    def is_deleted(self, target: Object) -> bool:
        """Ask for an object's deletion, which a usage may refuse for a while."""
        try:
            self.control.api.delete(target)
        except Refused:
            return False
        return self.control.api.current(target) is None

    def inference_clusters(self) -> list[Object]:
        return [cluster.written for one in self.fleets for cluster in one.clusters]

    # What stands

    def all(self, kind: str) -> list[Object]:
        return [found for one in self.fleets for found in self.control.api.list(objects.GROUP, kind, one.name)]

    def pods(self) -> list[Object]:
        """The pods of engines."""
        found = [pod for one in self.fleets for pod in self.cluster.list("v1", "Pod", one.name)]
        return [pod for pod in found if WORKLOAD in pod["metadata"].get("labels", ())]

    def refusals(self, fleet: RandomFleet) -> list[Refusal]:
        """Deployments that lack replicas, and clusters that have no room for them."""
        found = refused(fleet, self.control.api.list(objects.GROUP, DEPLOYMENT, fleet.name))
        return [one for one in found if one.reason in FORCEABLE]

    def await_settled(self) -> None:
        """Wait until all edits are carried out as far as they can be, and all that is placed runs."""

        def identified() -> set[str]:
            return identities(*self.all(REPLICA), *self.pods())

        def look() -> list[str]:
            until(self.unsettled, "all that is placed to run", holds=lambda seen: not seen, seconds=SETTLED)
            steady(identified, "replicas and pods", seconds=QUIET)
            return self.unsettled()

        until(look, "all that is placed to run on", holds=lambda seen: not seen, seconds=SETTLED)

    def unsettled(self) -> list[str]:
        """Who is not done yet."""
        deployments, replicas, pods = self.all(DEPLOYMENT), self.all(REPLICA), self.pods()
        return [
            *(f"{named(one)} is not decided" for one in deployments if not is_decided(one)),
            *(f"{named(one)}: {condition(one, 'ModelReady')}" for one in replicas if not says(one, "Ready")),
            *(f"{place}: {count:+} pods" for place, count in self.differences(replicas, pods)),
            *(f"{named(one)}: {condition(one, 'PodScheduled')}" for one in pods if not says(one, "Ready")),
        ]

    def differences(self, replicas: Iterable[Object], pods: Iterable[Object]) -> Iterator[tuple[Place, int]]:
        """Where there are more or fewer pods than replicas want."""
        wanted, found = Counter(places(replicas)), Counter(map(place, pods))
        for where in sorted(wanted | found):
            if wanted[where] != found[where]:
                yield where, found[where] - wanted[where]

    def broken(self) -> list[str]:
        """What must not be: a pod elsewhere than on its pool, or more pods that claim devices than nodes."""
        pods, pools = self.pods(), {pool.name: pool for one in self.fleets for pool in one.pools.values()}
        claiming = Counter(pool_of(one) for one in pods if "resourceClaims" in one["spec"])
        crowded = {
            name: count for name, count in claiming.items() if count > pools[name].nodes and not pools[name].shared
        }
        strayed = [one for one in pods if one["spec"].get("nodeName") not in pools[pool_of(one)].node_names]
        return [
            *(f"{name}: {count} pods on {pools[name].nodes} nodes" for name, count in crowded.items()),
            *(f"{named(one)} of {pool_of(one)} is on {one['spec'].get('nodeName')}" for one in strayed),
        ]


def is_decided(deployment: Object) -> bool:
    """Whether the present generation of a deployment was reconciled, and where its replicas go is said."""
    return is_reconciled(deployment) and bool(condition(deployment, "ReplicasScheduled"))


def places(replicas: Iterable[Object]) -> Iterator[Place]:
    """Where the pods of replicas belong: one for each."""
    for one in replicas:
        names = {said["engine"]: said["name"] for said in one.get("status", {}).get("workloads", ())}
        for engine in one["spec"]["engines"]:
            for member in engine["members"]:
                count = engine.get("copies", 1) * member.get("worker", {}).get("nodes", 1)
                where = one["metadata"]["namespace"], names.get(engine["name"], ""), member["nodePoolName"]
                yield from [where] * count


def place(pod: Object) -> Place:
    metadata = pod["metadata"]
    return metadata["namespace"], metadata["labels"][WORKLOAD], pool_of(pod)


def pool_of(pod: Object) -> str:
    return str(pod["spec"]["nodeSelector"][POOL])


def gang(pod: Object) -> tuple[str, ...]:
    """Whom a pod restarts with; itself, if it is in no gang."""
    metadata = pod["metadata"]
    labels = [metadata["labels"].get(key) for key in GANG]
    return (metadata["namespace"], *labels) if all(labels) else (metadata["uid"],)


def named(target: Object) -> str:
    return f"{target['kind']} {target['metadata']['namespace']}/{target['metadata']['name']}"
