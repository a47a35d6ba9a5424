"""The replicas of the fleet: whose each is, where it stands, and what it takes there."""

from __future__ import annotations

from collections.abc import Container

from function.api.modeldeployment import API_VERSION, KIND
from function.core import (
    ContentCache,
    Manifest,
    NamespacedName,
    Request,
    controller,
    dig,
    identity,
    is_controlled_by,
    is_ready,
    may_mention,
    serves,
)
from function.fleet import previous_spec
from function.fleet.engines import engines, nodes_taken
from function.fleet.values import whole
from function.scheduling import ForeignReplica, Replica
from function.vocabulary import labels, names


class Owner:
    """Whose a replica is: by namespace and label, or by controller reference; never by a name alone."""

    def __init__(self, request: Request) -> None:
        self.uid = dig(request.xr, "metadata", "uid")
        self.deployment = NamespacedName(request.identity.namespace, names.label_value(request.identity.name))

    def owns(self, manifest: Manifest, observed: Container[NamespacedName]) -> bool:
        """One that is observed is ours, and of our namespace no other that a namesake controls, who was before us."""
        if not may_mention(manifest, "metadata", self.deployment.namespace):
            return False
        metadata = manifest["metadata"]
        if metadata.get("namespace") != self.deployment.namespace:
            return False
        if identity(manifest) in observed:
            return True
        owner = controller(metadata)
        if owner and self.uid:
            return bool(owner.get("uid") == self.uid)
        return bool(dig(metadata, "labels", labels.DEPLOYMENT) == self.deployment.name)


def takes_nodes(manifest: Manifest) -> bool:
    """Whether another's replica takes nodes: only one that a ModelDeployment composed does. One written by hand runs
    nothing (modelreplica/composer.py), however many nodes it names."""
    return is_controlled_by(manifest["metadata"], API_VERSION, KIND)


def foreign_replica(manifest: Manifest) -> ForeignReplica:
    """What another's replica takes."""
    return ForeignReplica(TAKEN(manifest), lambda: deployment_of(manifest["metadata"]))


def _nodes(manifest: Manifest) -> dict[str, int]:
    return nodes_taken(dig(manifest, "spec", "engines"))


TAKEN = ContentCache("spec", make=_nodes, most=32_768)
"""Whole nodes by pool. There are thousands of replicas, and what one takes changes only with its spec."""


def deployment_of(metadata: Manifest) -> NamespacedName:
    """Of another's replica, as its labels name it."""
    name = dig(metadata, "labels", labels.DEPLOYMENT) or metadata["name"]
    return NamespacedName(metadata.get("namespace") or "", name)


def replica(manifest: Manifest, deployment: NamespacedName) -> Replica | None:
    """None for one that says nowhere where it is."""
    metadata, spec, status = manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}
    cluster = spec.get("clusterName")
    if not cluster:
        return None
    annotations = metadata.get("annotations") or {}
    deleting = "deletionTimestamp" in metadata
    serving = serves(manifest, "ModelReady") and not deleting
    return Replica(
        identity=identity(manifest),
        deployment=deployment,
        cluster=cluster,
        index=whole(dig(metadata, "labels", labels.REPLICA_INDEX)),
        engines=engines(spec.get("engines")),
        ready=is_ready(manifest) and not deleting,
        serving=serving,
        served=serving or status.get("served") is True,
        deleting=deleting,
        created=str(metadata.get("creationTimestamp") or ""),
        spec_hash=annotations.get(labels.SPEC_HASH) or "",
        moving_for=annotations.get(labels.MOVING_FOR) or "",
        placed_under=annotations.get(labels.PLACED_UNDER),
        previous=previous_spec.read(metadata),
    )
