"""From a request to a result, in the order that a reader would ask."""

from __future__ import annotations

from function import conditions as c
from function import scheduling
from function.core import Composer, InvalidSpec, NotYet, Request, Result, hold
from function.kinds.modeldeployment import model, status, withdraw
from function.kinds.modeldeployment.compose import compose
from function.kinds.modeldeployment.decide import decide
from function.kinds.modeldeployment.inputs import read, requirements


def run(request: Request) -> Result:
    try:
        decision = decide(request, model.parse(request.xr), read(request))
    except InvalidSpec as why:
        return _hold_but_yield(request, why)
    return withdraw.in_turn(request, status.report(decision, compose(decision)))


def _hold_but_yield(request: Request, why: InvalidSpec) -> Result:
    """A bad edit changes nothing, but a replica that never served still gives way on an overcommitted pool."""
    held = hold(request, status.held(request, why.condition))
    try:
        inputs = read(request)
    except NotYet:
        return held
    yielded = scheduling.yielding(inputs.fleet.clusters, inputs.fleet.replicas)
    going = {inputs.keys[replica.identity] for replica in yielded if replica.identity in inputs.keys}
    return hold(request, status.held(request, why.condition), without=going) if going else held


COMPOSER = Composer(
    api_version=model.API_VERSION,
    kind=model.KIND,
    conditions=(c.REPLICAS_SCHEDULED, c.REPLICAS_READY, c.MODEL_CACHE_RESOLVED),
    invalid=c.INVALID_DEPLOYMENT,
    requirements=lambda xr: (*requirements(xr), withdraw.services(xr)),
    compose=run,
    held=status.held,
)
