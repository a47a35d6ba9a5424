"""The state of Objects: whether the manifest has arrived on the cluster as written, and whether it is ready there.

It is read from `status.atProvider.manifest`, with generations, because an Object's own Ready condition keeps its last
value while an apply fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from function.core import (
    Manifest,
    condition,
    denial,
    dig,
    dig_fields,
    dig_number,
    dig_objects,
    is_ready,
    quote,
    quote_condition,
)
from function.manifests import reached, routing, workloads
from function.vocabulary import labels, names

CEL: Mapping[str, str] = {
    "Deployment": workloads.DEPLOYMENT_DONE,
    "LeaderWorkerSet": workloads.LEADERWORKERSET_DONE,
    "HTTPRoute": routing.accepted_by(gateway=names.CLUSTER_GATEWAY),
    "InferencePool": routing.accepted_by(gateway=names.CLUSTER_GATEWAY),
}
"""When an Object is ready, by kind. Objects of other kinds are ready once they exist."""
_WORKLOADS = {"Deployment": "deployment-", "LeaderWorkerSet": "leaderworkerset-"}


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of an engine: wanted, available with any spec, and available with the current spec."""

    wanted: int
    available: int
    current: int


@dataclass(frozen=True, slots=True)
class ObjectState:
    """The state of one composed Object."""

    key: str
    written: Manifest
    """The manifest wanted on the cluster."""
    exists: bool
    """Whether it exists on the cluster, in any state."""
    arrived: bool
    """Whether the cluster has it as it is wanted now."""
    done: bool
    """Whether it has arrived and is ready."""
    accepted: bool
    """Whether it can take traffic, perhaps with an older manifest. True for objects that take no traffic."""
    copies: Copies
    problem: str
    """The provider's or the cluster's error. Empty if there is none."""

    @property
    def kind(self) -> str:
        return str(self.written["kind"])

    @property
    def name(self) -> str:
        return f"{self.kind} {self.written['metadata']['name']}"

    @property
    def engine(self) -> str | None:
        """The engine of a workload, else None."""
        prefix = _WORKLOADS.get(self.kind, "")
        return self.key.removeprefix(prefix) if prefix and self.key.startswith(prefix) else None


def workload_key(kind: str, engine: str) -> str:
    return f"{_WORKLOADS[kind]}{engine}"


def is_workload(key: str) -> bool:
    return key.startswith(tuple(_WORKLOADS.values()))


