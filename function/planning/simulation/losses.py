"""Watches every write of the control plane for something that serves and is deleted.

A deletion counts when it is requested, because the store then has everything by which it was decided. What a user
deletes is the user's decision, and so is all that belongs to it.

- A replica that serves may go if its deployment or its cluster is gone, or if as many others serve as are wanted.
- A workload of a replica that is ready for its current spec may go only with the replica.
- An endpoint may go only when no service routes to it, unless its deployment or its cluster is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from function.core import Manifest, controller, dig, dig_list, dig_objects, is_ready, serves
from function.fleet.values import whole
from function.planning import statuses
from function.planning.simulation.invariants import Checked, Invariant, Violation
from function.sandbox.composed import referenced
from function.sandbox.store import Change, Ref, Store, ref_of
from function.vocabulary import labels, versions

Cache = Callable[[str], Store]
"""What a kind is read from."""


@dataclass(slots=True)
class Losses:
    """Looks at each change before it is made (see `Store.before_write`)."""

    store: Store
    checked: Checked = field(default_factory=Checked)
    violations: list[Violation] = field(default_factory=list)
    by_user: bool = False
    """Whether a user makes the changes."""
    cache: Cache | None = None
    """What the writer has read each kind from, if that was not the store. It may carry out what the owner had decided
    then."""

    @contextmanager
    def deciding_by(self, cache: Cache | None) -> Iterator[None]:
        """Changes that are decided by what a cache has."""
        before, self.cache = self.cache, cache
        try:
            yield
        finally:
            self.cache = before

    def __call__(self, change: Change) -> None:
        """Look at one change."""
        if self.by_user or change.before is None or is_deleted(change.before):
            return
        if change.after is None or is_deleted(change.after):
            lost = [*self._lost(change.ref, change.before)]
            self.violations += [] if lost and self._was_right(change.ref) else lost

    def _was_right(self, ref: Ref) -> bool:
        """Whether a deletion would have lost nothing when its writer has read what it decided by."""
        if self.cache is None:
            return False
        past = self.cache(ref.kind), self.cache("ModelDeployment")
        then = [(store, manifest) for store in past if (manifest := store.get(ref)) is not None]
        return not then or any(not [*Losses(store)._lost(ref, manifest)] for store, manifest in then)

    def _lost(self, ref: Ref, manifest: Manifest) -> Iterator[Violation]:
        if ref.api_version == versions.MODELPLANE and ref.kind == "ModelReplica":
            yield from self._replica(ref, manifest)
        elif ref.api_version == versions.MODELPLANE and ref.kind == "ModelEndpoint":
            yield from self._endpoint(ref, manifest)
        elif (ref.api_version, ref.kind) == (versions.PROVIDER_KUBERNETES, "Object"):
            yield from self._workload(ref, manifest)

    def _replica(self, ref: Ref, replica: Manifest) -> Iterator[Violation]:
        deployment = owner(self.store, replica)
        if not serves(replica, "ModelReady") or deployment is None or not self._has_cluster(replica):
            return
        self.checked[Invariant.KEPT] += 1
        uid, wanted = deployment["metadata"]["uid"], whole(dig(deployment, "spec", "replicas"), 1)
        still = sum(is_serving(other, uid) for other in replicas(self.store)) - 1
        if still < wanted:
            yield Violation(
                Invariant.KEPT, str(ref), f"deleted while {still} others serve, of {wanted} that are wanted"
            )

    def _has_cluster(self, replica: Manifest) -> bool:
        name = str(dig(replica, "spec", "clusterName") or "")
        return self.store.get(Ref(versions.MODELPLANE, "InferenceCluster", "", name)) is not None

    def _endpoint(self, ref: Ref, endpoint: Manifest) -> Iterator[Violation]:
        cluster = str(dig(endpoint, "metadata", "labels", labels.CLUSTER) or "")
        is_led = owner(self.store, endpoint) is not None and self._has_cluster({"spec": {"clusterName": cluster}})
        if not is_led:
            return
        self.checked[Invariant.KEPT] += 1
        for service in self.store.of_kind(versions.MODELPLANE, "ModelService"):
            metadata, routed = service["metadata"], dig_list(service, "status", "routed")
            if metadata.get("namespace") == ref.namespace and ref.name in routed and not is_deleted(service):
                yield Violation(Invariant.KEPT, str(ref), f"deleted while ModelService {metadata['name']} routes to it")

    def _workload(self, ref: Ref, manifest: Manifest) -> Iterator[Violation]:
        kind, replica = dig(manifest, "spec", "forProvider", "manifest", "kind"), owner(self.store, manifest)
        if kind not in statuses.WORKLOADS or replica is None or replica["kind"] != "ModelReplica":
            return
        self.checked[Invariant.KEPT] += 1
        if is_ready(replica):
            yield Violation(Invariant.KEPT, str(ref), f"{kind} of a replica that is ready is deleted")


def replicas(store: Store) -> tuple[Manifest, ...]:
    """All ModelReplicas."""
    return store.of_kind(versions.MODELPLANE, "ModelReplica")


def is_serving(replica: Manifest, uid: str) -> bool:
    """Whether a replica belongs to an owner with a uid, serves, and is not being deleted."""
    owned = controller(replica["metadata"])
    return owned is not None and owned.get("uid") == uid and not is_deleted(replica) and serves(replica, "ModelReady")


def owner(store: Store, manifest: Manifest, *, going: bool = False) -> Manifest | None:
    """The controller of an object; None if it has none, or if that is gone or, unless `going`, being deleted."""
    reference = controller(manifest["metadata"])
    if reference is None:
        return None
    namespace = manifest["metadata"].get("namespace") or ""
    found = store.get(Ref(reference["apiVersion"], reference["kind"], namespace, reference["name"]))
    is_same = found is not None and found["metadata"]["uid"] == reference["uid"]
    return found if is_same and found is not None and (going or not is_deleted(found)) else None


def is_referred(store: Store, composed: Manifest) -> bool:
    """Whether its controller, if it has one, refers to a composed resource.

    Crossplane does not observe or delete what an XR does not refer to. It leaves such a resource behind when it has two
    leaders for a moment, and one of them writes by old reads.
    """
    xr = owner(store, composed, going=True)
    references = dig_objects(xr, "spec", "crossplane", "resourceRefs")
    return xr is None or any(referenced(xr, one) == ref_of(composed) for one in references)


def is_deleted(manifest: Manifest) -> bool:
    """Whether the deletion of an object was requested."""
    return "deletionTimestamp" in manifest["metadata"]
