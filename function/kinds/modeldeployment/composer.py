"""From a request to a result, in the order that a reader would ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from function import conditions as c
from function import scheduling
from function.core import ComposedResource, Composer, InvalidSpec, NotYet, Request, Result, hold
from function.kinds.modeldeployment import former, model, reserved, status, withdraw
from function.kinds.modeldeployment.compose import compose
from function.kinds.modeldeployment.decide import decide
from function.kinds.modeldeployment.inputs import Inputs, read, requirements
from function.scheduling import Replica


def run(request: Request) -> Result:
    if refused := reserved.refusal(request):
        return reserved.scaled_down(request, _hold_but_yield(request, refused))
    try:
        decision = decide(request, model.parse(request.xr), read(request))
    except InvalidSpec as why:
        return _hold_but_yield(request, why)
    return withdraw.in_turn(request, status.report(decision, compose(decision)))


def _hold_but_yield(request: Request, why: InvalidSpec) -> Result:
    """A bad edit changes nothing, but on an overcommitted pool a replica that never served still gives way, and one
    that grew into nodes that others have goes back to its former spec."""
    try:
        inputs = read(request)
    except NotYet:
        return hold(request, status.held(request, why.condition))
    contended = scheduling.contention(inputs.fleet.clusters, inputs.fleet.replicas)
    going = {inputs.keys[replica.identity] for replica in contended.yielding if replica.identity in inputs.keys}
    held = hold(request, status.held(request, why.condition), without=going)
    return replace(held, resources={**held.resources, **dict(_gone_back(inputs, contended.retreating))})


def _gone_back(inputs: Inputs, retreating: Iterable[Replica]) -> Iterator[tuple[str, ComposedResource]]:
    for replica in retreating:
        if replica.identity in inputs.keys and replica.former:
            manifest = former.restored(inputs.ours[replica.identity], replica.former)
            yield inputs.keys[replica.identity], ComposedResource(manifest, ready=False)


COMPOSER = Composer(
    api_version=model.API_VERSION,
    kind=model.KIND,
    conditions=(c.REPLICAS_SCHEDULED, c.REPLICAS_READY, c.MODEL_CACHE_RESOLVED),
    invalid=c.INVALID_DEPLOYMENT,
    requirements=lambda xr: (*requirements(xr), withdraw.services(xr)),
    compose=run,
    held=status.held,
)
