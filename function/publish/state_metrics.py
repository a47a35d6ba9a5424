"""What kube-state-metrics reads of our kinds: a CustomResourceStateMetrics configuration, and the rights for it.

Every kind has its conditions, and `serving` if its status has it. The rest is listed here by kind. The paths are those
of the kind's XRD (tested), and the metrics those that `package/monitoring` alerts on and draws.

The format is that of kube-state-metrics v2.13 to v2.18 (docs/metrics/extend/customresourcestate-metrics.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from function.api.modelcache import Phase
from function.publish.catalog import KINDS, Kind
from function.vocabulary import versions

PREFIX = "modelplane"
ROLE = "modelplane-kube-state-metrics"
_IDENTITY = {"name": ["metadata", "name"]}
_NAMESPACED = {"namespace": ["metadata", "namespace"], **_IDENTITY}
_READ = ("list", "watch")
_DEBUG = 5
"""Level of log messages about fields that an object does not have: most are optional."""


def configuration() -> dict[str, Any]:
    """Return the configuration for `--custom-resource-state-config-file`."""
    return {"kind": "CustomResourceStateMetrics", "spec": {"resources": [_resource(kind) for kind in KINDS]}}


def helm_values() -> dict[str, Any]:
    """Return the values of the chart prometheus-community/kube-state-metrics."""
    return {
        "customResourceState": {"enabled": True, "config": configuration()},
        "rbac": {"extraRules": _rules()},
    }


def cluster_role() -> dict[str, Any]:
    """Return the rights that kube-state-metrics needs besides its own."""
    return {"apiVersion": versions.RBAC, "kind": "ClusterRole", "metadata": {"name": ROLE}, "rules": _rules()}


def _rules() -> list[dict[str, Any]]:
    """It lists the definitions, too, to find out which of the kinds are there."""
    groups = sorted({kind.group for kind in KINDS})
    ours = [{group: sorted(kind.plural for kind in KINDS if kind.group == group)} for group in groups]
    read = [{"apiextensions.k8s.io": ["customresourcedefinitions"]}, *ours]
    return [
        {"apiGroups": [group], "resources": resources, "verbs": list(_READ)}
        for rule in read
        for group, resources in rule.items()
    ]


def _resource(kind: Kind) -> dict[str, Any]:
    return {
        "groupVersionKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "resourcePlural": kind.plural,
        "metricNamePrefix": PREFIX,
        "errorLogV": _DEBUG,
        "labelsFromPath": _NAMESPACED if kind.scope == "Namespaced" else _IDENTITY,
        "metrics": [*_of_every_kind(kind), *_OF_A_KIND.get(kind.kind, ())],
    }


def _of_every_kind(kind: Kind) -> Iterator[dict[str, Any]]:
    yield _gauge(
        "condition",
        "Whether a condition is True, with its status and reason.",
        ("status", "conditions"),
        "status",
        {"condition": ["type"], "status": ["status"], "reason": ["reason"]},
    )
    if "serving" in kind.status.model_fields:
        yield _gauge("serving", "Whether an object serves, as other kinds see it.", ("status", "serving"))


def _gauge(
    name: str, about: str, path: tuple[str, ...], value: str = "", labels: Mapping[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return a gauge of a field, or one for each item of a list.

    Args:
        name: Name of the metric, without the prefix.
        about: Its help text.
        path: The field, or the list.
        value: The field of an item.
        labels: Labels by the fields of an item.
    """
    gauge: dict[str, Any] = {"path": list(path)}
    if value:
        gauge["valueFrom"] = [value]
    if labels:
        gauge["labelsFromPath"] = dict(labels)
    return {"name": name, "help": about, "each": {"type": "Gauge", "gauge": gauge}}


def _info(name: str, about: str, path: tuple[str, ...], labels: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return a series of value 1 for each item of a list."""
    info = {"path": list(path), "labelsFromPath": dict(labels)}
    return {"name": f"{name}_info", "help": about, "each": {"type": "Info", "info": info}}


def _states(name: str, about: str, path: tuple[str, ...], field: str, states: tuple[str, ...]) -> dict[str, Any]:
    """Return a series for each item of a list and each state, with value 1 for the state that the item has."""
    each = {"path": list(path), "labelsFromPath": {"cluster": ["name"]}, "labelName": field, "list": list(states)}
    return {"name": name, "help": about, "each": {"type": "StateSet", "stateSet": {**each, "valueFrom": [field]}}}


def _observed(field: str, name: str, about: str) -> dict[str, Any]:
    return _gauge(name, about, ("status", "capacity", "pools"), field, {"pool": ["pool"]})


_POOL = {"pool": ["pool"]}
_ALLOCATIONS = ("status", "allocations")
_OF_A_KIND: Mapping[str, tuple[dict[str, Any], ...]] = {
    "ModelDeployment": (
        _gauge("modeldeployment_replicas_wanted", "Replicas that the spec asks for.", ("spec", "replicas")),
        _gauge("modeldeployment_replicas_placed", "Replicas that have a cluster.", ("status", "replicas", "total")),
        _gauge("modeldeployment_replicas_ready", "Replicas that serve.", ("status", "replicas", "ready")),
        _gauge("modeldeployment_replicas_updated", "Replicas of the current spec.", ("status", "replicas", "updated")),
        _info(
            "modeldeployment_rejection",
            "Why a cluster takes no more replicas.",
            ("status", "rejections"),
            {"cluster": ["cluster"], "reason": ["reason"]},
        ),
        _gauge(
            "modeldeployment_placement_ready",
            "Whether a replica on a cluster is ready.",
            ("status", "placements"),
            "ready",
            {"replica": ["replica"], "cluster": ["cluster"]},
        ),
    ),
    "ModelService": (
        _gauge("modelservice_endpoints_matched", "Endpoints that match.", ("status", "endpoints", "matched")),
        _gauge("modelservice_endpoints_ready", "Endpoints that match and are ready.", ("status", "endpoints", "ready")),
        _gauge("modelservice_priority", "Priority that the requests go to.", ("status", "priority")),
    ),
    "ModelCache": (
        _states("modelcache_cluster_phase", "Progress on a cluster.", ("status", "clusters"), "phase", get_args(Phase)),
    ),
    "InferenceCluster": (
        _gauge("inferencecluster_nodes", "Nodes that the cluster can have.", ("status", "nodes")),
        _gauge("inferencecluster_pool_nodes", "Nodes that a pool can have.", _ALLOCATIONS, "nodes", _POOL),
        _gauge(
            "inferencecluster_pool_nodes_free",
            "Nodes of a pool that no replica takes; negative if it is overcommitted.",
            _ALLOCATIONS,
            "free",
            _POOL,
        ),
        _gauge(
            "inferencecluster_capacity_stale",
            "Whether the observed capacity does not count at present.",
            ("status", "capacity", "stale"),
        ),
        _observed("ready", "inferencecluster_pool_nodes_ready", "Observed nodes that take new pods."),
        _observed("cordoned", "inferencecluster_pool_nodes_cordoned", "Observed nodes that are cordoned."),
        _observed("notReady", "inferencecluster_pool_nodes_not_ready", "Observed nodes that are not ready."),
        _observed("tainted", "inferencecluster_pool_nodes_tainted", "Observed nodes with a taint."),
        _observed("foreign", "inferencecluster_pool_nodes_foreign", "Observed nodes that others use."),
        _observed("outOfStock", "inferencecluster_pool_out_of_stock", "Whether no node could be added to a pool."),
    ),
}
"""Metrics of the kinds, besides those of every kind."""
