"""Worlds for the stories of clouds: an InferenceCluster that a cloud makes, on the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.clouds import Source
from function.core import Manifest, condition, dig
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref, ref_of
from function.vocabulary import crossplane, labels, names, versions
from tests.support import cloud_samples
from tests.support.cloud_samples import provisioner

NAME = "prod"
"""The InferenceCluster."""
CLUSTER = Ref(versions.MODELPLANE, "InferenceCluster", "", NAME)
DEPLOYMENT = Ref(versions.MODELPLANE, "ModelDeployment", "ml-team", "chat")
POOLS = ({"name": "one", "nodeCount": 1}, {"name": "two", "nodeCount": 1})
_INFRASTRUCTURE = (
    (versions.PROVIDER_KUBERNETES, "Object"),
    (versions.PROVIDER_KUBERNETES, "ClusterProviderConfig"),
    (versions.PROVIDER_HELM, "Release"),
    (versions.PROVIDER_HELM, "ClusterProviderConfig"),
    (versions.PROTECTION, "Usage"),
    (versions.PROTECTION, "ClusterUsage"),
    (versions.INFRASTRUCTURE, "ServingStack"),
)


def deployment(replicas: int = 2, **selector: Any) -> dict[str, Any]:
    """A ModelDeployment each of whose replicas takes a node."""
    template = {"spec": {"containers": [{"name": "engine", "image": "vllm/vllm-openai:v0.33.0"}]}}
    devices = [{"name": "gpu", "selectors": [{"cel": "device.driver == 'gpu.nvidia.com'"}]}]
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelDeployment",
        "metadata": {"name": "chat", "namespace": "ml-team"},
        "spec": {
            "replicas": replicas,
            "engines": [{"name": "main", "members": [{"nodeSelector": {"devices": devices}, "template": template}]}],
            **selector,
        },
    }


def spare(class_name: str, nodes: int) -> dict[str, Any]:
    """An InferenceCluster that exists already, with nodes of a class."""
    existing = {"secretRef": {"name": "spare-kubeconfig"}}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": "spare"},
        "spec": {
            "cluster": {"source": "Existing", "existing": existing},
            "nodePools": [{"name": "spare", "className": class_name, "nodeCount": nodes}],
        },
    }


@dataclass(slots=True)
class CloudWorld:
    """A control plane for the clusters of one cloud."""

    source: Source
    control: ControlPlane = field(default_factory=ControlPlane)

    def copied(self) -> CloudWorld:
        return CloudWorld(self.source, self.control.copied())

    # What happens

    def load(self, *manifests: Mapping[str, Any]) -> None:
        """Load objects, and the kubeconfigs that they reference."""
        assumed = [m for m in stubs.objects(manifests) if "kubeconfig" in m["metadata"]["name"]]
        self.control.loop.load([*manifests, *assumed])

    def settle(self) -> None:
        self.control.loop.settle()

    def rounds(self, until: Callable[[], bool] = lambda: False, most: int = 400) -> Iterable[int]:
        """Run rounds, and yield after each, until something is true or the world is at rest."""
        for count in range(most):
            before = self.control.store.version
            reconciled = self.control.loop.round(count)
            yield count
            is_at_work = self.control.loop.is_working
            if until() or (not reconciled and self.control.store.version == before and not is_at_work):
                return
        raise AssertionError("the world does not come to rest")

    def edit(self, ref: Ref, change: Callable[[dict[str, Any]], None]) -> None:
        self.control.store.update(ref, change)

    def pools(self, *pools: Mapping[str, Any]) -> None:
        """Give the InferenceCluster other node pools."""
        class_name = cloud_samples.SAMPLES[self.source.name].class_name
        wanted = [{"className": class_name, **pool} for pool in pools]
        self.edit(CLUSTER, lambda m: m["spec"].update(nodePools=wanted))

    def config(self) -> Ref:
        """The provider config with whose rights the cluster is made."""
        return ref_of(cloud_samples.provider_config(provisioner(self.source)))

    def delete(self, ref: Ref) -> bool:
        return self.control.store.delete(ref)

    # What is there

    def get(self, ref: Ref) -> Any:
        return self.control.store.get(ref)

    def says(self, type_: str = "ClusterReady", ref: Ref = CLUSTER) -> str:
        """A condition, as its reason and message."""
        found = condition(self.get(ref) or {}, type_)
        return f"{dig(found, 'reason')}: {dig(found, 'message')}"

    def fine(self, nodes: int, *pools: str) -> str:
        """What ClusterReady says when there is nothing to say but the nodes."""
        remark = f"; {self.source.no_storage}" if self.source.no_storage else ""
        return f"ClusterRunning: {nodes} nodes, pools: {', '.join(pools)}{remark}"

    def composite(self) -> Any:
        """The cloud's composite; None if there is none."""
        model = provisioner(self.source).model
        found = self.control.store.of_kind(model.API_VERSION, model.KIND)
        return next((m for m in found if m["spec"]["clusterName"] == NAME), None)

    def managed(self, cluster: str = NAME) -> dict[str, Manifest]:
        """The managed resources of an InferenceCluster by their keys."""
        found = {}
        for kind in provisioner(self.source).managed:
            for manifest in self.control.store.of_kind(kind.api_version, kind.kind):
                if dig(manifest, "metadata", "labels", labels.CLUSTER) == cluster:
                    found[manifest["metadata"]["annotations"][crossplane.COMPOSITION_KEY]] = manifest
        return found

    def resource(self, key: str) -> Manifest:
        return self.managed()[key]

    def made(self) -> list[str]:
        """The node pools that the cloud has made, as the composite says."""
        return list(dig(self.composite(), "status", "pools") or ())

    def published(self) -> dict[str, int]:
        """The node pools that the scheduler sees, with their nodes."""
        return {pool["name"]: pool["nodes"] for pool in dig(self.get(CLUSTER), "status", "gpuPools") or ()}

    def placed(self) -> list[tuple[str, str]]:
        """Cluster and pool of each replica."""
        replicas = self.control.store.of_kind(versions.MODELPLANE, "ModelReplica")
        return sorted(
            (m["spec"]["clusterName"], m["spec"]["engines"][0]["members"][0]["nodePoolName"]) for m in replicas
        )

    def serving(self) -> int:
        """How many replicas take traffic."""
        return len(self.control.store.of_kind(versions.MODELPLANE, "ModelEndpoint"))

    def errors(self) -> list[str]:
        """What the providers of the cloud report as errors."""
        found = ((key, condition(m, "Synced")) for key, m in self.managed().items())
        return [f"{key}: {dig(state, 'message')}" for key, state in found if dig(state, "status") == "False"]

    def in_cloud(self) -> list[str]:
        """What the cloud has, by kind and name."""
        return [f"{ref.kind} {ref.name}" for ref in sorted(self.control.clusters.clouds.externals.there)]

    def refusals(self) -> list[str]:
        """What the cloud refused to delete."""
        return self.control.clusters.clouds.refusals

    def left(self) -> list[str]:
        """What the InferenceCluster has left on the control cluster."""
        store = self.control.store
        ours = {names.provider_config(NAME)}
        foreign = [m for kind in _INFRASTRUCTURE for m in store.of_kind(*kind)]
        about = [m for m in foreign if _is_about(m, ours)]
        secrets = [m for m in store.of_kind(versions.CORE, "Secret") if m["metadata"].get("ownerReferences")]
        return [str(ref_of(m)) for m in (*self.managed().values(), *about, *secrets, *filter(None, [self.composite()]))]


def _is_about(manifest: Manifest, configs: set[str]) -> bool:
    """Whether an object is one of the InferenceCluster, by its label, its name, or the provider config that it uses."""
    text = repr(manifest["metadata"]) + repr(manifest.get("spec"))
    return any(config in text for config in configs) or f"'{NAME}'" in text or f"'{NAME}-" in text


def begun(source: Source, *more: Mapping[str, Any], **faults: Any) -> CloudWorld:
    """Return a world in which an InferenceCluster of two pools was just created, with credentials to make it.

    Each provider takes one step in a round, and reconciles come in any order.
    """
    world = CloudWorld(source, ControlPlane(seed=0))
    world.control.faults.in_steps = True
    for name, fault in faults.items():
        setattr(world.control.faults, name, fault)
    config = cloud_samples.provider_config(provisioner(source))
    cluster = cloud_samples.inference_cluster(source, NAME, *POOLS)
    world.load(config, cloud_samples.credentials(), cloud_samples.inference_class(source), cluster, *more)
    return world


def running(source: Source, *more: Mapping[str, Any]) -> CloudWorld:
    """Return a world at rest, in which the InferenceCluster runs."""
    world = begun(source, *more)
    world.settle()
    return world
