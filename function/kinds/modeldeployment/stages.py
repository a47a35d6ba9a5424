"""What a ModelDeployment reads, in stages: no more of the fleet than its decision stands on.

A fleet has hundreds of clusters and thousands of replicas. Crossplane copies all that is required into each call, and
calls again whenever any of it changes. So a deployment that is settled reads only the clusters of its own replicas.

Terms:

- A cluster is *counted* if the replicas on it are read. Otherwise its free nodes are those that it publishes
  (`status.allocations`), which may be out of date.
- A plan is a *draft* until it stands on what is read: it must place new replicas on counted clusters only, and it must
  have all clusters to choose from.

Stages. Each reads what the one before it reads, and more:

1. The clusters of the deployment's own replicas, by name. They are counted where a replica of its own may have to give
   way to others (`Replica.may_give_way`). If replicas are missing, also all clusters: no decision could do without.
2. to 4. What the draft of the stage before lacks: all clusters, if a place was sought or a cluster was not found; and
   the replicas on the clusters that the draft stands on, and on the next best ones in case the first are full. Their
   number grows fourfold from stage to stage.
   The ModelServices of the namespace are read once an endpoint is to be removed, which they may route to.
5. All clusters and all replicas. If published numbers are wrong again and again, the fifth stage still decides.

A draft in which no place is found by the published numbers is final. The deployment then reads all clusters, and each
change of what they publish wakes it. So wrong numbers can delay a placement, and nothing else.

Crossplane calls the function six times at most in one reconcile, so there are five stages: the sixth call must find
that nothing more is required (crossplane v2.4, internal/xfn/required_resources.go).

Deliberately coarse: a draft prefers clusters by what they publish. If that is out of date, the replica may go to a
cluster that has room, and is not the best.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace

from function.api import inferencecluster, modelcache, modelreplica, modelservice
from function.core import Manifest, Request, Requirement, dig, identity
from function.fleet.replicas import Owner, replica
from function.scheduling import Plan, Replica
from function.vocabulary import labels, names

CLUSTERS = Requirement("clusters", inferencecluster.API_VERSION, inferencecluster.KIND)
REPLICAS = Requirement("all-replicas", modelreplica.API_VERSION, modelreplica.KIND)

LAST = 5
_NEXT_BEST = 8
"""Clusters that are counted in the first draft besides those that it stands on."""
_GROWTH = 4
_MOST_COUNTED = 256
"""Clusters that are counted one by one. Where more are to be counted, all replicas are read."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What is read."""

    number: int
    """From 1 to LAST."""
    own: frozenset[str]
    """Clusters that are read by name."""
    counted: frozenset[str]
    """Clusters whose replicas are read."""
    whole_fleet: bool
    """Whether all clusters are read, and all replicas that are labelled as the deployment's own."""
    services: bool
    """Whether the ModelServices of the namespace are read, which may route to an endpoint that is to go."""

    @property
    def is_last(self) -> bool:
        """Whether all replicas are read."""
        return self.number == LAST

    def counts(self, cluster: str) -> bool:
        """Whether the replicas on a cluster are read."""
        return self.is_last or cluster in self.counted

    def requirements(self, xr: Manifest) -> tuple[Requirement, ...]:
        """Return everything that is read, besides the ModelCache."""
        return (
            *map(cluster, sorted(self.own)),
            *map(occupants, sorted(self.counted)),
            *((CLUSTERS, own_replicas(xr)) if self.whole_fleet else ()),
            *((REPLICAS,) if self.is_last else ()),
            *((services(xr),) if self.services else ()),
        )

    def with_services(self) -> Stage:
        """Return the next stage, which also reads the ModelServices."""
        return replace(
            self, number=self.number + 1, services=True, whole_fleet=self.whole_fleet or self.number + 1 == LAST
        )


