"""The statuses that controllers write for workloads, routes, inference pools and gateways."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from function.core import Condition, Manifest, dig_fields, dig_list, dig_objects, plain
from function.sandbox.conditions import with_conditions
from function.vocabulary import names

_GROUP_GATEWAY = "gateway.networking.k8s.io"


def deployment(manifest: Manifest, running: int, problem: str) -> dict[str, Any]:
    """The status of a Deployment with `running` ready pods; `problem` is why others are not ready."""
    wanted = int(manifest["spec"].get("replicas", 1))
    available = [
        Condition("Available", "True", "MinimumReplicasAvailable")
        if running == wanted
        else Condition("Available", "False", "MinimumReplicasUnavailable", problem)
    ]
    return {
        "observedGeneration": manifest["metadata"]["generation"],
        "replicas": wanted,
        "updatedReplicas": wanted,
        "readyReplicas": running,
        "availableReplicas": running,
        "unavailableReplicas": wanted - running,
        "conditions": with_conditions([], tuple(available), None),
    }


def leader_worker_set(manifest: Manifest, running: int, problem: str) -> dict[str, Any]:
    """The status of a LeaderWorkerSet with `running` ready groups; `problem` is why others are not ready."""
    wanted = int(manifest["spec"].get("replicas", 1))
    available = (
        Condition("Available", "True", "AllGroupsReady")
        if running == wanted
        else Condition("Available", "False", "GroupsAreProgressing", problem)
    )
    return {
        "observedGeneration": manifest["metadata"]["generation"],
        "replicas": wanted,
        "updatedReplicas": wanted,
        "readyReplicas": running,
        "conditions": with_conditions([], (available,), None),
    }


_ACCEPTED = Condition("Accepted", "True", "Accepted")
CONDITIONS: Mapping[str, tuple[Condition, ...]] = {
    "GatewayClass": (_ACCEPTED,),
    "CustomResourceDefinition": (
        Condition("NamesAccepted", "True", "NoConflicts"),
        Condition("Established", "True", "InitialNamesAccepted"),
    ),
}
"""Conditions that objects of other kinds get as soon as they exist."""
WORKLOADS: Mapping[str, Any] = {"Deployment": deployment, "LeaderWorkerSet": leader_worker_set}


def accepted(manifest: Manifest, existing: Collection[tuple[str, str, str]]) -> dict[str, Any]:
    """The status of an HTTPRoute or InferencePool: accepted, and whether its references resolve.

    Args:
        manifest: The route or pool.
        existing: Kind, namespace and name of every object on the cluster.
    """
    parents = dig_list(manifest, "spec", "parentRefs") or [
        {"group": _GROUP_GATEWAY, "kind": "Gateway", "name": names.CLUSTER_GATEWAY, "namespace": names.SYSTEM_NAMESPACE}
    ]
    missing = [b for b in _backends(manifest) if not _exists(b, manifest["metadata"].get("namespace") or "", existing)]
    resolved = Condition("ResolvedRefs", "True", "ResolvedRefs")
    if missing:
        resolved = Condition("ResolvedRefs", "False", "BackendNotFound", f"{missing[0]['name']} not found")
    conditions = with_conditions([], (_ACCEPTED, resolved), manifest["metadata"]["generation"])
    controller = "gateway.envoyproxy.io/gatewayclass-controller"
    return {
        "parents": [{"parentRef": plain(p), "controllerName": controller, "conditions": conditions} for p in parents]
    }


def _backends(manifest: Manifest) -> list[Manifest]:
    rules = dig_list(manifest, "spec", "rules")
    picker = dig_fields(manifest, "spec", "endpointPickerRef")
    return [b for rule in rules for b in dig_objects(rule, "backendRefs")] + ([picker] if picker else [])


def _exists(backend: Manifest, namespace: str, existing: Collection[tuple[str, str, str]]) -> bool:
    return (backend.get("kind") or "Service", backend.get("namespace") or namespace, backend["name"]) in existing


def gateway(manifest: Manifest, address: str) -> dict[str, Any]:
    """The status of a Gateway; without an address it is not programmed."""
    generation = manifest["metadata"]["generation"]
    if not address:
        pending = Condition("Programmed", "False", "AddressNotAssigned", "No address has been assigned")
        return {"conditions": with_conditions([], (_ACCEPTED, pending), generation)}
    kind = "IPAddress" if ":" in address or address.replace(".", "").isdigit() else "Hostname"
    programmed = Condition("Programmed", "True", "Programmed")
    return {
        "conditions": with_conditions([], (_ACCEPTED, programmed), generation),
        "addresses": [{"type": kind, "value": address}],
    }


def unconditional(manifest: Manifest) -> dict[str, Any]:
    """The status of an object whose kind is in CONDITIONS."""
    return {"conditions": with_conditions([], CONDITIONS[manifest["kind"]], manifest["metadata"]["generation"])}
