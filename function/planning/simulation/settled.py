"""Checks a world that has settled: capacity, statuses, tenants, and what was accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from function.core import (
    Manifest,
    Reason,
    Requirement,
    condition,
    controller,
    dig,
    dig_fields,
    dig_list,
    dig_objects,
    dig_text_fields,
    identity,
    is_ready,
    serves,
)
from function.fleet.engines import nodes_taken
from function.fleet.replicas import takes_nodes
from function.fleet.values import whole
from function.planning import provider
from function.planning.control_plane import ControlPlane
from function.planning.simulation import capacity, truths
from function.planning.simulation.capacity import Workload
from function.planning.simulation.invariants import TAKEN, Checked, Invariant, Violation
from function.planning.simulation.losses import is_deleted, is_referred, is_serving, owner, replicas
from function.planning.simulation.truths import Truth
from function.sandbox.settle import matches
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import conditions, labels, versions

_CONDITIONS = ("Ready", "Synced")
_UNDECIDED = (
    conditions.SCHEDULING,
    conditions.NO_CLUSTERS,
    conditions.INVALID_DEPLOYMENT,
    conditions.INVALID_NODE_SELECTOR,
)
_IN_USE = "is in use"


@dataclass(frozen=True, slots=True)
class Settled:
    """A world that has settled."""

    control: ControlPlane
    checked: Checked
    is_healthy: bool
    """Whether no fault is switched on."""

    def violations(self) -> Iterator[Violation]:
        """Every invariant that is broken."""
        yield from self._capacity()
        yield from self._deployments()
        yield from self._clusters()
        yield from self._services()
        yield from self._others()
        yield from self._replicas()
        yield from self._conditions()
        yield from self._apart()

    @property
    def _store(self) -> Store:
        return self.control.store

    def _of(self, kind: str) -> tuple[Manifest, ...]:
        return self._store.of_kind(versions.MODELPLANE, kind)

    def _watched(self, kind: str) -> Iterator[Manifest]:
        """Those whose status is of now.

        It is that of before if an object is paused or is being deleted, and if what it composes cannot be applied yet.
        """
        there = (m for m in self._of(kind) if not (provider.is_paused(m) or is_deleted(m)))
        return (m for m in there if not self._waits(str(dig(condition(m, "Synced"), "message"))))

    def _same(self, manifest: Manifest, what: str, told: Any, true: Any) -> Iterator[Violation]:
        self.checked[Invariant.TRUE] += 1
        if told != true:
            yield Violation(Invariant.TRUE, str(ref_of(manifest)), f"{what}: {told}, in truth {true}")

    # Capacity

    def _capacity(self) -> Iterator[Violation]:
        for found in capacity.taken(self.control):
            self.checked[Invariant.CAPACITY] += 1
            if found.is_too_much:
                yield Violation(Invariant.CAPACITY, str(found.cluster), str(found))

    # Statuses

    def _deployments(self) -> Iterator[Violation]:
        for deployment in self._watched("ModelDeployment"):
            told = dig_fields(deployment, "status", "replicas")
            uid, known = deployment["metadata"]["uid"], replicas(self._store)
            serving = sum(is_serving(r, uid) and is_referred(self._store, r) for r in known)
            wanted, ready = whole(dig(deployment, "spec", "replicas"), 1), told.get("ready")
            if _is_held(deployment):  # then the number is that of before, and only falls
                most = serving + self._going(deployment)
                yield from self._same(deployment, "most of status.replicas.ready", max(whole(ready), most), most)
                continue
            yield from self._same(deployment, "status.replicas.ready", ready, min(serving, wanted))
            if whole(told.get("total")) < wanted:
                scheduled = dig(condition(deployment, conditions.REPLICAS_SCHEDULED.type), "status")
                yield from self._same(deployment, "condition ReplicasScheduled", scheduled, "False")

    def _going(self, deployment: Manifest) -> int:
        """How many replicas of a deployment serve and are being deleted."""
        uid = deployment["metadata"]["uid"]
        going = filter(is_deleted, replicas(self._store))
        return sum(dig(controller(r["metadata"]), "uid") == uid and serves(r, "ModelReady") for r in going)

    def _clusters(self) -> Iterator[Violation]:
        for cluster in self._watched("InferenceCluster"):
            taken: Counter[str] = Counter()
            for replica in replicas(self._store):
                if dig(replica, "spec", "clusterName") == identity(cluster).name and takes_nodes(replica):
                    taken.update(nodes_taken(dig(replica, "spec", "engines")))
            for pool in dig_objects(cluster, "status", "allocations"):
                if "devices" not in pool:
                    left = whole(pool.get("nodes")) - taken[str(pool["pool"])]
                    yield from self._same(cluster, f"free nodes of pool {pool['pool']}", pool.get("free"), left)

    def _services(self) -> Iterator[Violation]:
        for service in self._watched("ModelService"):
            namespace = identity(service).namespace
            there = [e for e in self._of("ModelEndpoint") if identity(e).namespace == namespace]
            routed = {str(name) for name in dig_list(service, "status", "routed")}
            gone = sorted(routed - {identity(e).name for e in there})
            waits = _says(service, conditions.WAITING_FOR_GATEWAY)
            is_held = waits or _says(service, conditions.INVALID_SERVICE)
            if not (is_held and self._of("InferenceGateway")):  # without a gateway, its route leads nowhere
                yield from self._same(service, "endpoints in status.routed that do not exist", gone, [])
            if waits:
                ready = dig(condition(service, "Ready"), "status")
                yield from self._same(service, "condition Ready without a gateway", ready, "False")
            if is_held:
                continue  # then the numbers are those of before, as the route is
            matched = [e for e in there if _is_selected(service, e) and not is_deleted(e)]
            yield from self._all_true(truths.of_service(service, matched))

    def _others(self) -> Iterator[Violation]:
        for cache in self._watched("ModelCache"):
            yield from self._all_true(truths.of_cache(self.control, cache))
        for gateway in self._watched("InferenceGateway"):
            yield from self._all_true(truths.of_gateway(self.control, gateway))
        for cluster in self._watched("InferenceCluster"):
            yield from self._all_true(truths.of_cluster(cluster))

    def _all_true(self, found: Iterator[Truth]) -> Iterator[Violation]:
        for truth in found:
            yield from self._same(*truth)

    def _replicas(self) -> Iterator[Violation]:
        """What serves runs, and what runs serves."""
        there: dict[Ref, list[Workload]] = {}
        for workload in capacity.workloads(self.control):
            replica = workload.replica
            is_told = replica is not None and not is_deleted(replica) and not provider.is_paused(replica)
            if replica is not None and is_told and workload.is_current:
                there.setdefault(ref_of(replica), []).append(workload)
        for ref, found in sorted(there.items()):
            replica = found[0].replica
            assert replica is not None
            yield from self._running(ref, replica, runs=all(workload.runs for workload in found))

    def _running(self, ref: Ref, replica: Manifest, *, runs: bool) -> Iterator[Violation]:
        if is_ready(replica):
            yield from self._same(replica, "whether all its pods run", is_ready(replica), runs)
        has_owner = controller(replica["metadata"]) is not None  # nothing is composed anew for one without
        if self.is_healthy and runs and has_owner:
            self.checked[Invariant.RECOVERS] += 1
            if not serves(replica, "ModelReady"):
                why = dig(condition(replica, "ModelReady"), "message")
                yield Violation(Invariant.RECOVERS, str(ref), f"its pods run and it does not serve: {why}")

    def _conditions(self) -> Iterator[Violation]:
        for kind in self._store.kinds.composites():
            for manifest in self._store.of_kind(kind.api_version, kind.kind):
                if not is_deleted(manifest):
                    yield from self._current(manifest)

    def _current(self, manifest: Manifest) -> Iterator[Violation]:
        generation, synced = manifest["metadata"].get("generation"), condition(manifest, "Synced")
        is_synced = dig(synced, "status") == "True"
        if not is_synced and self._waits(str(dig(synced, "message"))):
            return
        for type_ in _CONDITIONS if is_synced or self.is_healthy else ():
            found = condition(manifest, type_)
            seen = dig(found, "observedGeneration") or generation  # Crossplane adds it only if something else changes
            yield from self._same(manifest, f"generation that condition {type_} is of", found and seen, generation)
        if self.is_healthy and not is_synced:
            yield Violation(Invariant.ACCEPTED, str(ref_of(manifest)), f"it is not Synced: {dig(synced, 'message')}")

    def _waits(self, message: str) -> bool:
        """Whether an XR that cannot be composed waits for others.

        It waits for the users of what it deletes, or until what an earlier XR of its name had composed is gone.
        """
        going = (m for m in self._store.all() if is_deleted(m)) if TAKEN in message else ()
        return _IN_USE in message or any(f"{ref_of(manifest)} {TAKEN}" in message for manifest in going)

    # Tenants

    def _apart(self) -> Iterator[Violation]:
        for config, ref in sorted(self.control.clusters.shared):
            yield Violation(Invariant.APART, str(ref), f"two Objects claim it, through provider config {config}")
        for manifest in self._store.of_kind(versions.PROVIDER_KUBERNETES, "Object"):
            owned = owner(self._store, manifest)
            if owned is not None and owned["kind"] == "ModelReplica":
                self.checked[Invariant.APART] += 1
                yield from self._placed(manifest, owned)

    def _placed(self, manifest: Manifest, replica: Manifest) -> Iterator[Violation]:
        remote = dig_fields(manifest, "spec", "forProvider", "manifest")
        name, own = dig(remote, "metadata", "name"), identity(replica).namespace
        namespace = dig(remote, "metadata", "namespace") or (name if remote.get("kind") == "Namespace" else own)
        if namespace != own:
            subject = f"{remote.get('kind')} {namespace}/{name}"
            yield Violation(Invariant.APART, subject, f"belongs to ModelReplica {identity(replica)}")


def _is_held(deployment: Manifest) -> bool:
    """Whether a deployment decides nothing, because its spec is refused or something is unknown."""
    return any(_says(deployment, reason) for reason in _UNDECIDED)


def _says(manifest: Manifest, reason: Reason) -> bool:
    return bool(dig(condition(manifest, reason.type), "reason") == reason.reason)


def _is_selected(service: Manifest, endpoint: Manifest) -> bool:
    """Whether an entry of a service selects an endpoint, and its deployment wants to keep it: while that is held, one
    that is leaving stays for as long."""
    if labels.LEAVING in (endpoint["metadata"].get("annotations") or {}):
        return False
    wanted = (dig_text_fields(entry, "selector", "matchLabels") for entry in dig_list(service, "spec", "endpoints"))
    return any(
        matches(Requirement("", versions.MODELPLANE, "ModelEndpoint", match_labels=each), endpoint) for each in wanted
    )
