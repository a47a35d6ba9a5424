"""Compose a ModelReplica: read the cluster, write the replica's manifests for it, report their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    doubt,
    is_controlled_by,
    restate,
    restate_resource,
)
from function.fleet import renderings
from function.kinds.modelreplica import (
    admission,
    carried,
    compose,
    earlier,
    engine,
    inputs,
    pod_reasons,
    readiness,
    status,
    templates,
)
from function.kinds.modelreplica.compose import Replica
from function.kinds.modelreplica.readiness import ObjectState
from function.vocabulary import conditions as c
from function.vocabulary import labels


def run(request: Request) -> Result:
    check_owner(request.xr)
    tenancy.check(request.identity, c.INVALID_REPLICA)
    spec = model.parse(request.xr)
    plans = engine.plans(request.identity, spec)  # before reading: an invalid engine is invalid on any cluster
    templates.check(spec)
    site = inputs.read(request, spec)
    carried.check_absent(request)
    replica = Replica(identity=request.identity, spec=spec, site=site, plans=plans, owned=_owned(request.xr))
    wanted = compose.objects(replica)
    if not renderings.is_current(request.xr["metadata"]) and earlier.is_composed(request, wanted, site.weights):
        return await_turn(request, replica)
    return report(request, replica, wanted)


def check_owner(xr: Manifest) -> None:
    """Raise InvalidSpec for a replica that no ModelDeployment composed: it was not placed where there is room."""
    if not is_controlled_by(xr["metadata"], modeldeployment.API_VERSION, modeldeployment.KIND):
        problem = "must name a ModelDeployment as controller: a ModelReplica is composed by one; create that"
        raise InvalidSpec(c.INVALID_REPLICA(field="metadata.ownerReferences", problem=problem))


def report(request: Request, replica: Replica, composed: Mapping[str, Manifest]) -> Result:
    wanted = admission.noted(composed, request.observed)
    standings = _with_problems(readiness.standings(wanted, request.observed), request)
    ready = all(s.done for s in standings)
    runtimes = engine.runtimes(request.xr)
    serving = status.model_ready(standings, runtimes=runtimes, claims=templates.claims(replica.spec))
    asking = admission.probes(request.identity, standings, wanted)
    return Result(
        ready=ready,
        conditions=(
            status.accepted(standings, cluster=replica.site.cluster, remark=compose.remarks(replica)),
            serving,
        ),
        resources={
            **({} if ready else _superseded(request, wanted)),
            **{s.key: ComposedResource(wanted[s.key], s.done) for s in standings},
            **{key: ComposedResource(compose.object_(replica, pod)) for key, pod in asking},
            **({} if ready else _pod_reasons(replica)),
        },
        status=status.fields(request.xr, standings, serves=serving.status == "True"),
    )


def _pod_reasons(replica: Replica) -> dict[str, ComposedResource]:
    """Ask why the pods wait, where an observer on the cluster reports it."""
    site = replica.site
    if not site.is_observed:
        return {}
    wanted = pod_reasons.object_(replica.identity, site.cluster, site.provider_config, replica.owned)
    return {pod_reasons.KEY: ComposedResource(wanted)}


def _with_problems(standings: Sequence[ObjectState], request: Request) -> tuple[ObjectState, ...]:
    """Return the states, with what the cluster and its observer say of each."""
    return pod_reasons.with_reasons(admission.with_refusals(standings, request.observed), request.observed)


def await_turn(request: Request, replica: Replica) -> Result:
    """Repeat what another version of the function composed, until the rollout of the deployment reaches the replica.

    It is no refusal: the replica serves and is ready as it is observed. Only pods that ask for admission go: nothing is
    asked before the turn.
    """
    standings = _observed(request)
    runtimes = engine.runtimes(request.xr)
    serving = status.model_ready(standings, runtimes=runtimes, claims=templates.claims(replica.spec))
    again = {s.key: doubt.without_note(restate(request.observed[s.key])) for s in standings}
    ready = all(s.done for s in standings)
    return Result(
        ready=ready,
        conditions=(status.awaits_turn(standings, cluster=replica.site.cluster), serving),
        resources={
            **{s.key: ComposedResource(again[s.key], s.done) for s in standings},
            **({} if ready else _pod_reasons(replica)),
        },
        status=status.fields(request.xr, standings, serves=serving.status == "True"),
    )


def _superseded(request: Request, wanted: Mapping[str, Manifest]) -> dict[str, ComposedResource]:
    """Keep what was replaced until all of its replacement exists, because running pods still refer to it.

    Engines are not kept: one that the user removed must go, and one whose kind changed needs its predecessor's nodes.
    """
    return {
        key: restate_resource(observed)
        for key, observed in request.observed.items()
        if key not in wanted and not readiness.is_workload(key) and not _only_asks(key)
    }


def held(request: Request) -> HoldDecision:
    """Report whether the replica serves, from what was composed before.

    Traffic follows that, whatever the spec says.
    """
    standings = _observed(request)
    serving = status.model_ready(standings, runtimes=engine.runtimes(request.xr))
    return HoldDecision(
        conditions=(serving,),
        ready=bool(standings) and all(s.done for s in standings),
        status=status.held(request.xr, standings, serves=serving.status == "True"),
    )


def _observed(request: Request) -> tuple[ObjectState, ...]:
    composed = {
        key: restate(m) for key, m in request.observed.items() if readiness.is_legible(m) and not _only_asks(key)
    }
    return _with_problems(readiness.standings(composed, request.observed), request)


def _only_asks(key: str) -> bool:
    """Whether an Object only asks the cluster for something: it is no part of the replica."""
    return admission.is_probe(key) or key == pod_reasons.KEY


def _owned(xr: Manifest) -> dict[str, str]:
    given = xr["metadata"].get("labels") or {}
    return {key: given[key] for key in labels.OF_REPLICA if key in given}


COMPOSER = Composer(
    api_version=model.API_VERSION,
    kind=model.KIND,
    conditions=(c.MODEL_ACCEPTED, c.MODEL_READY),
    invalid=c.INVALID_REPLICA,
    requirements=lambda request: inputs.requirements(request.xr),
    compose=run,
    held=held,
)