def cluster(name: str) -> Requirement:
    """Return the requirement for a cluster."""
    return Requirement(f"cluster-{name}", inferencecluster.API_VERSION, inferencecluster.KIND, match_name=name)


def occupants(name: str) -> Requirement:
    """Return the requirement for the replicas on a cluster, of all deployments."""
    label = {labels.CLUSTER: names.label_value(name)}
    return Requirement(f"replicas-on-{name}", modelreplica.API_VERSION, modelreplica.KIND, match_labels=label)


def own_replicas(xr: Manifest) -> Requirement:
    """Return the requirement for a deployment's own replicas, to find those that are not among its composed ones."""
    label = {labels.DEPLOYMENT: names.label_value(identity(xr).name)}
    api_version, kind = modelreplica.API_VERSION, modelreplica.KIND
    return Requirement("own-replicas", api_version, kind, match_labels=label, namespace=identity(xr).namespace)


def cache(xr: Manifest) -> Requirement | None:
    """Return the requirement for the ModelCache of a deployment; None if its spec names none."""
    name = dig(xr, "spec", "modelCacheRef", "name")
    if not isinstance(name, str) or not name:
        return None
    return Requirement("cache", modelcache.API_VERSION, modelcache.KIND, name, namespace=identity(xr).namespace)


def services(xr: Manifest) -> Requirement:
    """Return the requirement for the ModelServices of a deployment's namespace, which may route to its endpoints."""
    return Requirement("services", modelservice.API_VERSION, modelservice.KIND, namespace=identity(xr).namespace)


def first(request: Request) -> Stage:
    """Return the first stage, from the XR and what is observed."""
    deployment = Owner(request).deployment
    observed = (m for m in request.observed.values() if m.get("kind") == modelreplica.KIND)
    ours = [r for m in observed if (r := replica(m, deployment)) and isinstance(r.cluster, str)]
    wanted = dig(request.xr, "spec", "replicas")
    is_missing = isinstance(wanted, int | float) and sum(not r.deleting for r in ours) < wanted
    return Stage(
        number=1,
        own=frozenset(r.cluster for r in ours),
        counted=frozenset(r.cluster for r in ours if r.may_give_way),
        whole_fleet=is_missing,
        services=any(labels.LEAVING in _annotations(manifest) for manifest in request.observed.values()),
    )


def _annotations(manifest: Manifest) -> Container[str]:
    found: Container[str] = dig(manifest, "metadata", "annotations") or ()
    return found


def everything(request: Request) -> Stage:
    """Return the last stage, for an explanation of the whole fleet."""
    return replace(first(request), number=LAST, whole_fleet=True, services=True)


def following(
    stage: Stage, plan: Plan, ours: Iterable[Replica], further: Callable[[int], Iterable[str]]
) -> Stage | None:
    """Return the stage that a draft needs; None if the plan stands on what is read.

    Args:
        stage: What was read for the plan.
        plan: The plan, or the draft.
        ours: The deployment's replicas.
        further: Returns up to a number of clusters that would take more replicas, the best first.
    """
    lacks_clusters = not stage.whole_fleet and (plan.sought or bool(plan.lost))
    uncounted = {r.cluster for r in ours if r.may_give_way} | (plan.stands_on if stage.whole_fleet else plan.in_place)
    uncounted = {name for name in uncounted if not stage.counts(name)}
    if not lacks_clusters and not uncounted:
        return None
    counted = stage.counted | uncounted
    if uncounted & (plan.stands_on - plan.in_place):
        counted |= {*further(max(_NEXT_BEST, (_GROWTH - 1) * len(stage.counted)))}
    is_last = stage.number + 1 == LAST or len(counted) > _MOST_COUNTED
    return Stage(
        number=LAST if is_last else stage.number + 1,
        own=stage.own,
        counted=stage.counted if is_last else counted,
        whole_fleet=is_last or stage.whole_fleet or lacks_clusters,
        services=is_last or stage.services or bool(plan.departing),
    )
