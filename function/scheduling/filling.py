"""Places new replicas one at a time, each on the cluster that ranks first at that moment.

Terms:

- The *rank* of a cluster orders clusters for the next replica; the lowest is best. It consists of the number of the
  job's replicas there (spread before pack), how far the weights are, how well the replica would fit, how mixed the pods
  on its shared pools would be, and the name.
- A *bid* is a cluster with its rank. An *optimistic* bid assumes that all nodes of the cluster are free. An *exact* bid
  has the fit within the nodes that are free.

Phases:

1. Filter. Keep the clusters that may take a new replica (see `filters.py`).
2. Bid. Put an optimistic bid of each into a heap.
3. Take the best bid. If it is optimistic, replace it by the exact bid of the same cluster, or drop it if the cluster
   has no room. If it is exact, place the replica, charge its nodes, and put in a new optimistic bid of the cluster.
4. Repeat phase 3 until enough replicas are placed or no bid is left.

Two kinds of bids make this fast. A large fleet has thousands of replicas, and the free nodes of a cluster are known
only when all replicas there are counted. An optimistic bid needs no count, and never ranks behind the exact one, so an
exact bid that comes up first is the best of all. Most clusters are never counted.

Deliberately coarse: each replica gets the cluster and the pools that are best for it alone. Where engines of several
sizes compete for pools, another choice could leave room for one replica more. Finding it takes a search over all
replicas at once.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from function.scheduling.capacity import Ledger
from function.scheduling.filters import filter_cluster
from function.scheduling.fit import Fit, Fitter, Waste
from function.scheduling.fleet import Cluster, Fleet
from function.scheduling.job import CachePhase, Job
from function.scheduling.plan import Action, Placement
from function.scheduling.seen import as_seen

_Bid: TypeAlias = tuple[tuple[int, CachePhase, Waste, int, str], Cluster, Fit | None]
"""A cluster that may take the next replica. The first part is its rank: replicas of the job there, phase of its
weights, waste, how mixed the pods are on its shared pools, name. The lowest wins; names make ranks distinct. The fit is
None in an optimistic bid."""


@dataclass(slots=True)
class Filler:
    """Places the missing replicas of one job. Charges them to the ledger."""

    job: Job
    fleet: Fleet
    fitter: Fitter
    ledger: Ledger
    sought: bool = False
    """Whether a place for a replica was sought."""
    _indices: dict[str, set[int]] = field(default_factory=dict)
    """Indices in use on each cluster: reserved ones, and those of existing replicas (including those that leave) and of
    new ones."""
    _bids: list[_Bid] = field(default_factory=list)
    """The bids that are left, as a heap."""
    _load: Counter[str] = field(default_factory=Counter)
    """Replicas of the job on each cluster."""

    def __post_init__(self) -> None:
        self._indices.update({cluster: set(indices) for cluster, indices in self.fleet.reserved.items()})
        for replica in self.fleet.replicas:
            if replica.deployment == self.job.deployment:
                self._indices.setdefault(replica.cluster, set()).add(replica.index)

    def fill(self, placed: Sequence[Placement], missing: int) -> Iterator[Placement]:
        """Yield up to `missing` new placements, and charge their nodes.

        `placed` are the placements that count for spreading. Fewer placements are yielded if no cluster has room.
        Raises Exhausted and deadline.Exceeded.
        """
        if missing <= 0:
            return
        self.sought = True
        self._load = Counter(p.cluster for p in placed)
        open_ = [cluster for cluster in self.fleet.clusters.values() if filter_cluster(self.job, cluster) is None]
        self._bids = [bid for cluster in open_ if (bid := self._optimistic_bid(cluster))]
        heapq.heapify(self._bids)
        yield from self._take(missing)

    def further(self, most: int) -> list[str]:
        """Return the clusters that would take up to `most` more replicas, the best first, and charge them.

        They are where to look next if the free nodes on which a plan stands turn out to be taken.
        """
        return list(dict.fromkeys(placement.cluster for placement in self._take(most)))

    def _take(self, missing: int) -> Iterator[Placement]:
        heap, load = self._bids, self._load
        while missing and heap:
            bid = heapq.heappop(heap)
            _, cluster, fit = bid
            if fit is None:
                if exact := self._exact_bid(bid):
                    heapq.heappush(heap, exact)
                continue
            missing -= 1
            load[cluster.name] += 1
            yield self._place(cluster, fit)
            if again := self._optimistic_bid(cluster):
                heapq.heappush(heap, again)

    def _optimistic_bid(self, cluster: Cluster) -> _Bid | None:
        """Return the bid of a cluster if all its nodes were free; None if it lacks the devices."""
        waste = self.fitter.lower_bound(as_seen(cluster))
        if waste is None:
            return None
        name = cluster.name
        phase = self.job.cache.get(name, CachePhase.STAGED) if self.job.cache else CachePhase.STAGED
        return (self._load[name], phase, waste, 0, name), cluster, None

    def _exact_bid(self, bid: _Bid) -> _Bid | None:
        """Return the bid within the nodes that are free; None if there is no room. It never ranks before `bid`."""
        (load, phase, _, _, name), cluster, _ = bid
        fit = self.fitter.fit(as_seen(cluster), self.ledger.open(name))
        return ((load, phase, fit.waste, fit.mixed, name), cluster, fit) if isinstance(fit, Fit) else None

    def _place(self, cluster: Cluster, fit: Fit) -> Placement:
        """Return a placement at the lowest free index of a cluster, and charge its nodes."""
        engines, taken = fit.placed(cluster), self._indices.setdefault(cluster.name, set())
        index = next(i for i in count() if i not in taken)
        taken.add(index)
        self.ledger.place(cluster.name, engines)
        return Placement(cluster.name, index, Action.CREATE, engines, fit)
