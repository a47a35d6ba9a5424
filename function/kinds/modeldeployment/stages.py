"""What a ModelDeployment reads, in stages: no more of the fleet than its decision stands on.

A fleet has hundreds of clusters and thousands of replicas. Crossplane copies all that is required into each call, and
calls again whenever any of it changes. So a deployment that is settled reads only the clusters of its own replicas.

Terms:

- A cluster is *counted* if the replicas on it are read. Otherwise its free nodes are those that it publishes
  (`status.allocations`), which may be out of date.
- A plan is a *draft* until it stands on what is read: it must place new replicas on counted clusters only, and it must
  have all clusters to choose from.

Stages. Each reads what the one before it reads, and more, but for the second:

1. The clusters of the deployment's own replicas, by name. They are counted where a replica of its own may have to give
   way to others (`Replica.may_give_way`). If replicas are missing, also all clusters: no decision could do without.
2. If replicas are missing, and the draft has places for all of them: the *candidates*. They are the clusters that the
   draft stands on, and the next best ones in case the first are full. They are read by name and counted, and all
   clusters are not read again: all together, they are most of what a placement reads. If the candidates have room for
   all replicas, the plan is final.
3. and 4. What the draft of the stage before lacks: all clusters, if a place was sought or a cluster was not found; and
   the replicas on the clusters that the draft stands on, and on the next best ones. Their number grows fourfold from
   stage to stage. The ModelServices of the namespace are read once an endpoint is to be removed, which they may route
   to.
5. All clusters and all replicas. If published numbers are wrong again and again, the fifth stage still decides.

A draft in which no place is found by the published numbers is final. The deployment then reads all clusters, and each
change of what they publish wakes it. So wrong numbers can delay a placement, and nothing else.

A call in which only the candidates are answered cannot tell by itself who chose them, and from what. So their
requirements are named after what the choice was made for: the generation of the XR and the replicas that were observed.
Candidates of any other state are ignored. Once all clusters are answered as well, the draft may prefer others by then.
The first choice was *tried* in that case, and there is no second one: the next stage reads all clusters, as the third
does, and its replicas are counted on the clusters of both choices.

Of a cluster that publishes that its capacity is *observed*, what is observed is read with its replicas, from the second
stage on. It decides about new replicas and about those that grow, so a draft that stands on such a cluster needs it.

Crossplane calls the function six times at most in one reconcile, so there are five stages: the sixth call must find
that nothing more is required (crossplane v2.4, internal/xfn/required_resources.go).

Deliberately coarse: a draft prefers clusters by what they publish. If that is out of date, the replica may go to a
cluster that has room, and is not the best.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from function.api import inferencecluster, modelcache, modelreplica, modelservice
from function.core import Manifest, Request, Requirement, dig, dig_fields, identity
from function.fleet import clusters
from function.fleet.replicas import Owner, replica
from function.scheduling import Cluster, Plan, Replica
from function.vocabulary import labels, names, versions

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
    chosen_for: str
    """What candidates are chosen for, as a part of the names of their requirements."""
    own: frozenset[str]
    """Clusters that are read by name, because replicas of the deployment are there."""
    counted: frozenset[str]
    """Clusters whose replicas are read."""
    whole_fleet: bool = False
    """Whether all clusters are read."""
    candidates: frozenset[str] = frozenset()
    """Clusters that are read by name, because replicas could go there."""
    tried: frozenset[str] = frozenset()
    """Candidates that are answered beside all clusters."""
    services: bool = False
    """Whether the ModelServices of the namespace are read, which may route to an endpoint that is to go."""
    observed: frozenset[tuple[str, str]] = frozenset()
    """Clusters of which it is read what is observed of their nodes, each with the name of the Object that tells it."""

    @property
    def is_last(self) -> bool:
        """Whether all replicas are read."""
        return self.number == LAST

    @property
    def has_candidates(self) -> bool:
        """Whether clusters other than those of the deployment's own replicas are read."""
        return self.whole_fleet or bool(self.candidates)

    def counts(self, cluster: str) -> bool:
        """Whether the replicas on a cluster are read."""
        return self.is_last or cluster in self.counted

    def by_name(self) -> tuple[Requirement, ...]:
        """Return the requirements for clusters by their names."""
        chosen = (_cluster(f"candidate-{self.chosen_for}-{name}", name) for name in sorted(self.candidates))
        return (*(_cluster(f"cluster-{name}", name) for name in sorted(self.own)), *chosen)

    def requirements(self, xr: Manifest) -> tuple[Requirement, ...]:
        """Return everything that is read, besides the ModelCache."""
        return (
            *self.by_name(),
            *map(occupants, sorted(self.counted)),
            *((own_replicas(xr),) if self.has_candidates else ()),
            *((CLUSTERS,) if self.whole_fleet else ()),
            *((REPLICAS,) if self.is_last else ()),
            *(observation(cluster, name) for cluster, name in sorted(self.observed)),
            *((services(xr),) if self.services else ()),
        )

    def observes(self, cluster: Cluster) -> bool:
        """Whether it is read what is observed of the nodes of a cluster, or nothing is."""
        return cluster.capacity_object is None or (cluster.name, cluster.capacity_object) in self.observed

    def observing(self, clusters: Mapping[str, Cluster], names: Iterable[str]) -> Stage:
        """Return the stage that also reads what is observed of some clusters."""
        there = (clusters[name] for name in names if name in clusters)
        return replace(self, observed=self.observed | {(c.name, c.capacity_object) for c in there if c.capacity_object})

    def with_services(self) -> Stage:
        """Return the next stage, which also reads the ModelServices."""
        is_last = self.number + 1 == LAST
        return replace(self, number=self.number + 1, services=True, whole_fleet=self.whole_fleet or is_last)


