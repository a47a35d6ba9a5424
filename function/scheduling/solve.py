"""Decides where the replicas of one deployment go: a pure function from a job and a fleet to a plan.

Terms:

- A *job* is what the deployment wants: a number of replicas, each of which has the same engines.
- A replica is *current* if it has the revision of the job; otherwise it is *outdated*. One that is *left alone* is
  outdated and counts as current (see `rollout.py`).
- A replica *serves* if it answers requests, and is *ready* if all of it also runs the spec that it has.
- A replica that *stays* keeps its cluster. One that *leaves* must go, and serves until it is replaced. *Surplus* is
  dropped at once. A *preempted* replica lost its nodes to another deployment. A *lost* replica had its cluster deleted.
- A *successor* is the replica that replaces one that leaves.

Phases, in this order:

1. Keep. Sort the existing replicas into those that stay, leave, are preempted or are lost. A replica that is being
   deleted is in none of these groups.
2. Shrink. If more replicas stay than are wanted, drop the surplus. Replicas that do not serve go first.
3. Update idle. Give the current spec to the outdated replicas that are free to change (see `rollout.py`): they do not
   serve, so an update costs nothing, and all get it at once.
4. Fill. Place the missing replicas (see `filling.py`).
5. Take a turn. Give the current spec to one replica that serves, if the rules of the rollout allow it. If its pools
   have no room for the spec, place a successor instead.
6. Release replaced. Of the replicas that leave, let those go that enough others replace. Keep the others.

The order matters. Filling comes after updating, so a replica that stays gets the nodes of its pools before a new one
does. A turn comes after filling, because a new replica has the current spec and must prove it first: only one replica
at a time tries a spec.

Deliberately coarse:

- The ledger charges every replica that exists until it is gone, even if this plan drops it. Nodes are never given away
  twice, at the price that a plan may need one more reconcile to use them.
- Replicas are placed one at a time and never moved to make room for another. A better cluster that appears later moves
  nothing, so a second call with the same fleet keeps everything.
- Being not ready, unreachable, relabelled or full moves no replica. These states often pass, and a move costs a load of
  the weights. A lowered level of Pod Security moves none either, as in Kubernetes: it is asked when a replica gets
  another spec, so only a replica that has an earlier one must leave, and no new version of the function moves any.

The result does not depend on the order of the fleet, on time or on chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from function.core import NamespacedName
from function.scheduling.capacity import Contention, Ledger, contention
from function.scheduling.devices import Shortfall
from function.scheduling.filling import Filler
from function.scheduling.filters import forbidden_pods, is_selected
from function.scheduling.fit import Fit, Fitter, pins
from function.scheduling.fleet import Cluster, Fleet, Replica
from function.scheduling.job import Job
from function.scheduling.plan import Action, EvictionReason, Placement, Plan
from function.scheduling.revision import Revision, remember
from function.scheduling.rollout import Rollout, is_left_alone
from function.scheduling.taints import untolerated


def solve(job: Job, fleet: Fleet, fitter: Fitter | None = None) -> Plan:
    """Return the plan for one deployment.

    A replica whose cluster is missing in the fleet counts as lost. Of a fleet that is known in part, the plan is a
    draft until it stands on what is known (`Plan.sought`, `Plan.stands_on`). Pass a `fitter` to reuse what an earlier
    call has learned about the job's engines.

    Raises Exhausted if the budget of the fitter's matcher does not suffice, and deadline.Exceeded.
    """
    return _Solver(job, fleet, fitter or Fitter(job.engines)).run()


def _position(replica: Replica) -> tuple[str, int, NamespacedName]:
    return replica.cluster, replica.index, replica.identity


@dataclass(slots=True)
class _Solver:
    job: Job
    fleet: Fleet
    fitter: Fitter
    staying: list[Replica] = field(default_factory=list)
    """Replicas that keep their cluster."""
    leaving: dict[Replica, EvictionReason] = field(default_factory=dict)
    """Replicas that must go, and serve until they are replaced."""
    surplus: list[Replica] = field(default_factory=list)
    """Replicas that are dropped because there are too many."""
    preempted: dict[Replica, Replica | None] = field(default_factory=dict)
    """Replicas that never served and lost their nodes, with the replica that has them."""
    rolled_back: dict[Replica, Replica | None] = field(default_factory=dict)
    """Replicas that return to their previous spec, with the replica that has the nodes they grew into."""
    lost: list[Replica] = field(default_factory=list)
    """Replicas whose cluster is gone."""
    placed: list[Placement] = field(default_factory=list)
    """The placements decided so far. Phase 3 puts one for each replica that stays; later phases replace and add."""
    unsearched: set[NamespacedName] = field(default_factory=set)
    """Replicas for which the search for a fit in place gave up."""
    in_place: set[str] = field(default_factory=set)
    """Clusters whose free nodes were asked for, to give a replica another spec in its place."""
    ours: list[Replica] = field(init=False)
    revisions: Mapping[str, Revision] = field(init=False)
    ledger: Ledger = field(init=False)
    filler: Filler = field(init=False)

    def run(self) -> Plan:
        self.ours = sorted((r for r in self.fleet.replicas if r.deployment == self.job.deployment), key=_position)
        fleet, demands = self.fleet, self.fitter.demands
        self.ledger = Ledger(fleet.clusters, fleet.replicas, fleet.others, fleet.published, demands)
        self.filler = Filler(self.job, self.fleet, self.fitter, self.ledger)
        contended = contention(fleet.clusters, fleet.replicas, demands)
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
            sought=self.filler.sought,
            further=self.filler.further,
            stands_on=frozenset({*self.in_place, *(p.cluster for p in self.placed if p.action is Action.CREATE)}),
            in_place=frozenset(self.in_place),
            placements=tuple(sorted(self.placed, key=lambda p: (p.cluster, p.index, p.action.value))),
            wanted=self.job.replicas,
            departing=tuple(r for r in self.ours if r.identity not in kept),
            revisions=tuple(self.revisions.values()),
            wait=rollout.wait,
            leaving=dict(self.leaving),
            preempted=self.preempted,
            rolled_back=self.rolled_back,
            lost=tuple(self.lost),
            left_alone=tuple(p.replica for p in self.placed if p.replica and self._is_left_alone(p, rollout)),
        )

    def _is_left_alone(self, placed: Placement, rollout: Rollout) -> bool:
        return placed.replica is not None and not placed.fit and rollout.is_left_alone(placed.replica)

    def _remembered(self, contended: Contention) -> dict[str, Revision]:
        denied = {r for r in self.ours if r in contended.preempted or r in contended.rolled_back}
        return remember(self.job.spec_hash, self.job.revisions, self.ours, denied)

    def _serving(self) -> list[Replica]:
        return [r for r in (*self.staying, *self.leaving) if r.serving]

    def _is_current(self, replica: Replica) -> bool:
        return replica.spec_hash == self.job.spec_hash

    # 1. Keep

    def _keep(self, contended: Contention) -> None:
        """Sort the existing replicas into staying, leaving, preempted and lost."""
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
        proven = replica.proven
        before = replace(replica, engines=proven.engines, spec_hash=proven.spec_hash, held_back=False)
        self.rolled_back[before] = rolled_back[replica]
        return before

    def _kept(self, replica: Replica) -> Placement:
        """Return the placement of a replica that stays as it is."""
        rolls_back = replica in self.rolled_back
        previous = replica.previous if replica.is_growing and not rolls_back else None
        return Placement(
            replica.cluster, replica.index, Action.KEEP, replica.engines, None, replica, previous, rolls_back=rolls_back
        )

    def _must_leave(self, replica: Replica, cluster: Cluster) -> EvictionReason | None:
        """Return why a replica must leave its cluster, or None."""
        if replica.moving_for == self.job.spec_hash:
            return EvictionReason.SUCCEEDED
        if untolerated(cluster.taints, self.job.tolerations, "NoExecute"):
            return EvictionReason.EVICTED
        if cluster.deleting:
            return EvictionReason.CLUSTER_DELETED
        edited = replica.placed_under is not None and replica.placed_under != self.job.placed_under
        if edited and not is_selected(cluster, self.job):
            return EvictionReason.SELECTOR_EDITED
        if not (self._is_current(replica) or replica.held_back) and forbidden_pods(self.job, cluster):
            return EvictionReason.PODS_FORBIDDEN
        if not self._pools_match(replica, cluster):
            return EvictionReason.POOLS_MISMATCH
        return None

    def _pools_match(self, replica: Replica, cluster: Cluster) -> bool:
        """Whether the pools of a replica still have the devices that the job requests.

        Without evidence they do: a pool that publishes no devices may publish them again, and a search that gave up
        has no answer.
        """
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
        """Drop the surplus, the first to go first. Replicas that leave are not counted; phase 6 releases them."""
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
        """Return a key by which the replica with the largest goes first.

        Those that do not serve go first, then those that are not ready, then outdated ones if the current spec is
        proven, then those on the cluster with the largest load. Name and index decide between equals.
        """
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
        """If one replica is to remain and the current spec is untried, let a surplus replica try the spec.

        Otherwise the only replica that serves would have to try a spec that may not work. The roles change: the surplus
        replica stays and gets the current spec, and the best one serves until the other is ready. Nothing changes if
        the spec does not fit next to the replicas that are still there; then the surplus goes first.
        """
        [best], second = self.staying, self.surplus[-1]
        needs_no_trial = not best.serving or self._is_current(best) or is_left_alone(best, self.job, [best])
        if needs_no_trial or self._fit_in_place(second) is None:
            return
        self.staying, self.surplus = [second], self.surplus[:-1]
        self.leaving[best] = EvictionReason.SUCCEEDED

    # 3. Update what does not serve

    def _update_idle(self, rollout: Rollout) -> None:
        """Place every replica that stays: at the current spec if it is free to change, otherwise as it is."""
        for replica in self.staying[:]:
            if self._is_current(replica) or not rollout.is_free(replica, self.revisions):
                self.placed.append(self._kept(replica))
            elif not self._update(replica):
                self.placed.append(self._kept(replica))
                self._move(replica)

    def _update(self, replica: Replica) -> bool:
        """Give a replica the current spec on its pools. Return False if they have no room for the difference."""
        fit = self._fit_in_place(replica)
        if fit is None:
            return False
        cluster = self.fleet.clusters[replica.cluster]
        engines = fit.placed(cluster)
        proven, between = replica.proven, self.ledger.between(replica)
        grows = between or self.ledger.takes_more(cluster.name, engines, proven.engines)
        previous = replace(proven, between=between) if replica.has_served and grows else None
        self.ledger.edit(replica, engines)
        self.placed.append(Placement(cluster.name, replica.index, Action.UPDATE, engines, fit, replica, previous))
        return True

    def _fit_in_place(self, replica: Replica) -> Fit | None:
        """Return how the current spec fits on the pools of a replica, next to all other replicas there.

        The nodes of the replica itself count as free, since its new spec replaces its old one.
        """
        cluster = self.fleet.clusters[replica.cluster]
        self.in_place.add(cluster.name)
        fit = self.fitter.fit(cluster, self.ledger.free_beside(replica), pins(replica, self.job.engines))
        if isinstance(fit, Fit):
            return fit
        if fit.gave_up:
            self.unsearched.add(replica.identity)
        return None

    def _move(self, replica: Replica) -> None:
        """Let a replica leave whose pools have no room for the current spec. It serves until a successor does.

        It stays if the lack of room is not certain: the search gave up, the cluster publishes no pools at the moment,
        or another replica of the deployment is about to free nodes there.
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
        """Give the current spec to one replica that serves, or would serve again by itself, if the rollout allows it.

        Surplus that serves must be gone first: until then, it is not known how many others serve.
        """
        outdated = [p.replica for p in self.placed if p.replica and self._is_outdated(p, rollout)]
        if not outdated or self._is_unproven() or any(r.serving for r in self.surplus):
            return
        candidates = [r for r in sorted(outdated, key=lambda r: (r.serving, *_position(r))) if rollout.may_update(r)]
        if any(self._update_kept(replica) for replica in candidates):
            return
        if candidates:
            self._make_room(candidates[0])
        elif rollout.needs_proof:
            self._prove_elsewhere(outdated[0], rollout)

    def _is_outdated(self, placed: Placement, rollout: Rollout) -> bool:
        kept = None if placed.fit else placed.replica
        return kept is not None and not self._is_current(kept) and not rollout.is_left_alone(kept)

    def _is_unproven(self) -> bool:
        """Whether some replica has, or gets with this plan, the current spec and is not known to be ready with it."""
        changes = any(p.action is not Action.KEEP for p in self.placed)
        return changes or any(self._is_current(r) and not (r.ready and r.answered) for r in self.staying)

    def _update_kept(self, replica: Replica) -> bool:
        if not self._update(replica):
            return False
        self.placed.remove(self._kept(replica))
        return True

    def _make_room(self, replica: Replica) -> None:
        """Continue a rollout whose spec has no room on the pools of any outdated replica.

        Drop the replicas on the same cluster that only serve until the current spec is ready: their nodes may be the
        room that lacks. If fewer others serve than are wanted, they are needed for more than that, and stay: a
        successor may have been preempted. Then let the replica leave, and place its successor elsewhere.
        """
        covers = [
            r for r, why in self.leaving.items() if why is EvictionReason.SUCCEEDED and r.cluster == replica.cluster
        ]
        serving = sum(p.replica is not None and p.replica.serving for p in self.placed)
        for cover in covers if serving >= self.job.replicas else ():
            del self.leaving[cover]
            self.surplus.append(cover)
        self._move(replica)
        self._fill()

    def _prove_elsewhere(self, replica: Replica, rollout: Rollout) -> None:
        """Let a new replica try a revision that was tried, has not served, and that no replica has any more.

        Such a revision is given to no replica that serves. A new replica costs nothing but nodes: if there is room for
        it, it replaces a replica that serves once it serves itself.
        """
        others = [p for p in self.placed if p.replica is not replica]
        if new := list(self.filler.fill(others, 1)):
            self._replace_by_successor(replica, EvictionReason.SUCCEEDED)
            self.placed.extend(new)
            rollout.wait = None

    # 6. Release replaced

    def _release_replaced(self) -> None:
        """Keep the replicas that leave and are still needed; let the others go.

        One is needed while fewer replicas are placed than are wanted. One that serves is also needed while fewer serve
        than are wanted, or while the spec of its successor is untried. Those that serve and are ready are kept first.
        """
        untried = self.revisions[self.job.spec_hash].is_untried
        serving = sum(p.replica is not None and p.replica.serving and p.action is Action.KEEP for p in self.placed)
        absent = self.job.replicas - len(self.placed)
        for replica in sorted(self.leaving, key=lambda r: (not r.serving, not r.ready, _position(r))):
            covers = untried and self.leaving[replica] is EvictionReason.SUCCEEDED
            needed = absent > 0 or (replica.serving and (covers or serving < self.job.replicas))
            if not needed:
                del self.leaving[replica]
                continue
            absent -= 1
            serving += replica.serving
            self.placed.append(replace(self._kept(replica), action=Action.AWAIT_SUCCESSOR))
