"""New replicas: one at a time, each on the cluster that then ranks first.

A cluster first bids what it could offer if all its nodes were free. Only when that bid comes up is its account looked
at: most clusters of a large fleet are never asked what is free on them.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from function.scheduling.capacity import Ledger
from function.scheduling.filters import filter_cluster
from function.scheduling.fit import Fit, Fitter, Waste
from function.scheduling.fleet import Cluster, Fleet, nodes_of
from function.scheduling.job import CachePhase, Job
from function.scheduling.plan import Action, Placement


@dataclass(frozen=True, slots=True)
class _Bid:
    """A cluster that may take the next replica. The least rank wins; of equal ones a firm bid cannot be beaten."""

    rank: tuple[int, CachePhase, Waste, str]
    """Replicas of the job there, how far its weights are, how well it would fit, name."""
    cluster: Cluster
    fit: Fit | None
    """None while the bid assumes that all nodes are free."""

    def __lt__(self, other: _Bid) -> bool:
        return self.rank < other.rank


@dataclass(slots=True)
class Filler:
    job: Job
    fleet: Fleet
    fitter: Fitter
    ledger: Ledger
    _indices: dict[str, set[int]] = field(default_factory=dict)
    """Taken on each cluster: by replicas that exist, even if they are on their way out, and by new ones."""

    def __post_init__(self) -> None:
        for replica in self.fleet.replicas:
            if replica.deployment == self.job.deployment:
                self._indices.setdefault(replica.cluster, set()).add(replica.index)

    def fill(self, placed: Sequence[Placement], missing: int) -> Iterator[Placement]:
        """Yield up to `missing` new placements beside those that are placed, and charge their nodes."""
        if missing <= 0:
            return
        load = Counter(p.cluster for p in placed)
        open_ = [cluster for cluster in self.fleet.clusters.values() if filter_cluster(self.job, cluster) is None]
        heap = [bid for cluster in open_ if (bid := self._optimistic_bid(cluster, load[cluster.name]))]
        heapq.heapify(heap)
        while missing and heap:
            bid = heapq.heappop(heap)
            if bid.fit is None:
                if exact := self._exact_bid(bid):
                    heapq.heappush(heap, exact)
                continue
            yield self._place(bid.cluster, bid.fit)
            missing -= 1
            load[bid.cluster.name] += 1
            if again := self._optimistic_bid(bid.cluster, load[bid.cluster.name]):
                heapq.heappush(heap, again)

    def _optimistic_bid(self, cluster: Cluster, load: int) -> _Bid | None:
        waste = self.fitter.lower_bound(cluster)
        if waste is None:
            return None
        phase = (self.job.cache or {}).get(cluster.name, CachePhase.STAGED)
        return _Bid((load, phase, waste, cluster.name), cluster, None)

    def _exact_bid(self, bid: _Bid) -> _Bid | None:
        """The bid with what is free in fact; it never ranks before the optimistic one. None where there is no room."""
        fit = self.fitter.fit(bid.cluster, self.ledger.free_nodes(bid.cluster.name))
        if not isinstance(fit, Fit):
            return None
        load, phase, _, name = bid.rank
        return _Bid((load, phase, fit.waste, name), bid.cluster, fit)

    def _place(self, cluster: Cluster, fit: Fit) -> Placement:
        engines, taken = fit.placed(cluster), self._indices.setdefault(cluster.name, set())
        index = next(i for i in count() if i not in taken)
        taken.add(index)
        self.ledger.take(cluster.name, nodes_of(engines))
        return Placement(cluster.name, index, Action.CREATE, engines, fit)