def _cluster(requirement: str, name: str) -> Requirement:
    return Requirement(requirement, inferencecluster.API_VERSION, inferencecluster.KIND, match_name=name)


def occupants(name: str) -> Requirement:
    """Return the requirement for the replicas on a cluster, of all deployments."""
    label = {labels.CLUSTER: names.label_value(name)}
    return Requirement(f"replicas-on-{name}", modelreplica.API_VERSION, modelreplica.KIND, match_labels=label)


def observation(cluster: str, name: str) -> Requirement:
    """Return the requirement for what is observed of the nodes of a cluster. `name` is that of the Object."""
    return Requirement(
        f"observed-{cluster}", versions.PROVIDER_KUBERNETES, "Object", name, namespace=names.SYSTEM_NAMESPACE
    )


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
    """Return the first stage that the XR, what is observed and the answers allow.

    It is the second if replicas are missing, and only the candidates are answered.
    """
    observed = [m for m in request.observed.values() if m.get("kind") == modelreplica.KIND]
    deployment = Owner(request).deployment
    ours = [r for m in observed if (r := replica(m, deployment)) and isinstance(r.cluster, str)]
    wanted = dig(request.xr, "spec", "replicas")
    is_missing = isinstance(wanted, int | float) and sum(not r.deleting for r in ours) < wanted
    stage = Stage(
        number=1,
        chosen_for=names.content_hash([dig(request.xr, "metadata", "generation"), sorted(map(identity, observed))]),
        own=frozenset(r.cluster for r in ours),
        counted=frozenset(r.cluster for r in ours if r.may_give_way),
        whole_fleet=is_missing,
        services=any(
            labels.LEAVING in dig_fields(manifest, "metadata", "annotations") for manifest in request.observed.values()
        ),
    )
    chosen = frozenset(_chosen(request, stage)) if is_missing else frozenset()
    if chosen and request.resolved(CLUSTERS) is None:
        second = _choosing(stage, chosen)
        return second.observing(_answered(request, second), second.counted)
    return replace(stage, tried=chosen)


