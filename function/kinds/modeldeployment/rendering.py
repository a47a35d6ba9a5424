"""The spec of a ModelReplica: the deployment's engines, and an overlay with their placement.

Every field that a replica is made of is taken over as it is, so that a new one cannot be forgotten. The overlay puts
members in pools, and turns the devices that they select into requests for the device classes that were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from function import schema
from function.api import modelreplica
from function.api.engine import Worker
from function.api.modeldeployment import DeviceRequest, Engine, Member, Spec
from function.core import InvalidSpec, Manifest, plain
from function.kinds.modeldeployment.inputs import Inputs
from function.scheduling import Fit, Fitter, Job, PlacedEngine, Replica
from function.scheduling.fit import Option

MADE_OF = Spec.model_fields.keys() & modelreplica.Spec.model_fields.keys()
"""The fields of a deployment's spec that its replicas have. The others are about where replicas go, and how many."""


def spec(wanted: Spec, cluster: str, placed: Sequence[PlacedEngine], fit: Fit) -> dict[str, Any]:
    """Return the spec of a replica on a cluster; `placed` are the fit's engines there."""
    pools = {engine.name: {member.role: member.pool for member in engine.members} for engine in placed}
    options = {engine.name: option for engine, option in fit.engines}
    return {
        "clusterName": cluster,
        **_taken_over(wanted, *(Spec.model_fields.keys() - MADE_OF), "engines"),
        "engines": [_engine(engine, pools[engine.name], options[engine.name]) for engine in wanted.engines],
    }


def _engine(engine: Engine, pools: Mapping[str, str], option: Option) -> dict[str, Any]:
    roles = list(pools)
    members = [
        _member(member, pools[member.role], option.offers[roles.index(member.role)].classes)
        for member in engine.members
    ]
    return {**_taken_over(engine, "members"), "members": members}


def _member(member: Member, pool: str, classes: Sequence[str | None]) -> dict[str, Any]:
    """A Synthetic device, whose class is None, only chose the pool: nothing can be claimed of it."""
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = [_request(asked, class_) for asked, class_ in zip(devices, classes, strict=True) if class_ is not None]
    workers = {"worker": (member.worker or Worker()).model_dump()} if member.role == "Worker" else {}
    return {
        **_taken_over(member, "nodeSelector", "template"),
        **workers,
        "nodePoolName": pool,
        **({"deviceRequests": requests} if requests else {}),
        "template": member.template.model_dump(mode="json", exclude_unset=True, exclude_none=True),
    }


def _request(asked: DeviceRequest, device_class: str) -> dict[str, Any]:
    return {"name": asked.name, "deviceClassName": device_class, **_taken_over(asked)}


def _taken_over(model: schema.Api, *without: str) -> dict[str, Any]:
    """Return all fields of a part of the spec, with defaults spelled out, but for those that the overlay replaces."""
    return model.model_dump(mode="json", exclude_none=True, exclude=set(without))


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
