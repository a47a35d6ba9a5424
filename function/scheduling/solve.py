"""The plan: keep what stands, drop what is too many, fill what is missing, and roll a new spec out one by one.

Nothing here knows Kubernetes, and nothing depends on the order of the fleet.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from function.core import NamespacedName
from function.scheduling.capacity import Ledger, contention
from function.scheduling.devices import Offer
from function.scheduling.fit import Excess, Fit, Fitter
from function.scheduling.fleet import Cluster, Fleet, Replica, exceeds, nodes_of
from function.scheduling.gate import gate, is_selected
from function.scheduling.job import CachePhase, Job
from function.scheduling.plan import Action, Placement, Plan, Why
from function.scheduling.taints import untolerated


def solve(job: Job, fleet: Fleet, fitter: Fitter | None = None) -> Plan:
    """A plan for one deployment. The clusters must be known: with none at all, every replica's cluster is gone."""
    return _Solver(job, fleet, fitter or Fitter(job.engines)).run()


def _ours(job: Job, fleet: Fleet) -> list[Replica]:
    return [r for r in fleet.replicas if r.deployment == job.deployment]


def _place(replica: Replica) -> tuple[str, int, NamespacedName]:
    return replica.cluster, replica.index, replica.identity


@dataclass(slots=True)
class _Solver:
    job: Job
    fleet: Fleet
    fitter: Fitter
    staying: list[Replica] = field(default_factory=list)
    leaving: dict[Replica, Why] = field(default_factory=dict)
    yielded: dict[Replica, Replica | None] = field(default_factory=dict)
    retreated: dict[Replica, Replica | None] = field(default_factory=dict)
    lost: list[Replica] = field(default_factory=list)
    ledger: Ledger = field(init=False)
    placed: list[Placement] = field(default_factory=list)

    def run(self) -> Plan:
        self._keep()
        self._shrink()
        standing = [r for r in self.fleet.replicas if r.deployment != self.job.deployment]
        self.ledger = Ledger(self.fleet.clusters, [*standing, *self.staying, *self.leaving], self.fleet.others)
        self._update_idle()
        self._fill()
        self._take_turn()
        self._part()
        return Plan(
            placements=tuple(sorted(self.placed, key=lambda p: (p.cluster, p.index, p.action.value))),
            wanted=self.job.replicas,
            leaving=dict(self.leaving),
            yielded=self.yielded,
            retreated=self.retreated,
            lost=tuple(self.lost),
        )

    # 1. Keep

    def _keep(self) -> None:
        """Sort our replicas into those that stay, that must leave, that yield, and that are lost with their cluster."""
        contended = contention(self.fleet.clusters, self.fleet.replicas)
        for standing in sorted(_ours(self.job, self.fleet), key=_place):
            replica = self._retreated(standing, contended.retreating)
            cluster = self.fleet.clusters.get(standing.cluster)
            if cluster is None:
                self.lost.append(replica)
            elif replica in contended.yielding:
                self.yielded[replica] = contended.yielding[replica]
            elif why := self._must_leave(replica, cluster):
                self.leaving[replica] = why
            else:
                self.staying.append(replica)

    def _retreated(self, replica: Replica, retreating: Mapping[Replica, Replica | None]) -> Replica:
        """As it was before it grew, if its growth has no place."""
        if replica not in retreating or replica.former is None:
            return replica
        back = replace(replica, engines=replica.former.engines, spec_hash=replica.former.spec_hash)
        self.retreated[back] = retreating[replica]
        return back

    def _kept(self, replica: Replica) -> Placement:
        retreats = replica in self.retreated
        former = replica.former if replica.is_growing and not retreats else None
        return Placement(
            replica.cluster, replica.index, Action.KEEP, replica.engines, None, replica, former, retreats=retreats
        )

    def _must_leave(self, replica: Replica, cluster: Cluster) -> Why | None:
        """Being unready, unreachable, relabelled or full moves nobody."""
        if replica.moving_for == self.job.spec_hash:
            return Why.GROWN
        if untolerated(cluster.taints, self.job.tolerations, "NoExecute"):
            return Why.EVICTED
        if cluster.deleting:
            return Why.CLUSTER_DELETED
        edited = replica.placed_under is not None and replica.placed_under != self.job.placed_under
        if edited and not is_selected(cluster, self.job):
            return Why.SELECTOR_EDITED
        if not self._pools_match(replica, cluster):
            return Why.POOLS_MISMATCH
        return None

    def _pools_match(self, replica: Replica, cluster: Cluster) -> bool:
        """Whether its pools satisfy what the deployment asks now. Pools that publish nothing prove nothing."""
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
                if member and pool and not isinstance(self.fitter.matcher.offer(member, pool.shape), Offer):
                    return False
        return True

    # 2. Shrink

    def _shrink(self) -> None:
        """Too many: those that must go anyway first, then as `_first_to_go` says."""
        while self.staying and len(self.staying) > self.job.replicas:
            load = Counter(r.cluster for r in self.staying)
            going = max(self.staying, key=lambda r: _first_to_go(r, load))
            self.staying.remove(going)
        if not self.job.replicas:
            self.leaving.clear()

    # 3. Roll: a changed spec reaches all that do not serve, then one that serves, the next when the last is ready

    def _update_idle(self) -> None:
        for replica in sorted(self.staying, key=_place):
            if self._is_current(replica) or replica.serving:
                self.placed.append(self._kept(replica))
            elif not self._update(replica):
                self._must_grow_elsewhere(replica)

    def _take_turn(self) -> None:
        """The next one that serves. Not while another at the current spec is yet to prove itself."""
        unproven = any(p.action is not Action.KEEP for p in self.placed)
        unproven = unproven or any(self._is_current(r) and not r.ready for r in self.staying)
        outdated = sorted((r for r in self.staying if not self._is_current(r)), key=_place)
        if unproven or not outdated:
            return
        for replica in outdated:
            self.placed.remove(self._kept(replica))
            if self._update(replica):
                return
            self.placed.append(self._kept(replica))
        self.placed.remove(self._kept(outdated[0]))
        self._must_grow_elsewhere(outdated[0])
        self._fill()

    def _is_current(self, replica: Replica) -> bool:
        return replica.spec_hash == self.job.spec_hash

    def _update(self, replica: Replica) -> bool:
        """Give it the current spec where it stands, if its pools have room for the difference."""
        cluster = self.fleet.clusters[replica.cluster]
        self.ledger.give_back(cluster.name, replica.nodes())
        fit = self.fitter.fit(cluster, self.ledger.on(cluster.name), _pins(replica, self.job))
        if not isinstance(fit, Fit):
            self.ledger.take(cluster.name, replica.nodes())
            return False
        engines = fit.placed(cluster)
        self.ledger.take(cluster.name, nodes_of(engines))
        grows = replica.has_served and exceeds(nodes_of(engines), nodes_of(replica.proven.engines))
        former = replica.proven if grows else None
        self.placed.append(Placement(cluster.name, replica.index, Action.UPDATE, engines, fit, replica, former))
        return True

    def _must_grow_elsewhere(self, replica: Replica) -> None:
        """Its pools have no room for the current spec: it keeps its own, until a successor serves elsewhere."""
        if any(pool.shape.devices for pool in self.fleet.clusters[replica.cluster].pools):
            self.staying.remove(replica)
            self.leaving[replica] = Why.GROWN
        else:  # a cluster that publishes no pools proves nothing
            self.placed.append(self._kept(replica))

    # 4. Fill

    def _fill(self) -> None:
        """Too few: one at a time, each on the cluster that then ranks first.

        A cluster first bids what it could offer if all its nodes were free. Only when that bid comes up is its account
        looked at: of most clusters of a large fleet nobody ever asks who stands on them.
        """
        missing = self.job.replicas - len(self.placed)
        if missing <= 0:
            return
        load = Counter(p.cluster for p in self.placed)
        open_ = [cluster for cluster in self.fleet.clusters.values() if gate(self.job, cluster) is None]
        heap = [bid for cluster in open_ if (bid := self._hope(cluster, load[cluster.name]))]
        heapq.heapify(heap)
        while missing and heap:
            bid = heapq.heappop(heap)
            if bid.fit is None:
                if firm := self._firm(bid):
                    heapq.heappush(heap, firm)
                continue
            self._place_on(bid.cluster, bid.fit)
            missing -= 1
            load[bid.cluster.name] += 1
            if again := self._hope(bid.cluster, load[bid.cluster.name]):
                heapq.heappush(heap, again)

    def _hope(self, cluster: Cluster, load: int) -> _Bid | None:
        excess = self.fitter.least(cluster)
        if excess is None:
            return None
        phase = (self.job.cache or {}).get(cluster.name, CachePhase.STAGED)
        return _Bid((load, phase, excess, cluster.name), cluster, None)

    def _firm(self, bid: _Bid) -> _Bid | None:
        """The bid with what is really free; it never ranks before the hope. None where there is no room."""
        fit = self.fitter.fit(bid.cluster, self.ledger.on(bid.cluster.name))
        if not isinstance(fit, Fit):
            return None
        load, phase, _, name = bid.rank
        return _Bid((load, phase, fit.excess, name), bid.cluster, fit)

    def _place_on(self, cluster: Cluster, fit: Fit) -> None:
        engines = fit.placed(cluster)
        taken = {r.index for r in _ours(self.job, self.fleet) if r.cluster == cluster.name}
        taken |= {p.index for p in self.placed if p.cluster == cluster.name}
        index = next(i for i in count() if i not in taken)
        self.placed.append(Placement(cluster.name, index, Action.CREATE, engines, fit))
        self.ledger.take(cluster.name, nodes_of(engines))

    # 5. Part

    def _part(self) -> None:
        """Those that must leave stay until as many others serve as are wanted."""
        serving = sum(p.replica is not None and p.replica.serving for p in self.placed)
        absent = self.job.replicas - len(self.placed)
        for replica in sorted(self.leaving, key=lambda r: (not r.serving, not r.ready, _place(r))):
            needed = absent > 0 or (replica.serving and serving < self.job.replicas)
            if not needed:
                del self.leaving[replica]
                continue
            absent -= 1
            serving += replica.serving
            self.placed.append(replace(self._kept(replica), action=Action.AWAIT_SUCCESSOR))


@dataclass(frozen=True, slots=True)
class _Bid:
    """A cluster that may take the next replica. The least rank wins; of equal ones a firm bid cannot be beaten."""

    rank: tuple[int, CachePhase, Excess, str]
    """Replicas of the job there, how far its weights are, how well it would fit, name."""
    cluster: Cluster
    fit: Fit | None
    """None while it is only a hope."""

    def __lt__(self, other: _Bid) -> bool:
        return self.rank < other.rank


def _first_to_go(replica: Replica, load: Mapping[str, int]) -> tuple[bool, bool, int, str, int, NamespacedName]:
    """Unhealthy before healthy, then from the cluster with most of them, the later name, the highest index."""
    return (
        not replica.serving,
        not replica.ready,
        load[replica.cluster],
        replica.cluster,
        replica.index,
        replica.identity,
    )


def _pins(replica: Replica, job: Job) -> dict[str, tuple[str, ...]]:
    """The pools that its engines are on: an engine whose members are the same stays there."""
    roles = {engine.name: tuple(m.role for m in engine.members) for engine in job.engines}
    return {
        engine.name: tuple(member.pool for member in engine.members)
        for engine in replica.engines
        if tuple(m.role for m in engine.members) == roles.get(engine.name)
    }
