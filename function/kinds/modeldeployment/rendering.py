"""The spec of a ModelReplica: the deployment's engines, with the pools and device classes that they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from function.api import modelreplica
from function.api.modeldeployment import Engine, Member, Spec
from function.core import InvalidSpec, Manifest, plain
from function.kinds.modeldeployment.inputs import Inputs
from function.scheduling import Fit, Fitter, Job, PlacedEngine, Replica
from function.scheduling.fit import Option


def spec(wanted: Spec, cluster: str, placed: Sequence[PlacedEngine], fit: Fit) -> dict[str, Any]:
    """Return the spec of a replica on a cluster; `placed` are the fit's engines there."""
    pools = {engine.name: {member.role: member.pool for member in engine.members} for engine in placed}
    options = {engine.name: option for engine, option in fit.engines}
    return {
        "clusterName": cluster,
        **({"modelCacheRef": {"name": wanted.modelCacheRef.name}} if wanted.modelCacheRef else {}),
        "serving": {"mode": wanted.serving.mode},
        "engines": [_engine(engine, pools[engine.name], options[engine.name]) for engine in wanted.engines],
    }


def _engine(engine: Engine, pools: dict[str, str], option: Option) -> dict[str, Any]:
    roles = list(pools)
    return {
        "name": engine.name,
        "copies": engine.copies,
        **({"phase": engine.phase} if engine.phase else {}),
        "members": [
            _member(member, pools[member.role], option.offers[roles.index(member.role)].classes)
            for member in engine.members
        ],
    }


def _member(member: Member, pool: str, classes: tuple[str | None, ...]) -> dict[str, Any]:
    """Synthetic devices only chose the pool: nothing can be claimed of them."""
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = [
        {
            "name": asked.name,
            "deviceClassName": class_,
            "count": asked.count,
            "selectors": [{"cel": selector.cel} for selector in asked.selectors],
        }
        for asked, class_ in zip(devices, classes, strict=True)
        if class_ is not None
    ]
    return {
        "role": member.role,
        **({"worker": {"nodes": member.worker.nodes if member.worker else 1}} if member.role == "Worker" else {}),
        "nodePoolName": pool,
        **({"deviceRequests": requests} if requests else {}),
        "template": member.template.model_dump(mode="json", exclude_unset=True, exclude_none=True),
    }


def recognised(wanted: Spec, job: Job, inputs: Inputs, fitter: Fitter) -> Iterator[Replica]:
    """Yield the fleet's replicas, those of the deployment that have the current spec with the current hash.

    A replica can have it under another hash: an earlier version of the function counted other fields, or somebody has
    removed the annotation. Such a replica has nothing to be given.
    """
    for replica in inputs.fleet.replicas:
        cluster, observed = inputs.fleet.clusters.get(replica.cluster), inputs.ours.get(replica.identity)
        if replica.spec_hash == job.spec_hash or cluster is None or observed is None:
            yield replica
            continue
        fit = fitter.where_it_is(replica, cluster)
        is_current = fit is not None and _has(observed, spec(wanted, replica.cluster, replica.engines, fit))
        yield replace(replica, spec_hash=job.spec_hash) if is_current else replica


def _has(observed: Manifest, wanted: dict[str, Any]) -> bool:
    """Whether a replica has a spec already, whichever defaults are spelled out in it."""
    try:
        return _content(plain(observed.get("spec"))) == _content(wanted)
    except InvalidSpec:
        return False


def _content(written: Any) -> dict[str, Any]:
    parsed = modelreplica.parse({"metadata": {}, "spec": written})
    content = parsed.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    content["engines"].sort(key=lambda engine: engine["name"])  # a map in all but form: its order means nothing
    return content
