"""DRA drivers on GKE: what they need before they are installed, and which of them GKE brings along."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from function.contracts.cloud.source import DriverChart, Prerequisite
from function.manifests.metadata import metadata
from function.vocabulary import charts, drivers, versions

CHARTS: Mapping[str, DriverChart | None] = {
    # GKE runs one of its own on nodes with more interfaces than theirs, of which Modelplane makes none (page "Allocate
    # network resources by using GKE managed DRANET")
    drivers.NETWORK: None,
}
_NAMESPACE = charts.NVIDIA_DRA_DRIVER.namespace
_PODS = "5000"
"""More than the nodes of a cluster on which the driver runs."""


def before(wanted: Collection[str]) -> Sequence[Prerequisite]:
    """Return a ResourceQuota in the namespace of NVIDIA's driver.

    GKE admits pods of a critical priority class, such as the driver's, only in namespaces that have one for them
    (modelplaneai/modelplane#203).
    """
    return tuple(_critical_pods()) if drivers.NVIDIA in wanted else ()


def _critical_pods() -> Iterator[Prerequisite]:
    namespace = {"apiVersion": versions.CORE, "kind": "Namespace", "metadata": metadata(name=_NAMESPACE)}
    yield Prerequisite(key="dra-namespace", manifest=namespace, stays=True)
    yield Prerequisite(key="critical-pods", manifest=_quota(), after=("dra-namespace",))


def _quota() -> dict[str, Any]:
    critical = {
        "scopeName": "PriorityClass",
        "operator": "In",
        "values": ["system-node-critical", "system-cluster-critical"],
    }
    return {
        "apiVersion": versions.CORE,
        "kind": "ResourceQuota",
        "metadata": metadata(name="critical-pods", namespace=_NAMESPACE),
        "spec": {"hard": {"pods": _PODS}, "scopeSelector": {"matchExpressions": [critical]}},
    }
