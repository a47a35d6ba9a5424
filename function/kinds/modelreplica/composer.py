"""From a request to a result: read the cluster, write what the replica becomes there, say how it stands."""

from __future__ import annotations

from collections.abc import Mapping

from function.api import modeldeployment, tenancy
from function.api import modelreplica as model
from function.core import (
    ComposedResource,
    Composer,
    HoldDecision,
    InvalidSpec,
    Manifest,
    Request,
    Result,
    is_controlled_by,
    is_ready,
    restate,
)
from function.kinds.modelreplica import carried, compose, engine, inputs, readiness, status
from function.kinds.modelreplica.compose import Replica
from function.kinds.modelreplica.readiness import ObjectState
from function.vocabulary import conditions as c
from function.vocabulary import labels


def run(request: Request) -> Result:
    check_owner(request.xr)
    tenancy.check(request.identity, c.INVALID_REPLICA)
    spec = model.parse(request.xr)
    plans = engine.plans(request.identity, spec)  # ahead of reading: what is wrong is wrong wherever it is to run
    site = inputs.read(request, spec)
    carried.check_absent(request)
    replica = Replica(identity=request.identity, spec=spec, site=site, plans=plans, owned=_owned(request.xr))
    return report(request, replica, compose.objects(replica))


def check_owner(xr: Manifest) -> None:
    """Raises InvalidSpec for a replica that no ModelDeployment composed: nobody placed it where there is room."""
    if not is_controlled_by(xr["metadata"], modeldeployment.API_VERSION, modeldeployment.KIND):
        problem = "must name a ModelDeployment as controller: a ModelReplica is composed by one; create that"
        raise InvalidSpec(c.INVALID_REPLICA(field="metadata.ownerReferences", problem=problem))


def report(request: Request, replica: Replica, wanted: Mapping[str, Manifest]) -> Result:
    standings = readiness.standings(wanted, request.observed)
    ready = all(s.done for s in standings)
    serving = status.model_ready(standings)
    return Result(
        ready=ready,
        conditions=(
            status.accepted(standings, cluster=replica.site.cluster, remark=compose.assumptions(replica)),
            serving,
        ),
        resources={
            **({} if ready else _superseded(request, wanted)),
            **{s.key: ComposedResource(wanted[s.key], s.done) for s in standings},
        },
        status=status.fields(request.xr, standings, serves=serving.status == "True"),
    )


def _superseded(request: Request, wanted: Mapping[str, Manifest]) -> dict[str, ComposedResource]:
    """What was replaced stays until all that replaces it is there: pods that still run refer to it. Not engines: an
    engine that the user took out is out, and one that changed its kind needs its predecessor's nodes."""
    return {
        key: ComposedResource(restate(observed), is_ready(observed))
        for key, observed in request.observed.items()
        if key not in wanted and not readiness.is_workload(key)
    }


def held(request: Request) -> HoldDecision:
    """Whether it serves is still read from what was composed before: traffic follows that, whatever the spec says."""
    standings = _observed(request)
    serving = status.model_ready(standings)
    return HoldDecision(
        conditions=(serving,),
        ready=bool(standings) and all(s.done for s in standings),
        status=status.held(request.xr, standings, serves=serving.status == "True"),
    )


def _observed(request: Request) -> tuple[ObjectState, ...]:
    composed = {key: restate(manifest) for key, manifest in request.observed.items()}
    return readiness.standings(composed, request.observed)


def _owned(xr: Manifest) -> dict[str, str]:
    given = xr["metadata"].get("labels") or {}
    return {key: given[key] for key in labels.OF_REPLICA if key in given}


COMPOSER = Composer(
    api_version=model.API_VERSION,
    kind=model.KIND,
    conditions=(c.MODEL_ACCEPTED, c.MODEL_READY),
    invalid=c.INVALID_REPLICA,
    requirements=inputs.requirements,
    compose=run,
    held=held,
)
