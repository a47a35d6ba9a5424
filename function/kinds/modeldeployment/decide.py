"""Decides where the replicas of a ModelDeployment go: turns its spec into a job, and runs the scheduler.

It reads in stages (stages.py): as long as the plan is a draft, the next stage is read and planned anew. What the call
has no answers for ends it, and Crossplane calls again.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace

from function import scheduling
from function.api.modeldeployment import Engine, Member, Spec
from function.core import (
    Condition,
    InvalidSpec,
    Manifest,
    Missing,
    NamespacedName,
    NotYet,
    Request,
    Undecided,
    condition_true,
)
from function.fleet import pod_requests, renderings
from function.fleet.selectors import Compiled
from function.kinds.modeldeployment import pod_security, rendering, selectors, stages
from function.kinds.modeldeployment.inputs import Inputs, read
from function.kinds.modeldeployment.stages import Stage
from function.scheduling import (
    PROGRESS,
    Budget,
    Demands,
    Findings,
    Fitter,
    Fleet,
    Job,
    Matcher,
    Placement,
    Plan,
    Rejection,
    Replica,
)
from function.vocabulary import conditions as c
from function.vocabulary import names


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision with everything that it was made from."""

    request: Request
    spec: Spec
    inputs: Inputs
    """What was read. Replicas that have the current spec have its hash in `inputs.fleet`."""
    job: Job
    """The deployment as the scheduler sees it."""
    plan: Plan
    """Where the replicas go."""
    stage: Stage
    """What was read for the plan."""
    rejections: tuple[Rejection, ...]
    """Why each cluster takes no more replicas, sorted by cluster. Empty if no replica is missing."""

    def name(self, placement: Placement) -> str:
        """Return the name of the ModelReplica of a placement."""
        if placement.replica:
            return placement.replica.identity.name
        return names.replica(self.request.identity, placement.cluster, placement.index)

    def key(self, placement: Placement) -> str:
        """Return the key of the ModelReplica of a placement among the composed resources."""
        if placement.replica:
            return self.inputs.keys[placement.replica.identity]
        return names.replica_key(placement.cluster, placement.index)

    def observed(self, placement: Placement) -> Manifest | None:
        """Return the manifest of the ModelReplica of a placement as it exists; None if it is new."""
        return self.inputs.ours[placement.replica.identity] if placement.replica else None


MOST_SPENT = 3_000_000
"""Units of the budget of one call: about a second at worst. Ordinary deployments take some thousands."""
_NOTABLE = 100_000
"""Units from which the findings of a call that decided are kept for later calls."""


def decide(request: Request, spec: Spec, *, stage: Stage | None = None, budget: Budget | None = None) -> Decision:
    """Return where the replicas of a deployment go.

    `stage` replaces the first stage, and `budget` the budget of an ordinary call. What is raised says in `asks` what
    was read, and what must be read.

    Raises:
        InvalidSpec: A selector does not compile, the selectors cost too much together, or a member requests more
            devices than a ResourceClaim can have.
        NotYet: There is no cluster, the list of replicas cannot be right, or the selectors need more than one call. The
            next call continues.
        deadline.Exceeded: The call takes too long.
    """
    stage, spending = stage or stages.first(request), budget or Budget(MOST_SPENT)
    fitter: Fitter | None = None
    neighbours = Matcher(spending, PROGRESS.of(_of_neighbours(request)))
    while True:
        try:
            inputs = _read(request, stage, neighbours)
            fitter = fitter or _fitter(request, spec, inputs, spending)
            decision, needed = _draft(request, spec, stage, inputs, fitter)
        except Undecided as why:
            why.asks = stage.requirements(request.xr)
            raise
        if needed is None:
            if spending.spent > _NOTABLE:
                PROGRESS.keep(_progress(request, fitter.engines), fitter.matcher.findings, under_way=False)
            return decision
        stage = needed


def _read(request: Request, stage: Stage, neighbours: Matcher) -> Inputs:
    """Read the inputs of a stage. `neighbours` judges the selectors of other deployments on shared pools."""
    try:
        return read(request, stage, Demands(lambda: neighbours))
    except scheduling.Exhausted:
        PROGRESS.keep(_of_neighbours(request), neighbours.findings, under_way=True)
        missing = "the evaluation of the device selectors of other deployments; the next reconcile continues"
        raise NotYet(c.SCHEDULING(missing=missing)) from None