def stamped(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with a hash of itself, which identifies it in what the cluster reports."""
    metadata = dict(manifest["metadata"])
    metadata["annotations"] = {**metadata.get("annotations", {}), labels.MANIFEST_HASH: names.content_hash(manifest)}
    return {**manifest, "metadata": metadata}


def is_legible(observed: Manifest) -> bool:
    """Return whether an observed Object carries a manifest of a kind and a name. Somebody may have edited it."""
    manifest = dig_fields(observed, "spec", "forProvider", "manifest")
    return isinstance(manifest.get("kind"), str) and isinstance(dig(manifest, "metadata", "name"), str)


def standings(wanted: Mapping[str, Manifest], observed: Mapping[str, Manifest]) -> tuple[ObjectState, ...]:
    """Return the state of all wanted Objects, in order of their keys."""
    return tuple(_standing(key, wanted[key], observed.get(key, {})) for key in sorted(wanted))


def _standing(key: str, wanted: Manifest, observed: Manifest) -> ObjectState:
    written = wanted["spec"]["forProvider"]["manifest"]
    there = dig_fields(observed, "status", "atProvider", "manifest")
    exists = bool(dig(there, "metadata", "name"))
    arrived = exists and _stamp(there) == _stamp(written)
    is_done, is_accepted = _JUDGES.get(written["kind"], (None, None))
    return ObjectState(
        key=key,
        written=written,
        exists=exists,
        arrived=arrived,
        done=arrived and (is_done(there) if is_done else is_ready(observed)),
        accepted=is_accepted(there) if is_accepted else True,
        copies=_copies(there, arrived=arrived),
        problem=_problem(written, observed, there),
    )


def _stamp(manifest: Manifest) -> Any:
    return dig(manifest, "metadata", "annotations", labels.MANIFEST_HASH)


def _copies(there: Manifest, *, arrived: bool) -> Copies:
    def counted(*path: str) -> int:
        return int(dig_number(there, *path))

    ready = "availableReplicas" if there.get("kind") == "Deployment" else "readyReplicas"
    return Copies(
        wanted=counted("spec", "replicas"),
        available=counted("status", ready),
        current=min(counted("status", "updatedReplicas"), counted("status", ready))
        if arrived and _is_seen(there)
        else 0,
    )


def _is_seen(there: Manifest) -> bool:
    """Return whether the controller has observed the current generation.

    LeaderWorkerSet has no such field before lws v0.9.
    """
    seen = dig(there, "status", "observedGeneration")
    return there.get("kind") == "LeaderWorkerSet" if seen is None else dig_number(seen) >= _generation(there)


def _generation(there: Manifest) -> int:
    return int(dig_number(there, "metadata", "generation"))


def _deployment_done(there: Manifest) -> bool:
    wanted = dig(there, "spec", "replicas")
    counts = [dig(there, "status", f) for f in ("updatedReplicas", "availableReplicas", "replicas")]
    return _is_seen(there) and all(count == wanted for count in counts)


def _leader_worker_set_done(there: Manifest) -> bool:
    wanted = dig(there, "spec", "replicas")
    counts = [dig(there, "status", f) for f in ("updatedReplicas", "readyReplicas")]
    has_all = all(count == wanted for count in counts)
    return _is_seen(there) and has_all and dig(condition(there, "Available"), "status") == "True"


def _has_copy(there: Manifest) -> bool:
    return _copies(there, arrived=False).available > 0


def _route_done(there: Manifest) -> bool:
    """Return whether the gateway accepted the current generation. A gateway that names no generation is trusted."""
    current = _generation(there)
    return any(
        all(_is_true(said) and dig_number(said, "observedGeneration", otherwise=current) >= current for said in both)
        for both in _said_by_gateway(there)
    )


def _route_accepted(there: Manifest) -> bool:
    """Return whether the gateway accepted any generation: an edit takes no traffic away."""
    return any(all(map(_is_true, both)) for both in _said_by_gateway(there))


def _is_true(said: Manifest | None) -> bool:
    return bool(dig(said, "status") == "True")


def _said_by_gateway(there: Manifest) -> list[tuple[Manifest | None, Manifest | None]]:
    return [
        (_condition_in(parent, "Accepted"), _condition_in(parent, "ResolvedRefs"))
        for parent in dig_objects(there, "status", "parents")
        if dig(parent, "parentRef", "name") == names.CLUSTER_GATEWAY
    ]


def _condition_in(parent: Manifest, type_: str) -> Manifest | None:
    return condition({"status": parent}, type_)


_JUDGES: Mapping[str, tuple[Callable[[Manifest], bool], Callable[[Manifest], bool]]] = {
    "Deployment": (_deployment_done, _has_copy),
    "LeaderWorkerSet": (_leader_worker_set_done, _has_copy),
    "HTTPRoute": (_route_done, _route_accepted),
    "InferencePool": (_route_done, _route_accepted),
}
"""By kind, for kinds that must do more than exist: whether it is ready, and whether it can take traffic."""


def _problem(written: Manifest, observed: Manifest, there: Manifest) -> str:
    """Return the Object's own error, else the cluster's.

    Errors of Secrets are not repeated, since they may quote a value.
    """
    if fault := reached.lost(observed):
        return f"the cluster does not answer: {fault}"
    synced = condition(observed, "Synced")
    if dig(synced, "status") == "False":
        return _secret_problem(synced) if written["kind"] == "Secret" else quote_condition(synced)
    if written["kind"] == "Deployment":
        return _deployment_problem(there)
    refused = [c for said in _said_by_gateway(there) for c in said if dig(c, "status") == "False"]
    return quote(f"{refused[0].get('reason')}: {refused[0].get('message')}") if refused and refused[0] else ""


def _secret_problem(synced: Manifest | None) -> str:
    return denial.explain(str(dig(synced, "message") or "")) or "not applied"


def _deployment_problem(there: Manifest) -> str:
    failure, progress = condition(there, "ReplicaFailure"), condition(there, "Progressing")
    if dig(failure, "status") == "True":
        return quote_condition(failure)
    return quote_condition(progress) if dig(progress, "status") == "False" else ""
