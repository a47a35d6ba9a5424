"""InferenceClusters of every cloud in the embedded control plane, for what must hold of each of them.

A cloud that is added is among them: where nothing is known of its blocks here, they are filled by their schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from function import clouds
from function.api import inferenceclass
from function.clouds import Source
from function.contracts.cloud.nodepool import NodePool
from function.core import Manifest, condition, dig, plain
from function.core.manifest import is_list
from function.kinds.inferencecluster.made import pool_of_composite
from function.planning.control_plane import ControlPlane
from function.sandbox.errors import Refused
from function.sandbox.store import Ref
from function.vocabulary import crossplane, names, versions
from tests.support import cloud_samples
from tests.support.cloud_samples import provisioner
from tests.support.replicas import OWNER, engine, gang, member

NAME = "prod"
REF = Ref(versions.MODELPLANE, "InferenceCluster", "", NAME)
SUPPORTED = [source for source in clouds.PROVISIONED if source.provisioner]
ON_CLUSTER = (versions.PROVIDER_KUBERNETES, versions.PROVIDER_HELM)
"""apiVersions of Objects and Releases."""
ZONES: Mapping[str, Sequence[str]] = {
    "GKE": ("us-central1-a", "us-central1-b", "us-central1-c"),
    "EKS": ("us-east-1a", "us-east-1b", "us-east-1c"),
    "AKS": ("1", "2", "3"),
}
VERSIONS: Mapping[str, Sequence[str]] = {
    "Vultr": ("v1.33.9+1", "v1.36.1+3", "v1.36.2+1", "v1.37.0+1", "v1.38.0+1"),
}
"""Versions that a user may ask for: too old, the same, newer, too new."""
_DEVICE = {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com"}


def zones(source: Source) -> Sequence[str]:
    """Zones that pools may name; they are refused where the cloud chooses none."""
    return ZONES.get(source.name, ("a", "b"))


def fabrics(source: Source, type_: str) -> dict[str, Any]:
    """The fields of a pool that joins a fabric."""
    if type_ == "InfiniBand":
        return {"fabric": {"type": type_, "infiniband": {"fabric": "fabric-2"}}}
    return {"fabric": {"type": type_}, "zones": list(zones(source)[:1])}


def kubernetes_versions(source: Source) -> Sequence[str]:
    """Versions that a user may ask for; none where the block of the cloud takes none."""
    if "kubernetesVersion" not in source.cluster.model_fields:
        return ()
    return VERSIONS.get(source.name, ("1.33", "1.34", "1.35", "1.36", "1.38"))


def block(source: Source) -> dict[str, Any]:
    """The least that the block of a cluster can hold."""
    required = {name: "here" for name, found in source.cluster.model_fields.items() if found.is_required()}
    sample = cloud_samples.SAMPLES.get(source.name)
    return {**required, **(sample.block if sample else {})}


def classes(source: Source, more: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """The InferenceClasses of a cloud among the examples that a pool can have with a few fields more; one made up where
    there is none."""
    found = [m for m in cloud_samples.examples(source.block) if dig(m, "spec", "provisioning", source.block)]
    return [m for m in found if _is_usable(source, m, more or {})] or [_made_up(source)]


def all_classes(source: Source) -> list[dict[str, Any]]:
    """All of them, whatever a pool needs for them."""
    return cloud_samples.examples(source.block) or classes(source)


def _is_usable(source: Source, class_: Manifest, more: Mapping[str, Any]) -> bool:
    assert source.machine
    parsed = inferenceclass.parse(class_)
    machine = parsed.machine(source)
    assert machine
    asked = NodePool.model_validate({"name": "a", "className": class_["metadata"]["name"], **more})
    pool = provisioner(source).model.Pool.model_validate(pool_of_composite(asked, machine, parsed.drivers))
    return not list(provisioner(source).pool_faults(source.cluster.model_validate(block(source)), pool, machine))


def _made_up(source: Source) -> dict[str, Any]:
    assert source.machine
    machine = {name: "large" for name, found in source.machine.model_fields.items() if found.is_required()}
    spec = {"devices": [_DEVICE], "provisioning": {"provider": source.name, source.block: machine}}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceClass",
        "metadata": {"name": f"{source.block}-large"},
        "spec": spec,
    }


def credentials(source: Source) -> list[dict[str, Any]]:
    """The provider config, and the Secret that it names."""
    spec = plain(provisioner(source).assumed_config)
    config = {
        "apiVersion": provisioner(source).provider,
        "kind": "ClusterProviderConfig",
        "metadata": {"name": "default"},
        "spec": spec,
    }
    reference = dig(spec, "credentials", "secretRef")
    if reference is None:
        return [config]
    metadata = {"name": reference["name"], "namespace": reference["namespace"]}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {reference["key"]: "e30="}}
    return [config, secret]


def cluster(source: Source, pools: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """An InferenceCluster with some pools; `more` goes into the cloud's block."""
    given = {"source": source.name, source.block: {**block(source), **more}}
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "metadata": {"name": NAME},
        "spec": {"cluster": given, "nodePools": [plain(pool) for pool in pools]},
    }


