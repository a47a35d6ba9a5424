"""The plan for one deployment, decided in six phases, in this order.

1. Keep: every replica stays where it is, unless it must leave, yields, or is lost with its cluster.
2. Shrink: of too many replicas, the sick ones go first.
3. Update what does not serve; nothing is lost by that.
4. Fill: place what is missing.
5. Take a turn: give the current spec to one replica that serves, by the rules of the rollout (see `rollout.py`).
6. Part: those that must leave go once enough others serve.

The ledger charges every replica that exists, whatever becomes of it: nodes are free when their holder is gone, and not
when that is decided. Nothing here knows Kubernetes, and nothing depends on the order of the fleet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from function.core import NamespacedName
from function.scheduling.capacity import Contention, Ledger, contention
from function.scheduling.devices import Shortfall
from function.scheduling.filling import Filler
from function.scheduling.filters import is_selected
from function.scheduling.fit import Fit, Fitter, pins
from function.scheduling.fleet import Cluster, Fleet, Replica, exceeds, nodes_of
from function.scheduling.job import Job
from function.scheduling.plan import Action, EvictionReason, Placement, Plan
from function.scheduling.revision import Revision, remember
from function.scheduling.rollout import Rollout
from function.scheduling.taints import untolerated


def solve(job: Job, fleet: Fleet, fitter: Fitter | None = None) -> Plan:
    """Return the plan for one deployment. The clusters must be known: with none, every replica's cluster is gone."""
    return _Solver(job, fleet, fitter or Fitter(job.engines)).run()


def _place(replica: Replica) -> tuple[str, int, NamespacedName]:
    return replica.cluster, replica.index, replica.identity