def known(request: Request, stage: Stage, clusters_: Mapping[str, Cluster]) -> Mapping[str, Cluster]:
    """Return the clusters of which the next stage may know that they are observed. `clusters_` are all that were read.

    The second stage reads candidates by their names alone. So must it here, if they are answered beside all clusters:
    it would require otherwise from call to call if they are not found by name.
    """
    if stage.number > 1 or not stage.tried:
        return clusters_
    return _answered(request, replace(stage, candidates=stage.tried))


def _answered(request: Request, stage: Stage) -> dict[str, Cluster]:
    """Return the clusters of a stage that are answered by their names."""
    found = (manifest for asked in stage.by_name() for manifest in request.resolved(asked) or ())
    return {manifest["metadata"]["name"]: clusters.cluster(manifest) for manifest in found}


def _chosen(request: Request, stage: Stage) -> Iterator[str]:
    """Yield the candidates that are answered, and were chosen for what the stage is for."""
    prefix = f"candidate-{stage.chosen_for}-"
    yield from (name.removeprefix(prefix) for name in request.required if name.startswith(prefix))


def _choosing(stage: Stage, candidates: frozenset[str]) -> Stage:
    """Return the stage that reads candidates instead of all clusters, or beside them if others were tried."""
    counted = stage.counted | candidates | stage.tried
    if stage.tried not in (frozenset(), candidates):
        return replace(stage, number=3, counted=counted, candidates=stage.tried)
    return replace(stage, number=2, counted=counted, whole_fleet=False, candidates=candidates)


def everything(request: Request) -> Stage:
    """Return the last stage, for an explanation of the whole fleet."""
    last = replace(first(request), number=LAST, whole_fleet=True, services=True)
    fleet = {m["metadata"]["name"]: clusters.cluster(m) for m in request.resolved(CLUSTERS) or ()}
    return last.observing(fleet, fleet)


def following(
    stage: Stage,
    plan: Plan,
    ours: Collection[Replica],
    fleet: Mapping[str, Cluster] | None = None,
    overcommitted: Container[str] = (),
) -> Stage | None:
    """Return the stage that a draft needs; None if the plan stands on what is read.

    Args:
        stage: What was read for the plan.
        plan: The plan, or the draft. A draft is used up.
        ours: The deployment's replicas.
        fleet: The clusters that were read. By default, nothing is observed of them.
        overcommitted: Clusters that publish that more is taken of them than they have.
    """
    fleet = fleet or {}
    stands_on = plan.stands_on if stage.has_candidates else plan.in_place
    uncounted = {r.cluster for r in ours if r.may_give_way or r.cluster in overcommitted} | stands_on
    uncounted = {name for name in uncounted if not stage.counts(name)}
    unobserved = {name for name in stands_on if name in fleet and not stage.observes(fleet[name])}
    lacks_clusters = not stage.whole_fleet and bool(plan.lost or (plan.missing if stage.candidates else plan.sought))
    if not lacks_clusters and not uncounted and not (unobserved and not stage.is_last):
        return None
    counted = stage.counted | uncounted
    if stage.whole_fleet and uncounted & (plan.stands_on - plan.in_place):
        counted |= {*plan.further(max(_NEXT_BEST, (_GROWTH - 1) * len(stage.counted)))}
    is_last = stage.number + 1 == LAST or len(counted) > _MOST_COUNTED
    seen = counted if len(counted) <= _MOST_COUNTED else stands_on
    if stage.number == 1 and stage.whole_fleet and not (plan.missing or plan.lost or is_last):
        second = _choosing(stage, counted | {r.cluster for r in ours})
        return second.observing(fleet, second.counted)
    further = replace(
        stage,
        number=LAST if is_last else stage.number + 1,
        counted=stage.counted if is_last else counted,
        whole_fleet=is_last or stage.whole_fleet or lacks_clusters or bool(stage.candidates),
        services=is_last or stage.services or bool(plan.departing),
    )
    return further.observing(fleet, seen | unobserved)
