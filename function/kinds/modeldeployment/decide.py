"""Where a ModelDeployment's replicas go."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import cast

from function import cel, names, scheduling
from function import conditions as c
from function.core import InvalidSpec, Manifest, NamespacedName, NotYet, Request
from function.kinds.modeldeployment import rendering
from function.kinds.modeldeployment.inputs import Inputs
from function.kinds.modeldeployment.model import Engine, Member, Spec
from function.scheduling import Fitter, Fleet, Job, Matcher, Placement, Plan, Rejection, Replica


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


def decide(request: Request, spec: Spec, inputs: Inputs) -> Decision:
    """Raises InvalidSpec for a selector that does not compile or a claim that none could be given, NotYet where there
    is no cluster at all."""
    wanted = job(request, spec, inputs)
    fitter = Fitter(wanted.engines)
    _check(spec, wanted, inputs, fitter.matcher)
    fleet = _recognised(spec, wanted, inputs, fitter)
    plan = scheduling.solve(wanted, fleet, fitter)
    rejections = scheduling.rejections(wanted, fleet, plan, fitter) if plan.missing else ()
    return Decision(request, spec, replace(inputs, fleet=fleet), wanted, plan, rejections)


def _recognised(spec: Spec, wanted: Job, inputs: Inputs, fitter: Fitter) -> Fleet:
    """Return the fleet with the current hash on every replica that has the current spec.

    A replica can have it under another hash: an earlier version of the function counted other fields, or somebody has
    removed the annotation. Such a replica has nothing to be given.
    """

    def recognised(replica: Replica) -> Replica:
        cluster = inputs.fleet.clusters.get(replica.cluster)
        if replica.identity not in inputs.ours or replica.spec_hash == wanted.spec_hash or cluster is None:
            return replica
        fit = fitter.where_it_is(replica, cluster)
        if fit is None:
            return replica
        written = rendering.spec(spec, replica.cluster, replica.engines, fit)
        is_same = rendering.has(inputs.ours[replica.identity], written)
        return replace(replica, spec_hash=wanted.spec_hash) if is_same else replica

    return replace(inputs.fleet, replicas=tuple(map(recognised, inputs.fleet.replicas)))


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


def job(request: Request, spec: Spec, inputs: Inputs) -> Job:
    """What is to be placed. Raises InvalidSpec for a selector that does not compile."""
    selector = dict(spec.clusterSelector.matchLabels) if spec.clusterSelector else {}
    return Job(
        deployment=NamespacedName(request.identity.namespace, names.label_value(request.identity.name)),
        replicas=spec.replicas,
        engines=tuple(_engine(i, engine) for i, engine in enumerate(spec.engines)),
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
    made_of = {"modelCacheRef", "serving", "engines"}
    own = spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True, include=made_of)
    own["engines"].sort(key=lambda engine: engine["name"])  # a map in all but form: its order means nothing
    return names.content_hash(own)


def _footprint(spec: Spec, inputs: Inputs) -> dict[str, scheduling.CachePhase] | None:
    """Where the weights are. A cache that is referenced and does not exist is nowhere."""
    if spec.modelCacheRef is None:
        return None
    return dict(inputs.cache.phases) if inputs.cache else {}


def _engine(i: int, engine: Engine) -> scheduling.Engine:
    members = [_member(f"spec.engines[{i}].members[{j}]", engine, m) for j, m in enumerate(engine.members)]
    return scheduling.Engine(engine.name, engine.copies, tuple(sorted(members, key=lambda m: m.role)))


def _member(field: str, engine: Engine, member: Member) -> scheduling.Member:
    pods = (member.worker.nodes if member.worker else 1) if member.role == "Worker" else 1
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = tuple(
        scheduling.DeviceRequest(
            name=asked.name,
            count=asked.count,
            selectors=tuple(
                _selector(
                    f"{field}.nodeSelector.devices[{k}].selectors[{n}].cel",
                    f"engine {engine.name}, {member.role}, request {asked.name}",
                    selector.cel,
                )
                for n, selector in enumerate(asked.selectors)
            ),
        )
        for k, asked in enumerate(devices)
    )
    return scheduling.Member(member.role, pods, requests)


def _selector(field: str, where: str, text: str) -> _Compiled:
    try:
        return selector(text)
    except cel.InvalidSelector as error:
        raise InvalidSpec(c.INVALID_NODE_SELECTOR(field=field, problem=f"({where}) {error}")) from error


def selector(text: str) -> _Compiled:
    """Raises cel.InvalidSelector."""
    return _Compiled(text, cel.admitted(text))


@dataclass(frozen=True, slots=True, eq=False)
class _Compiled:
    """A selector as the scheduler asks it. Equal by its text."""

    text: str
    selector: cel.Selector

    def judge(self, published: Hashable, /) -> bool | str:
        outcome = self.selector.evaluate(cast("cel.Device", published))
        return str(outcome) if isinstance(outcome, cel.EvaluationError) else outcome is cel.MATCH

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Compiled) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)
