"""The components of the serving stack and their order: one row for each chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from function.api.servingstack import Spec
from function.kinds.servingstack import values
from function.vocabulary import charts
from function.vocabulary.charts import Chart

INFERENCE_POOLS = "inferencepools"
"""Key of the CRD of InferencePools, which is in no chart (crds/)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A chart of the stack."""

    key: str
    """Its key among the composed resources."""
    switch: str
    """The field of spec.components that switches it."""
    chart: Chart
    values: Callable[[Spec], Mapping[str, Any]] = lambda _: {}
    """Return the values of the chart. Called once on every pass; pure."""
    after: tuple[str, ...] = ()
    """Keys of parts that must be ready first, where they are installed."""
    bundle: str | None = None
    """Python package with the CRDs of this version, where an upgrade must apply them first (upgrade.py)."""
    stays: bool = False
    """Whether it is never uninstalled: it holds CRDs, and every object of their kinds would be deleted."""


RELEASES: tuple[Release, ...] = (
    Release(key="cert-manager", switch="certManager", chart=charts.CERT_MANAGER, values=values.cert_manager),
    Release(
        key="envoy-gateway",
        switch="envoyGateway",
        chart=charts.ENVOY_GATEWAY,
        values=values.envoy_gateway,
        bundle="function.kinds.servingstack.envoygateway",
        after=(INFERENCE_POOLS,),  # it does not start without a CRD that it was told to watch (gateway up to v1.9.0)
    ),
    Release(key="ai-gateway-crds", switch="aiGateway", chart=charts.AI_GATEWAY_CRDS, stays=True),
    Release(
        key="ai-gateway",
        switch="aiGateway",
        chart=charts.AI_GATEWAY,
        values=values.ai_gateway,
        after=("ai-gateway-crds", "envoy-gateway"),
    ),
    Release(key="leaderworkerset", switch="leaderWorkerSet", chart=charts.LEADERWORKERSET),
    Release(
        key="node-feature-discovery",
        switch="nodeFeatureDiscovery",
        chart=charts.NODE_FEATURE_DISCOVERY,
        values=values.node_feature_discovery,
    ),
    Release(
        key="nvidia-dra-driver",
        switch="nvidiaDraDriver",
        chart=charts.NVIDIA_DRA_DRIVER,
        values=values.nvidia_dra_driver,
        after=("node-feature-discovery", "critical-pods"),
    ),
    Release(key="prometheus", switch="prometheus", chart=charts.PROMETHEUS, values=values.prometheus),
)


def version(spec: Spec, row: Release) -> str:
    """Return the version that the user asks for, else the one that Modelplane is tested with."""
    component = getattr(spec.components, row.switch, None)
    asked: str | None = component.version if component else None
    return asked or row.chart.version
