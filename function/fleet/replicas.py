"""Reads ModelReplicas: the deployment, the cluster and the nodes of each."""

from __future__ import annotations

from collections.abc import Container

from function.api.modeldeployment import API_VERSION, KIND
from function.core import (
    ContentCache,
    Manifest,
    NamespacedName,
    Request,
    condition,
    controller,
    dig,
    dig_fields,
    dig_text,
    identity,
    is_controlled_by,
    is_ready,
    may_mention,
    serves,
)
from function.fleet import previous_spec, renderings
from function.fleet.engines import devices_claimed, engines, nodes_taken
from function.fleet.values import whole
from function.scheduling import ForeignReplica, Replica
from function.scheduling.fleet import Specs
from function.vocabulary import labels, names
from function.vocabulary.conditions import MODEL_ACCEPTED


class Owner:
    """Decides which replicas belong to the deployment of a request."""

    def __init__(self, request: Request) -> None:
        """Take the deployment from the request's XR."""
        self.uid = dig(request.xr, "metadata", "uid")
        self.deployment = NamespacedName(request.identity.namespace, names.label_value(request.identity.name))

    def owns(self, manifest: Manifest, observed: Container[NamespacedName]) -> bool:
        """Whether a replica belongs to the deployment.

        It does if it is among `observed`. Otherwise its controller reference decides, since an earlier deployment may
        have had the same name, and the label decides only without one. The namespace must match in any case.
        """
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
    """Whether a replica of another deployment takes nodes: if a ModelDeployment composed it, or it composed something.

    A replica that was written by hand runs nothing (see modelreplica/composer.py), so it takes no nodes. One that lost
    its deployment in an orphaning deletion (kubectl delete --cascade=orphan) keeps what it had composed, and its pods.
    """
    is_composed = is_controlled_by(manifest["metadata"], API_VERSION, KIND)
    return is_composed or bool(dig(manifest, "spec", "crossplane", "resourceRefs"))


def foreign_replica(manifest: Manifest) -> ForeignReplica:
    """Return what a replica of another deployment takes. Its details are read on demand."""
    return ForeignReplica(TAKEN(manifest), _Foreign(manifest))


class _Foreign:
    """A replica of another deployment."""

    __slots__ = ("_manifest",)

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest

    @property
    def deployment(self) -> NamespacedName:
        """The deployment as its labels name it."""
        return deployment_of(self._manifest["metadata"])

    @property
    def identity(self) -> NamespacedName:
        """Its name."""
        return identity(self._manifest)

    @property
    def specs(self) -> Specs:
        """The specs of which its pods may run."""
        if labels.FORMER_SPEC not in (self._manifest["metadata"].get("annotations") or {}):
            return (ENGINES(self._manifest),)
        found = replica(self._manifest, self.deployment)
        return found.specs if found else ()


ENGINES = ContentCache(
    "spec", make=lambda manifest: engines(dig(manifest, "spec", "engines")), most=8_192, name="replica_engines"
)
"""The engines of a replica, by the content of its spec. They are read of replicas on pools whose nodes are shared."""


def _nodes(manifest: Manifest) -> dict[str, int]:
    return nodes_taken(dig(manifest, "spec", "engines"))


def _claimed(manifest: Manifest) -> dict[str, int]:
    return devices_claimed(dig(manifest, "spec", "engines"))


CLAIMED = ContentCache("spec", make=_claimed, most=32_768, name="replica_claims")
"""Devices that pods claim by pool, by the content of a replica's spec."""

TAKEN = ContentCache("spec", make=_nodes, most=32_768, name="replica_nodes")
"""Whole nodes by pool, by the content of a replica's spec. There are thousands of replicas, and specs seldom change."""


def deployment_of(metadata: Manifest) -> NamespacedName:
    """Return the deployment of a replica as its labels name it; the replica's own name if they do not."""
    name = dig_text(metadata, "labels", labels.DEPLOYMENT) or metadata["name"]
    return NamespacedName(metadata.get("namespace") or "", name)


def replica(manifest: Manifest, deployment: NamespacedName) -> Replica | None:
    """Return the replica of a manifest; None if it names no cluster. `deployment` is the one that it belongs to."""
    metadata, spec, status = manifest["metadata"], dig_fields(manifest, "spec"), dig_fields(manifest, "status")
    cluster = spec.get("clusterName")
    if not isinstance(cluster, str) or not cluster:
        return None
    annotations = metadata.get("annotations") or {}
    deleting, awaits_turn = "deletionTimestamp" in metadata, renderings.awaits_turn(manifest)
    serving = serves(manifest, "ModelReady") and not deleting
    return Replica(
        identity=identity(manifest),
        deployment=deployment,
        cluster=cluster,
        index=whole(dig(metadata, "labels", labels.REPLICA_INDEX)),
        engines=engines(spec.get("engines")),
        ready=is_ready(manifest) and not deleting and not (awaits_turn and renderings.is_current(metadata)),
        serving=serving,
        served=serving or status.get("served") is True,
        deleting=deleting,
        created=str(metadata.get("creationTimestamp") or ""),
        spec_hash=renderings.revision(annotations.get(labels.SPEC_HASH) or "", renderings.rendering(metadata)),
        moving_for=renderings.revision(annotations.get(labels.MOVING_FOR) or ""),
        placed_under=annotations.get(labels.PLACED_UNDER),
        previous=previous_spec.read(metadata),
        answered=dig(condition(manifest, MODEL_ACCEPTED.type), "status") not in ("False", "Unknown"),
        awaits_turn=awaits_turn,
    )
