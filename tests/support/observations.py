"""Texts of an observer, and the Objects that bring them back."""

from __future__ import annotations

import json
from typing import Any

from function.vocabulary import labels, names
from function.vocabulary.observation import OBSERVED_KEY, VERSION

FREE: dict[str, Any] = {
    "names": ["n1", "n2"],
    "count": 2,
    "state": "Ready",
    "devices": {"gpu": 8},
    "allocatable": {"cpu": "190", "memory": "1900Gi", "ephemeral-storage": "1Ti"},
    "requested": {"cpu": "1500m", "memory": "10Gi", "ephemeral-storage": "0"},
}
"""A record of two nodes on which nothing runs."""


def nodes(*names_: str, **fields: Any) -> dict[str, Any]:
    return {**FREE, "names": list(names_), "count": len(names_), **fields}


def pool(*records: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"nodes": list(records), "differs": [], "counts": [], "unknown": [], "published": {}, **fields}


def observation(cluster: str = "c1", declared: str = "0", **fields: Any) -> dict[str, Any]:
    """What an observer reports. `pools` is given among the fields."""
    return {"version": VERSION, "cluster": cluster, "declared": declared, "pools": {}, "unassigned": [], **fields}


def capacity_object(cluster: str, told: Any, *, synced: bool = True) -> dict[str, Any]:
    """The observe-only Object of an observation, which is given as text or as a JSON value."""
    text = told if isinstance(told, str) else json.dumps(told)
    remote = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": names.observed(cluster),
            "namespace": names.SYSTEM_NAMESPACE,
            "labels": {labels.OBSERVATION: labels.OBSERVED},
        },
    }
    why = {} if synced else {"reason": "ReconcileError", "message": "cannot get object: connection refused"}
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": names.capacity_object(cluster), "namespace": names.SYSTEM_NAMESPACE},
        "spec": {"managementPolicies": ["Observe"], "forProvider": {"manifest": remote}},
        "status": {
            "atProvider": {"manifest": {**remote, "data": {OBSERVED_KEY: text}}},
            "conditions": [{"type": "Synced", "status": "True" if synced else "False", **why}],
        },
    }