def replica(name: str, pool: str, nodes: int) -> dict[str, Any]:
    """A replica that takes nodes of a pool, of a deployment that nobody reconciles here."""
    parts = engine("e", member(pool=pool)) if nodes == 1 else gang("e", nodes=nodes - 1)
    parts["members"] = [{**each, "nodePoolName": pool} for each in parts["members"]]
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "ModelReplica",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "labels": {"modelplane.ai/cluster": names.label_value(NAME)},
            "ownerReferences": [OWNER],
        },
        "spec": {"clusterName": NAME, "engines": [parts]},
    }


def walked(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every field of a value, at any depth, with its path."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield (*path, name), child
            yield from walked(child, (*path, name))
    elif is_list(value):
        for child in value:
            yield from walked(child, path)


@dataclass(slots=True)
class CloudWorld:
    """A cluster of one cloud, with its classes and credentials."""

    source: Source
    control: ControlPlane = field(default_factory=ControlPlane)

    @classmethod
    def of(cls, source: Source, pools: Sequence[Mapping[str, Any]], **more: Any) -> CloudWorld:
        """A cluster that was made and has come to rest."""
        world = cls(source)
        world.control.loop.load([*credentials(source), *all_classes(source), cluster(source, pools, **more)])
        world.control.loop.settle()
        return world

    def copied(self) -> CloudWorld:
        """The same world, to be changed by itself."""
        return CloudWorld(self.source, self.control.copied())

    def edit(self, pools: Sequence[Mapping[str, Any]], **more: Any) -> str:
        """Edit the cluster, and let everything come to rest. Returns why it was refused; empty where it was not."""
        try:
            self.control.loop.replace(cluster(self.source, pools, **more))
        except Refused as refused:
            return str(refused)
        self.control.loop.settle()
        return self.refusal()

    def refusal(self) -> str:
        """Why the cluster, or its composite, is refused; empty where neither is."""
        for manifest in (self.cluster(), self.composite()):
            found = condition(manifest or {}, "ClusterReady") or {}
            if str(found.get("reason", "")).startswith("Invalid"):
                return f"{found['reason']}: {found['message']}"
        return ""

    @property
    def ref(self) -> Ref:
        return REF

    def cluster(self) -> Manifest:
        found = self.control.store.get(REF)
        assert found is not None
        return found

    def is_ready(self) -> bool:
        return (condition(self.cluster(), "Ready") or {}).get("status") == "True"

    def composite(self) -> Manifest | None:
        model = provisioner(self.source).model
        found = self.control.store.of_kind(model.API_VERSION, model.KIND)
        return found[0] if found else None

    def composed(self) -> dict[str, dict[str, Any]]:
        """What the composite composed, by key: what a user of it would see, without status."""
        found = {}
        for manifest in self.control.store.all():
            key = dig(manifest, "metadata", "annotations", crossplane.COMPOSITION_KEY)
            if key and self._is_composed(manifest):
                found[str(key)] = plain(manifest)
        return found

    def _is_composed(self, manifest: Manifest) -> bool:
        composite = self.composite()
        owners = dig(manifest, "metadata", "ownerReferences") or ()
        uid = dig(composite, "metadata", "uid")
        return any(dig(owner, "uid") == uid and dig(owner, "controller") for owner in owners)

    def managed(self) -> dict[str, dict[str, Any]]:
        """The managed resources of the cloud, by key."""
        kinds = {(kind.api_version, kind.kind) for kind in provisioner(self.source).managed}
        return {key: m for key, m in self.composed().items() if (m["apiVersion"], m["kind"]) in kinds}


def written(manifest: Manifest) -> dict[str, Any]:
    """What was written of a resource: its name, its cloud's name, labels, and its body without the status."""
    metadata = manifest["metadata"]
    return {
        "name": metadata["name"],
        "labels": plain(metadata.get("labels")),
        "external": dig(metadata, "annotations", crossplane.EXTERNAL_NAME),
        **{field_: plain(body) for field_, body in manifest.items() if field_ not in ("metadata", "status")},
    }
