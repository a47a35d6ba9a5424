"""From a request to a result, in the order that a reader would ask."""

from __future__ import annotations

from function import conditions as c
from function import scheduling
from function.core import Composer, InvalidSpec, NotYet, Request, Result, hold
from function.kinds.modeldeployment import model, status
from function.kinds.modeldeployment.compose import compose
from function.kinds.modeldeployment.decide import job
from function.kinds.modeldeployment.inputs import Inputs, read, requirements
from function.kinds.modeldeployment.model import Spec
from function.scheduling import Fitter, Job, Matcher


def run(request: Request) -> Result:
    try:
        spec = model.parse(request.xr)
        inputs = read(request)
        wanted = job(request, spec, inputs)
        _check(wanted, inputs)
    except InvalidSpec as why:
        return _hold_but_yield(request, why)
    return _carry_out(request, spec, inputs, wanted)


def _carry_out(request: Request, spec: Spec, inputs: Inputs, wanted: Job) -> Result:
    fitter = Fitter(wanted.engines)
    plan = scheduling.solve(wanted, inputs.fleet, fitter)
    rejections = scheduling.rejections(wanted, inputs.fleet, plan, fitter) if plan.missing else ()
    resources = compose(request, spec, wanted, plan, inputs)
    return status.report(
        request=request,
        spec=spec,
        job=wanted,
        plan=plan,
        inputs=inputs,
        rejections=rejections,
        resources=resources,
    )


def _check(wanted: Job, inputs: Inputs) -> None:
    """Raises NotYet where there is no cluster at all, InvalidSpec for a claim that no node could be given."""
    if wanted.replicas and not inputs.fleet.clusters:
        raise NotYet(c.NO_CLUSTERS())
    shapes = {pool.shape for cluster in inputs.fleet.clusters.values() for pool in cluster.pools}
    for engine in wanted.engines:
        for member in engine.members:
            if scheduling.is_claim_too_large(Matcher(), member, shapes):
                asked = sum(request.count for request in member.requests)
                field = f"spec.engines[{engine.name}].members[{member.role}].nodeSelector.devices"
                problem = f"asks for {asked} devices, and a ResourceClaim is given {scheduling.LARGEST_CLAIM} at most"
                raise InvalidSpec(c.INVALID_NODE_SELECTOR(field=field, problem=problem))


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
    requirements=requirements,
    compose=run,
    held=status.held,
)
