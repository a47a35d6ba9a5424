"""The composer of ModelDeployments: reads the fleet, decides, composes and reports, in this order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from function import scheduling
from function.api import modeldeployment as model
from function.core import ComposedResource, Composer, Decided, InvalidSpec, NotYet, Request, Requirement, Result
from function.fleet import previous_spec
from function.kinds.modeldeployment import reserved, stages, status, withdraw
from function.kinds.modeldeployment.compose import compose
from function.kinds.modeldeployment.decide import Decision, decide
from function.kinds.modeldeployment.inputs import Inputs, read
from function.scheduling import Replica
from function.vocabulary import conditions as c


def run(request: Request) -> Result:
    """Return the result for a ModelDeployment.

    Raises InvalidSpec for a spec that is refused, NotYet while something is unknown, and deadline.Exceeded.
    """
    if refused := reserved.refusal(request):
        why = _with_contention(request, refused)
        held = replace(COMPOSER.hold(request, why), events=())  # its events are derived from what becomes of it
        return reserved.scaled_down(request, held)
    try:
        decision, resources = _decided(request, model.parse(request.xr))
    except InvalidSpec as why:
        raise _with_contention(request, why) from why
    result = withdraw.drain(request, status.report(decision, resources))
    return replace(result, requirements=decision.stage.requirements(request.xr))


def _decided(request: Request, spec: model.Spec) -> tuple[Decision, dict[str, ComposedResource]]:
    """Return the decision and what it composes. ModelServices are read for it if an endpoint is to be removed."""
    decision = decide(request, spec)
    resources = compose(decision)
    if withdraw.leaves_out(request, resources) and not decision.stage.services:
        decision = decide(request, spec, stage=decision.stage.with_services())
        resources = compose(decision)
    return decision, resources


def _with_contention(request: Request, why: InvalidSpec) -> InvalidSpec:
    """Return a refusal that still settles overcommitted pools.

    An invalid spec changes nothing else. But the other deployment on such a pool counts on this one to give way: it
    drops replicas that are preempted, and returns those that are rolled back to their previous spec.
    """
    stage = stages.first(request)
    asks = why.asks or stage.requirements(request.xr)
    try:
        inputs = read(request, stage)
    except NotYet:
        return InvalidSpec(why.condition, asks=asks)
    contended = scheduling.contention(inputs.fleet.clusters, inputs.fleet.replicas)
    preempted = [inputs.keys[replica.identity] for replica in contended.preempted if replica.identity in inputs.keys]
    decided: Decided = {**dict.fromkeys(preempted), **dict(_rolled_back(inputs, contended.rolled_back))}
    return InvalidSpec(why.condition, decided=decided, asks=asks)


def _requirements(request: Request) -> tuple[Requirement, ...]:
    """Return what is read at every stage."""
    cache, is_reserved = stages.cache(request.xr), reserved.refusal(request) is not None
    return (*((cache,) if cache else ()), *((stages.services(request.xr),) if is_reserved else ()))


def _rolled_back(inputs: Inputs, rolled_back: Iterable[Replica]) -> Iterator[tuple[str, ComposedResource]]:
    for replica in rolled_back:
        if replica.identity in inputs.keys and replica.previous:
            manifest = previous_spec.restored(inputs.ours[replica.identity], replica.previous)
            yield inputs.keys[replica.identity], ComposedResource(manifest, ready=False)


COMPOSER = Composer(
    api_version=model.API_VERSION,
    kind=model.KIND,
    conditions=(c.REPLICAS_SCHEDULED, c.REPLICAS_READY, c.MODEL_CACHE_RESOLVED),
    invalid=c.INVALID_DEPLOYMENT,
    requirements=_requirements,
    compose=run,
    held=status.held,
)
