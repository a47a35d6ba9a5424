"""A tenant in the stories: a namespace on the control cluster, and what can be asked about it."""

import itertools
from dataclasses import dataclass
from typing import Any

from tests.e2e import objects
from tests.e2e.control import Control
from tests.e2e.kube import Api, Object, condition, says
from tests.e2e.waiting import steady, until

DEPLOYMENT = "modelplane.ai/deployment"
RECONCILE = "crossplane.io/reconcile-requested-at"  # crossplane-runtime v2.3, pkg/meta
OBJECT = "kubernetes.m.crossplane.io/v1alpha1"

REMOTE = (
    ("apps/v1", "Deployment"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"),
    ("resource.k8s.io/v1", "ResourceClaim"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
)
QUIET = 2.0  # how long nothing is written before we believe that all is done: what follows a write does so in less
tokens = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Team:
    control: Control
    cluster: Api
    namespace: str

    @property
    def api(self) -> Api:
        return self.control.api

    def deploy(self, name: str = "qwen", **spec: Any) -> Object:
        """Apply a ModelDeployment, and give it as applied."""
        manifest = objects.deployment(name, self.namespace, **spec)
        self.api.apply(manifest)
        return manifest

    def serving(self, name: str = "qwen", **spec: Any) -> Object:
        """Apply a ModelDeployment, and wait until it serves under its endpoints and nothing is written any more."""
        manifest = self.deploy(name, **spec)
        self.await_ready(manifest)
        until(
            lambda: len(self.endpoints(name)) == len(self.replicas(name)),
            f"every replica of {name} to have an endpoint",
        )
        self.settled()
        return manifest

    def await_reconciled(self, manifest: Object) -> None:
        """Wait until Crossplane has done what follows from the present generation of an object, whatever it is."""
        what = f"{title(manifest)} to be reconciled as it is"
        until(lambda: self.api.current(manifest), what, holds=is_reconciled)

    def await_ready(self, manifest: Object) -> Object:
        """Wait until an object is Ready in its present generation, and give it."""
        what = f"{manifest['kind']} {manifest['metadata']['name']} to be Ready"
        found = until(lambda: self.api.current(manifest), what, holds=lambda seen: ready(seen, manifest))
        assert found
        return found

    def await_condition(self, manifest: Object, kind: str, reason: str) -> Object:
        """Wait until a condition of an object has a reason, and give the condition."""
        what = f"{manifest['kind']} {manifest['metadata']['name']} to say {kind} {reason}"
        return until(
            lambda: condition(self.api.current(manifest), kind), what, holds=lambda seen: seen.get("reason") == reason
        )

    def replicas(self, name: str = "qwen") -> list[Object]:
        return self.api.list(objects.GROUP, "ModelReplica", self.namespace, {DEPLOYMENT: name})

    def endpoints(self, name: str = "qwen") -> list[Object]:
        return self.api.list(objects.GROUP, "ModelEndpoint", self.namespace, {DEPLOYMENT: name})

    def clusters(self, name: str = "qwen") -> list[str]:
        """Where a deployment's replicas are, sorted."""
        return sorted(one["spec"]["clusterName"] for one in self.replicas(name))

    def objects(self) -> list[Object]:
        """What the provider holds for this tenant."""
        return self.api.list(OBJECT, "Object", self.namespace)

    def workloads(self) -> list[Object]:
        """This tenant's Deployments on the inference cluster."""
        return self.cluster.list("apps/v1", "Deployment", self.namespace)

    def pods(self) -> list[Object]:
        return self.cluster.list("v1", "Pod", self.namespace)

    def await_replicas(self, count: int, name: str = "qwen") -> list[Object]:
        return until(lambda: self.replicas(name), f"{count} replicas", holds=lambda seen: len(seen) == count)

    def reconcile(self, manifest: Object) -> None:
        """Have Crossplane reconcile an object, and wait until it has asked the function."""
        metadata = manifest["metadata"]
        who = (manifest["kind"], "/".join(filter(None, (metadata.get("namespace"), metadata["name"]))))
        before = self.control.calls(*who)
        self.control.as_crossplane.patch(manifest, {"metadata": {"annotations": {RECONCILE: f"e2e-{next(tokens)}"}}})
        until(lambda: self.control.calls(*who), f"{title(manifest)} to be reconciled", holds=lambda now: now > before)

    def await_nothing(self) -> None:
        """Wait until nothing of this tenant is left but the remote namespace."""
        until(self.leftovers, "nothing to be left", holds=lambda seen: not seen)

    def everything(self) -> dict[str, str]:
        """The resource version of all that a deployment became, here and on the inference cluster."""
        local = [*self.replicas(), *self.endpoints(), *self.objects()]
        return versions(*local, *(one for kind in REMOTE for one in self.cluster.list(*kind, self.namespace)))

    def settled(self) -> dict[str, str]:
        """Wait until nobody has written for a while, and give everything's resource version."""
        return steady(self.everything, "everything of a tenant", seconds=QUIET)

    def await_room(self) -> None:
        """Wait until this tenant holds no node any more. What the provider remembers of it may go later."""
        until(lambda: (*self.replicas_of_all(), *self.pods()), "its nodes to be free", holds=lambda seen: not seen)

    def replicas_of_all(self) -> list[Object]:
        return self.api.list(objects.GROUP, "ModelReplica", self.namespace)

    def leftovers(self) -> list[str]:
        kinds = [(objects.GROUP, kind) for kind in ("ModelDeployment", "ModelReplica", "ModelEndpoint")]
        local = [title(one) for kind in (*kinds, (OBJECT, "Object")) for one in self.api.list(*kind, self.namespace)]
        return local + [f"remote {title(one)}" for kind in REMOTE for one in self.cluster.list(*kind, self.namespace)]


def is_reconciled(seen: Object | None) -> bool:
    """Whether Crossplane has done what follows from the present generation of an object."""
    synced = condition(seen, "Synced")
    return (
        seen is not None
        and synced.get("status") == "True"
        and synced.get("observedGeneration", 0) >= seen["metadata"]["generation"]
    )


def ready(seen: Object | None, applied: Object) -> bool:
    """Whether an object is Ready, and Crossplane has seen its present generation."""
    if not says(seen, "Ready") or not says(seen, "Synced"):
        return False
    assert seen
    current = all(
        one.get("observedGeneration", seen["metadata"]["generation"]) >= seen["metadata"]["generation"]
        for one in seen["status"]["conditions"]
        if one["type"] in ("Ready", "Synced")
    )
    wanted = applied["spec"].get("replicas")
    return current and (wanted is None or seen["status"].get("replicas", {}).get("ready") == wanted)


def title(manifest: Object) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def versions(*manifests: Object) -> dict[str, str]:
    """The resource version of each: the same as long as nobody writes."""
    return {title(one): one["metadata"]["resourceVersion"] for one in manifests}


def identities(*manifests: Object) -> set[str]:
    return {one["metadata"]["uid"] for one in manifests}
