"""Renders the spec of a ModelReplica: the deployment's engines, with an overlay that places them.

All fields that replicas are made of are copied, so that a new field cannot be forgotten. The overlay adds the pool of
each member, and replaces its device selectors by requests for the device classes that the scheduler chose.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from function import schema
from function.api import modelreplica
from function.api.engine import Worker
from function.api.modeldeployment import DeviceRequest, Engine, Member, Spec
from function.core import InvalidSpec, Manifest, plain
from function.fleet import renderings
from function.kinds.modeldeployment.inputs import Inputs
from function.scheduling import Fit, Fitter, Job, PlacedEngine, Replica
from function.scheduling.fit import Option
from function.vocabulary import versions
from function.vocabulary.pod_security import DEFAULT, RESTRICTED, Level

MADE_OF = Spec.model_fields.keys() & modelreplica.Spec.model_fields.keys()
"""The fields of a deployment's spec that its replicas have. The others decide where replicas go, and how many."""


def spec(
    wanted: Spec,
    cluster: str,
    placed: Sequence[PlacedEngine],
    fit: Fit,
    *,
    level: Level = DEFAULT,
    shared: Container[str] = (),
) -> dict[str, Any]:
    """Return the spec of a replica on a cluster.

    `placed` is `fit.placed` for that cluster, `level` is its level of Pod Security, and `shared` are its pools whose
    nodes are shared. Of the levels, only restricted is noted, where pods are hardened.
    """
    pools = {engine.name: {member.role: member.pool for member in engine.members} for engine in placed}
    options = {engine.name: option for engine, option in fit.engines}
    return {
        "clusterName": cluster,
        **({"podSecurity": level} if level == RESTRICTED else {}),
        **_taken_over(wanted, *(Spec.model_fields.keys() - MADE_OF), "engines"),
        "engines": [_engine(engine, pools[engine.name], options[engine.name], shared) for engine in wanted.engines],
    }


def _engine(engine: Engine, pools: Mapping[str, str], option: Option, shared: Container[str]) -> dict[str, Any]:
    roles = list(pools)
    members = [
        _member(member, pools[member.role], option.offers[roles.index(member.role)].classes, shared)
        for member in engine.members
    ]
    return {**_taken_over(engine, "members"), "members": members}


def _member(member: Member, pool: str, classes: Sequence[str | None], shared: Container[str]) -> dict[str, Any]:
    """Return a member on a pool. Requests for Synthetic devices (class None) are left out: they only chose the pool."""
    devices = member.nodeSelector.devices if member.nodeSelector else ()
    requests = [_request(asked, class_) for asked, class_ in zip(devices, classes, strict=True) if class_ is not None]
    workers = {"worker": (member.worker or Worker()).model_dump(exclude_none=True)} if member.role == "Worker" else {}
    return {
        **_taken_over(member, "nodeSelector", "template"),
        **workers,
        "nodePoolName": pool,
        **({"nodeSharing": "Devices"} if pool in shared else {}),
        **({"deviceRequests": requests} if requests else {}),
        "template": plain(member.template),
    }


def _request(asked: DeviceRequest, device_class: str) -> dict[str, Any]:
    return {"name": asked.name, "deviceClassName": device_class, **_taken_over(asked)}


def _taken_over(model: schema.Api, *without: str) -> dict[str, Any]:
    """Return all fields of a part of the spec, with defaults spelled out, except the fields named in `without`."""
    return model.model_dump(mode="json", exclude_none=True, exclude=set(without))


def recognised(wanted: Spec, job: Job, inputs: Inputs, fitter: Fitter) -> Iterator[Replica]:
    """Yield all replicas of the fleet. Those of the deployment that have the current spec are recognised.

    A replica can have the current spec under another hash, if an earlier version of the function hashed other fields or
    somebody removed the annotation. Such a replica needs no update. If another version of the function composed its
    workloads, it is held back, and its rollout decides.
    """
    current = renderings.spec_hash(job.spec_hash)
    for replica in inputs.fleet.replicas:
        cluster, observed = inputs.fleet.clusters.get(replica.cluster), inputs.ours.get(replica.identity)
        if replica.spec_hash == job.spec_hash or cluster is None or observed is None:
            yield replica
            continue
        is_current = renderings.spec_hash(replica.spec_hash) == current
        if not is_current:
            fit = fitter.where_it_is(replica, cluster)
            is_current = fit is not None and has_spec(observed, spec(wanted, replica.cluster, replica.engines, fit))
        yield _recognised(replica, current, renderings.rendering(observed["metadata"])) if is_current else replica


def _recognised(replica: Replica, spec_hash: str, rendering: int) -> Replica:
    held_back = rendering != versions.RENDERING
    return replace(replica, spec_hash=renderings.revision(spec_hash, rendering), held_back=held_back)


def has_spec(observed: Manifest, wanted: dict[str, Any]) -> bool:
    """Whether a replica has a spec already. Defaults that are spelled out or left out make no difference.

    Nor do Pod Security and the sharing of nodes: a replica that stands is not changed by a level or a pool that was
    changed since it got its spec.
    """
    try:
        return _content(plain(observed.get("spec"))) == _content(wanted)
    except InvalidSpec:
        return False


def _content(written: Any) -> dict[str, Any]:
    parsed = modelreplica.parse({"metadata": {}, "spec": written})
    content = parsed.model_dump(mode="json", exclude_none=True, exclude_defaults=True, exclude=_OF_THE_CLUSTER)
    content["engines"].sort(key=lambda engine: engine["name"])  # a map in all but form: its order means nothing
    return content


_OF_THE_CLUSTER: dict[str, Any] = {
    "podSecurity": True,
    "engines": {"__all__": {"members": {"__all__": {"nodeSharing"}}}},
}
"""The fields that a replica's cluster decides when the replica gets its spec."""