@dataclass(slots=True)
class _Solver:
    job: Job
    fleet: Fleet
    fitter: Fitter
    staying: list[Replica] = field(default_factory=list)
    leaving: dict[Replica, EvictionReason] = field(default_factory=dict)
    surplus: list[Replica] = field(default_factory=list)
    preempted: dict[Replica, Replica | None] = field(default_factory=dict)
    rolled_back: dict[Replica, Replica | None] = field(default_factory=dict)
    lost: list[Replica] = field(default_factory=list)
    placed: list[Placement] = field(default_factory=list)
    unsearched: set[NamespacedName] = field(default_factory=set)
    """Replicas for which the search for a fit in place was given up."""
    ours: list[Replica] = field(init=False)
    revisions: Mapping[str, Revision] = field(init=False)
    ledger: Ledger = field(init=False)
    filler: Filler = field(init=False)

    def run(self) -> Plan:
        self.ours = sorted((r for r in self.fleet.replicas if r.deployment == self.job.deployment), key=_place)
        self.ledger = Ledger(self.fleet.clusters, self.fleet.replicas, self.fleet.others)
        self.filler = Filler(self.job, self.fleet, self.fitter, self.ledger)
        contended = contention(self.fleet.clusters, self.fleet.replicas)
        self.revisions = self._remembered(contended)
        self._keep(contended)
        self._shrink()
        rollout = Rollout(self.job, self.revisions[self.job.spec_hash], self._serving())
        self._update_idle(rollout)
        self._fill()
        self._take_turn(rollout)
        self._release_replaced()
        return self._plan(rollout)

    def _plan(self, rollout: Rollout) -> Plan:
        kept = {p.replica.identity for p in self.placed if p.replica}
        return Plan(
            ledger=self.ledger,
            placements=tuple(sorted(self.placed, key=lambda p: (p.cluster, p.index, p.action.value))),
            wanted=self.job.replicas,
            departing=tuple(r for r in self.ours if r.identity not in kept),
            revisions=tuple(self.revisions.values()),
            wait=rollout.wait,
            leaving=dict(self.leaving),
            preempted=self.preempted,
            rolled_back=self.rolled_back,
            lost=tuple(self.lost),
        )

    def _remembered(self, contended: Contention) -> dict[str, Revision]:
        denied = {r for r in self.ours if r in contended.preempted or r in contended.rolled_back}
        return remember(self.job.spec_hash, self.job.revisions, self.ours, denied)

    def _serving(self) -> list[Replica]:
        return [r for r in (*self.staying, *self.leaving) if r.serving]

    def _is_current(self, replica: Replica) -> bool:
        return replica.spec_hash == self.job.spec_hash

    # 1. Keep

    def _keep(self, contended: Contention) -> None:
        """Sort our replicas into those that stay, that must leave, that yield, and that are lost with their cluster."""
        for existing in self.ours:
            if existing.deleting:
                continue
            replica = self._rolled_back(existing, contended.rolled_back)
            cluster = self.fleet.clusters.get(existing.cluster)
            if cluster is None:
                self.lost.append(replica)
            elif replica in contended.preempted:
                self.preempted[replica] = contended.preempted[replica]
            elif why := self._must_leave(replica, cluster):
                self.leaving[replica] = why
            else:
                self.staying.append(replica)

    def _rolled_back(self, replica: Replica, rolled_back: Mapping[Replica, Replica | None]) -> Replica:
        """Return a replica as it was before it grew, if it lost the nodes that it grew into; otherwise as it is.

        The phases that follow treat it as a replica that never grew. Only the ledger still has the nodes that it was
        given, because they are free once it has given them back.
        """
        if replica not in rolled_back:
            return replica
        before = replace(replica, engines=replica.proven.engines, spec_hash=replica.proven.spec_hash)
        self.rolled_back[before] = rolled_back[replica]
        return before

    def _kept(self, replica: Replica) -> Placement:
        rolls_back = replica in self.rolled_back
        previous = replica.previous if replica.is_growing and not rolls_back else None
        return Placement(
            replica.cluster, replica.index, Action.KEEP, replica.engines, None, replica, previous, rolls_back=rolls_back
        )

    def _must_leave(self, replica: Replica, cluster: Cluster) -> EvictionReason | None:
        """Being unready, unreachable, relabelled or full moves nobody."""
        if replica.moving_for == self.job.spec_hash:
            return EvictionReason.SUCCEEDED
        if untolerated(cluster.taints, self.job.tolerations, "NoExecute"):
            return EvictionReason.EVICTED
        if cluster.deleting:
            return EvictionReason.CLUSTER_DELETED
        edited = replica.placed_under is not None and replica.placed_under != self.job.placed_under
        if edited and not is_selected(cluster, self.job):
            return EvictionReason.SELECTOR_EDITED
        if not self._pools_match(replica, cluster):
            return EvictionReason.POOLS_MISMATCH
        return None

    def _pools_match(self, replica: Replica, cluster: Cluster) -> bool:
        """Whether its pools satisfy what the deployment asks now. Pools that publish nothing prove nothing, and neither
        does a search that was given up."""
        published = {pool.name: pool for pool in cluster.pools if pool.shape.devices}
        if not published:
            return True
        members = {(e.name, m.role): m for e in self.job.engines for m in e.members}
        for engine in replica.engines:
            for placed in engine.members:
                member = members.get((engine.name, placed.role))
                pool = cluster.pool(placed.pool)
                if pool is not None and not pool.shape.devices:
                    continue
                if pool is None and placed.claims:
                    return False
                offered = self.fitter.matcher.offer(member, pool.shape) if member and pool else None
                if isinstance(offered, Shortfall) and offered.searched:
                    return False
        return True

    # 2. Shrink

    def _shrink(self) -> None:
        """Of too many, the first to go are dropped. What must leave anyway goes as `_release_replaced` says."""
        while self.staying and len(self.staying) > self.job.replicas:
            load = Counter(r.cluster for r in self.staying)
            going = max(self.staying, key=lambda r: self._first_to_go(r, load))
            self.staying.remove(going)
            self.surplus.append(going)
        if not self.job.replicas:
            self.leaving.clear()
        if self.job.replicas == 1 and self.surplus and self.revisions[self.job.spec_hash].is_untried:
            self._cover_the_trial()

    def _first_to_go(
        self, replica: Replica, load: Mapping[str, int]
    ) -> tuple[bool, bool, bool, int, str, int, NamespacedName]:
        """Sick before healthy, outdated before current, then from the cluster with most of them, by name and index."""
        return (
            not replica.serving,
            not replica.ready,
            self.revisions[self.job.spec_hash].served and not self._is_current(replica),
            load[replica.cluster],
            replica.cluster,
            replica.index,
            replica.identity,
        )

    def _cover_the_trial(self) -> None:
        """Where one replica is to remain, the healthiest serves until the next to it is ready with the current spec.

        Without that the last one that serves would try a spec of which nobody knows whether it works. Where the spec
        does not fit beside what is still there, the surplus goes first.
        """
        [best], second = self.staying, self.surplus[-1]
        if not best.serving or self._is_current(best) or self._fit_in_place(second) is None:
            return
        self.staying, self.surplus = [second], self.surplus[:-1]
        self.leaving[best] = EvictionReason.SUCCEEDED

    # 3. Update what does not serve

    def _update_idle(self, rollout: Rollout) -> None:
        for replica in self.staying[:]:
            if self._is_current(replica) or not rollout.is_free(replica, self.revisions):
                self.placed.append(self._kept(replica))
            elif not self._update(replica):
                self.placed.append(self._kept(replica))
                self._move(replica)

    def _update(self, replica: Replica) -> bool:
        """Give it the current spec where it is, if its pools have room for the difference."""
        fit = self._fit_in_place(replica)
        if fit is None:
            return False
        cluster = self.fleet.clusters[replica.cluster]
        engines = fit.placed(cluster)
        wanted = nodes_of(engines)
        own = replica.nodes()
        self.ledger.take(cluster.name, {pool: max(0, n - own.get(pool, 0)) for pool, n in wanted.items()})
        grows = replica.has_served and exceeds(wanted, nodes_of(replica.proven.engines))
        previous = replica.proven if grows else None
        self.placed.append(Placement(cluster.name, replica.index, Action.UPDATE, engines, fit, replica, previous))
        return True

    def _fit_in_place(self, replica: Replica) -> Fit | None:
        """How the current spec fits where a replica is, beside everything else that is there."""
        cluster = self.fleet.clusters[replica.cluster]
        own = replica.nodes()
        free = {pool: nodes + own.get(pool, 0) for pool, nodes in self.ledger.free_nodes(cluster.name).items()}
        fit = self.fitter.fit(cluster, free, pins(replica, self.job.engines))
        if isinstance(fit, Fit):
            return fit
        if fit.gave_up:
            self.unsearched.add(replica.identity)
        return None

    def _move(self, replica: Replica) -> None:
        """Its pools have no room for the current spec: it keeps its own, until a successor serves elsewhere.

        It stays where a cluster that publishes no pools, or a search that was given up, proves nothing; and where nodes
        are about to be free.
        """
        if replica.identity in self.unsearched:
            return
        departing = {r.cluster for r in (*self.surplus, *self.preempted, *(r for r in self.ours if r.deleting))}
        publishes = any(pool.shape.devices for pool in self.fleet.clusters[replica.cluster].pools)
        if publishes and replica.cluster not in departing:
            self._replace_by_successor(replica, EvictionReason.GROWN)

    def _replace_by_successor(self, replica: Replica, why: EvictionReason) -> None:
        self.placed.remove(self._kept(replica))
        self.staying.remove(replica)
        self.leaving[replica] = why

    # 4. Fill

    def _fill(self) -> None:
        self.placed.extend(self.filler.fill(self.placed, self.job.replicas - len(self.placed)))

    # 5. Take a turn

    def _take_turn(self, rollout: Rollout) -> None:
        """One that serves is given the current spec, if the rollout may go on."""
        outdated = [p.replica for p in self.placed if p.replica and not p.fit and not self._is_current(p.replica)]
        if not outdated or self._is_unproven() or any(r.serving for r in self.surplus):
            return
        candidates = [r for r in sorted(outdated, key=lambda r: (r.serving, *_place(r))) if rollout.may_update(r)]
        if any(self._update_kept(replica) for replica in candidates):
            return
        if candidates:
            self._make_room(candidates[0])
        elif rollout.needs_proof:
            self._prove_elsewhere(outdated[0], rollout)

    def _is_unproven(self) -> bool:
        """Whether a replica is yet to show that it is ready with the current spec."""
        changes = any(p.action is not Action.KEEP for p in self.placed)
        return changes or any(self._is_current(r) and not r.ready for r in self.staying)

    def _update_kept(self, replica: Replica) -> bool:
        if not self._update(replica):
            return False
        self.placed.remove(self._kept(replica))
        return True

    def _make_room(self, replica: Replica) -> None:
        """Nothing that is outdated has room where it is: surplus that only serves meanwhile goes, or a successor is
        placed elsewhere."""
        covers = [
            r for r, why in self.leaving.items() if why is EvictionReason.SUCCEEDED and r.cluster == replica.cluster
        ]
        for cover in covers:
            del self.leaving[cover]
            self.surplus.append(cover)
        self._move(replica)
        self._fill()

    def _prove_elsewhere(self, replica: Replica, rollout: Rollout) -> None:
        """The revision was tried and has not served, and nobody tries it any more: a new replica does, if there is room
        for one. It takes the place of one that serves as soon as it serves itself."""
        others = [p for p in self.placed if p.replica is not replica]
        if new := list(self.filler.fill(others, 1)):
            self._replace_by_successor(replica, EvictionReason.SUCCEEDED)
            self.placed.extend(new)
            rollout.wait = None

    # 6. Part

    def _release_replaced(self) -> None:
        """Those that must leave stay until as many others serve as are wanted, and at least until the current spec,
        for which they make way, was tried."""
        untried = self.revisions[self.job.spec_hash].is_untried
        serving = sum(p.replica is not None and p.replica.serving and p.action is Action.KEEP for p in self.placed)
        absent = self.job.replicas - len(self.placed)
        for replica in sorted(self.leaving, key=lambda r: (not r.serving, not r.ready, _place(r))):
            covers = untried and self.leaving[replica] is EvictionReason.SUCCEEDED
            needed = absent > 0 or (replica.serving and (covers or serving < self.job.replicas))
            if not needed:
                del self.leaving[replica]
                continue
            absent -= 1
            serving += replica.serving
            self.placed.append(replace(self._kept(replica), action=Action.AWAIT_SUCCESSOR))