def _of_neighbours(request: Request) -> Hashable:
    return request.identity, "neighbours"


def _fitter(request: Request, spec: Spec, inputs: Inputs, spending: Budget) -> Fitter:
    """Compile the selectors of a spec. The result serves all stages, since they match the same engines."""
    try:
        engines = compiled_engines(spec, spending)
    except scheduling.Exhausted:
        raise NotYet(_continued(spec, inputs, scheduling.Findings())) from None
    return Fitter(engines, Matcher(spending, PROGRESS.of(_progress(request, engines))))


def _progress(request: Request, engines: Iterable[scheduling.Engine]) -> Hashable:
    """Return the key of what is remembered of a matching that takes several calls.

    It has a hash of what the deployment asks for, which may contain long selectors. Findings are known by content, so
    it does not matter if two deployments have the same one.
    """
    return request.identity, hash(frozenset(member.requests for engine in engines for member in engine.members))


def _draft(request: Request, spec: Spec, stage: Stage, inputs: Inputs, fitter: Fitter) -> tuple[Decision, Stage | None]:
    """Return the decision that a stage allows, and the stage that it needs; None if it stands on what was read."""
    wanted = job(request, spec, inputs, fitter.engines)
    try:
        _check(spec, stage, wanted, inputs, fitter.matcher)
        fleet = replace(inputs.fleet, replicas=tuple(rendering.recognised(spec, wanted, inputs, fitter)))
        plan = scheduling.solve(wanted, fleet, fitter)
        _check_clusters(inputs, plan)
        ours = [r for r in fleet.replicas if r.deployment == wanted.deployment]
        known = stages.known(request, stage, fleet.clusters)
        needed = stages.following(stage, plan, ours, known, _overcommitted(fleet, ours))
        rejections = scheduling.rejections(wanted, fleet, plan, fitter) if plan.missing and not needed else ()
    except scheduling.Exhausted:
        PROGRESS.keep(_progress(request, fitter.engines), fitter.matcher.findings, under_way=True)
        raise NotYet(_continued(spec, inputs, fitter.matcher.findings)) from None
    if not needed:
        _check_replicas(request, inputs, plan)
    return Decision(request, spec, replace(inputs, fleet=fleet), wanted, plan, stage, rejections), needed


def _overcommitted(fleet: Fleet, ours: Iterable[Replica]) -> set[str]:
    """Return the clusters of some replicas that publish that more is taken of them than they have."""
    published = {replica.cluster: fleet.published.get(replica.cluster) or {} for replica in ours}
    return {cluster for cluster, free in published.items() if any(map(scheduling.is_overcommitted, free.values()))}


def _check_clusters(inputs: Inputs, plan: Plan) -> None:
    """Raise NotYet if a plan or a draft rests on a list of all clusters that lacks some of them.

    Clusters that exist would seem to be gone, and candidates would be chosen among too few.
    """
    if inputs.missed and (plan.sought or plan.lost):
        raise NotYet(c.SCHEDULING(missing=f"a list of all InferenceClusters that includes {', '.join(inputs.missed)}"))


def _check_replicas(request: Request, inputs: Inputs, plan: Plan) -> None:
    """Raise NotYet if the plan rests on an empty list of replicas that something else contradicts.

    Nodes that other deployments hold would seem free, and replicas that exist would seem to be gone.
    """
    unseen = inputs.unseen & plan.stands_on
    if unseen:
        raise NotYet(c.SCHEDULING(missing=f"what is observed of the nodes of {', '.join(sorted(unseen))}"))
    doubted = inputs.doubtful & plan.stands_on
    if doubted or (inputs.doubtful and not condition_true(request.xr, c.REPLICAS_SCHEDULED.type)):
        on = ", ".join(sorted(doubted or inputs.doubtful))
        raise NotYet(c.SCHEDULING(missing=f"a list of the ModelReplicas on {on} that includes its own"))


def _continued(spec: Spec, inputs: Inputs, found: Findings) -> Condition:
    """Return the condition of a deployment whose matching needs more calls.

    The number of all pairs of selector and device is an upper bound: many pairs need no evaluation.
    """
    shapes = {pool.shape for cluster in inputs.fleet.clusters.values() for pool in cluster.pools}
    devices = {device.published for shape in shapes for device in shape.devices}
    most = len(selectors.texts(spec)) * len(devices)
    known = f"{len(found.verdicts)} of at most {most} evaluations are done"
    return c.SCHEDULING(missing=f"the evaluation of device selectors: {known}; the next reconcile continues")


