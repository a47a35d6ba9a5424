"""Where a ModelDeployment's replicas go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from function import scheduling
from function.api.modeldeployment import Engine, Member, Spec
from function.core import Condition, InvalidSpec, Manifest, NamespacedName, NotYet, Request, condition_true
from function.kinds.modeldeployment import rendering, selectors
from function.kinds.modeldeployment.inputs import Inputs
from function.kinds.modeldeployment.selectors import Compiled
from function.scheduling import (
    PROGRESS,
    Budget,
    DeviceRequest,
    Findings,
    Fitter,
    Job,
    Matcher,
    Placement,
    Plan,
    Rejection,
)
from function.vocabulary import conditions as c
from function.vocabulary import names


@dataclass(frozen=True, slots=True)
class Decision:
    """All that is known of a deployment once it is decided: what was asked, what was read, and what comes of it."""

    request: Request
    spec: Spec
    inputs: Inputs
    job: Job
    plan: Plan
    rejections: tuple[Rejection, ...]
    """Why a wanted replica is not there, by cluster; empty when all are."""

    def name(self, placement: Placement) -> str:
        """Of the ModelReplica at a place."""
        if placement.replica:
            return placement.replica.identity.name
        return names.replica(self.request.identity, placement.cluster, placement.index)

    def key(self, placement: Placement) -> str:
        """Where it stands among the composed resources."""
        if placement.replica:
            return self.inputs.keys[placement.replica.identity]
        return names.replica_key(placement.cluster, placement.index)

    def observed(self, placement: Placement) -> Manifest | None:
        """It, as it is; None where it is new."""
        return self.inputs.ours[placement.replica.identity] if placement.replica else None


MOST_SPENT = 3_000_000
"""Units of a budget for one call: about a second at worst. Ordinary deployments take some thousands."""
_NOTABLE = 100_000
"""Units from which what was found out is kept for the next call."""


def decide(request: Request, spec: Spec, inputs: Inputs, budget: Budget | None = None) -> Decision:
    """Raises InvalidSpec for selectors that do not compile or cost too much together, or for a claim that none could
    be given; NotYet where there is no cluster at all, or where its selectors take more than one call may spend."""
    spending = budget or Budget(MOST_SPENT)
    try:
        wanted = job(request, spec, inputs, spending)
    except scheduling.Exhausted:
        raise NotYet(_continued(spec, inputs, scheduling.Findings())) from None
    asked = wanted.deployment, frozenset(member.requests for engine in wanted.engines for member in engine.members)
    matcher = Matcher(spending, PROGRESS.of(asked))
    try:
        decision = _decided(request, spec, inputs, Fitter(wanted.engines, matcher), wanted)
    except scheduling.Exhausted:
        PROGRESS.keep(asked, matcher.findings, under_way=True)
        raise NotYet(_continued(spec, inputs, matcher.findings)) from None
    if spending.spent > _NOTABLE:
        PROGRESS.keep(asked, matcher.findings, under_way=False)
    return decision


def _decided(request: Request, spec: Spec, inputs: Inputs, fitter: Fitter, wanted: Job) -> Decision:
    _check(spec, wanted, inputs, fitter.matcher)
    fleet = replace(inputs.fleet, replicas=tuple(rendering.recognised(spec, wanted, inputs, fitter)))
    plan = scheduling.solve(wanted, fleet, fitter)
    if inputs.is_doubtful and (plan.takes_nodes or not condition_true(request.xr, c.REPLICAS_SCHEDULED.type)):
        # Nodes that others hold would seem free, and who has them would seem to have gone.
        raise NotYet(c.SCHEDULING(missing="a look-up of all ModelReplicas that finds at least its own"))
    rejections = scheduling.rejections(wanted, fleet, plan, fitter) if plan.missing else ()
    return Decision(request, spec, replace(inputs, fleet=fleet), wanted, plan, rejections)


def _continued(spec: Spec, inputs: Inputs, found: Findings) -> Condition:
    """How far matching is. Not every pair has to be evaluated."""
    shapes = {pool.shape for cluster in inputs.fleet.clusters.values() for pool in cluster.pools}
    devices = {device.published for shape in shapes for device in shape.devices}
    most = len(selectors.texts(spec)) * len(devices)
    known = f"{len(found.verdicts)} of at most {most} evaluations are done"
    return c.SCHEDULING(
        missing=f"its device selectors, which take more than one call may spend: {known}, and the next call goes on"
    )


def _check(spec: Spec, wanted: Job, inputs: Inputs, matcher: Matcher) -> None:
    if wanted.replicas and not inputs.fleet.clusters:
        raise NotYet(c.NO_CLUSTERS())
    for i, engine in enumerate(wanted.engines):
        for member in engine.members:
            if scheduling.is_claim_too_large(matcher, member, inputs.fleet.clusters.values()):
                asked = sum(request.count for request in member.requests)
                j = next(j for j, written in enumerate(spec.engines[i].members) if written.role == member.role)
                field = f"spec.engines[{i}].members[{j}].nodeSelector.devices"
                problem = f"asks for {asked} devices, and a ResourceClaim is given {scheduling.LARGEST_CLAIM} at most"
                raise InvalidSpec(c.INVALID_NODE_SELECTOR(field=field, problem=problem))


def job(request: Request, spec: Spec, inputs: Inputs, budget: Budget | None = None) -> Job:
    """What is to be placed. Raises InvalidSpec for selectors that do not compile or cost too much together, and
    Exhausted."""
    compiled = selectors.admitted(spec, (budget or Budget()).spend)
    selector = dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}
    return Job(
        deployment=NamespacedName(request.identity.namespace, names.label_value(request.identity.name)),
        replicas=spec.replicas,
        engines=tuple(_engine(engine, compiled) for engine in spec.engines),
        selector=selector,
        placed_under=json.dumps(selector, sort_keys=True, separators=(",", ":")),
        spec_hash=(current := spec_hash(spec)),
        revisions=inputs.revisions,
        rolls_anyway=inputs.rolls_anyway in ("true", current),
        tolerations=tuple(
            scheduling.Toleration(t.key or "", t.operator, t.value or "", t.effect or "") for t in spec.tolerations
        ),
        cache_selector=inputs.cache.selector if inputs.cache else {},
        cache=_footprint(spec, inputs),
    )


def spec_hash(spec: Spec) -> str:
    """Return the hash of all that a replica is made of, without defaults: a new field that has one changes no hash.
    Where replicas go and how many there are change nothing in a replica."""
    own = spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True, include=set(rendering.MADE_OF))
    own["engines"].sort(key=lambda engine: engine["name"])  # a map in all but form: its order means nothing
    return names.content_hash(own)


def _footprint(spec: Spec, inputs: Inputs) -> dict[str, scheduling.CachePhase] | None:
    """Where the weights are. A cache that is referenced and does not exist is nowhere."""
    if spec.modelCacheRef is None:
        return None
    return dict(inputs.cache.phases) if inputs.cache else {}


def _engine(engine: Engine, compiled: Mapping[str, Compiled]) -> scheduling.Engine:
    members = [_member(member, compiled) for member in engine.members]
    return scheduling.Engine(engine.name, engine.copies, tuple(sorted(members, key=lambda m: m.role)))


def _member(member: Member, compiled: Mapping[str, Compiled]) -> scheduling.Member:
    pods = (member.worker.nodes if member.worker else 1) if member.role == "Worker" else 1
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = (DeviceRequest(d.name, d.count, tuple(compiled[s.cel] for s in d.selectors)) for d in devices)
    return scheduling.Member(member.role, pods, tuple(requests))