def _check(spec: Spec, stage: Stage, wanted: Job, inputs: Inputs, matcher: Matcher) -> None:
    """Raise NotYet if replicas are wanted and there is no cluster, and InvalidSpec if a claim is too large."""
    if wanted.replicas and stage.whole_fleet and not inputs.fleet.clusters:
        raise Missing(c.NO_CLUSTERS())
    for i, engine in enumerate(wanted.engines):
        for member in engine.members:
            if scheduling.is_claim_too_large(matcher, member, inputs.fleet.clusters.values()):
                asked = sum(request.count for request in member.requests)
                j = next(j for j, written in enumerate(spec.engines[i].members) if written.role == member.role)
                field = f"spec.engines[{i}].members[{j}].nodeSelector.devices"
                problem = f"requests {asked} devices, and a ResourceClaim can have at most {scheduling.LARGEST_CLAIM}"
                raise InvalidSpec(c.INVALID_NODE_SELECTOR(field=field, problem=problem))


def compiled_engines(spec: Spec, budget: Budget | None = None) -> tuple[scheduling.Engine, ...]:
    """Return the engines of a spec as the scheduler sees them, with their selectors compiled.

    Compiling is charged to `budget`, which is unlimited by default. Raises InvalidSpec if a selector does not compile,
    or if the selectors cost too much together, and Exhausted.
    """
    compiled = selectors.admitted(spec, (budget or Budget()).spend)
    return tuple(_engine(engine, compiled) for engine in spec.engines)


def job(request: Request, spec: Spec, inputs: Inputs, engines: tuple[scheduling.Engine, ...]) -> Job:
    """Return the deployment as the scheduler sees it. `engines` are those of its spec."""
    selector = dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}
    return Job(
        deployment=NamespacedName(request.identity.namespace, names.label_value(request.identity.name)),
        replicas=spec.replicas,
        engines=engines,
        selector=selector,
        placed_under=json.dumps(selector, sort_keys=True, separators=(",", ":")),
        spec_hash=(current := renderings.revision(spec_hash(spec))),
        revisions=(*inputs.revisions, *renderings.tried_before(inputs.revisions, current)),
        rolls_anyway=inputs.rolls_anyway in ("true", current),
        tolerations=tuple(
            scheduling.Toleration(t.key or "", t.operator, t.value or "", t.effect or "") for t in spec.tolerations
        ),
        pod_violations=pod_security.violations(spec),
        cache_selector=inputs.cache.selector if inputs.cache else {},
        cache=_footprint(spec, inputs),
    )


def spec_hash(spec: Spec) -> str:
    """Return the hash of the fields that replicas are made of.

    Defaults are left out, so that a new field with a default changes no hash. So are fields that only decide where
    replicas go and how many there are.
    """
    own = spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True, include=set(rendering.MADE_OF))
    own["engines"].sort(key=lambda engine: engine["name"])  # a map in all but form: its order means nothing
    return names.content_hash(own)


def _footprint(spec: Spec, inputs: Inputs) -> dict[str, scheduling.CachePhase] | None:
    """Return the phase of the weights by cluster: none at all if the referenced cache does not exist, and None if no
    cache is referenced."""
    if spec.modelCacheRef is None:
        return None
    return dict(inputs.cache.phases) if inputs.cache else {}


def _engine(engine: Engine, compiled: Mapping[str, Compiled]) -> scheduling.Engine:
    members = [_member(member, engine.phase, compiled) for member in engine.members]
    return scheduling.Engine(engine.name, engine.copies, tuple(sorted(members, key=lambda m: m.role)))


def _member(member: Member, phase: str | None, compiled: Mapping[str, Compiled]) -> scheduling.Member:
    pods = (member.worker.nodes if member.worker else 1) if member.role == "Worker" else 1
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = (scheduling.DeviceRequest(d.name, d.count, tuple(compiled[s.cel] for s in d.selectors)) for d in devices)
    resources = pod_requests.requested(member.template["spec"], phase=phase, serves=member.serves)
    return scheduling.Member(member.role, pods, tuple(requests), resources)
