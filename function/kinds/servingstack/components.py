"""The components of the serving stack and their order: one row for each chart.

DRA drivers follow the node pools: a row with a driver is installed where a pool has devices of it. A source may have
another chart for a driver, or bring the driver along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from function import clouds
from function.api.servingstack import Spec, drivers, is_on
from function.contracts.cloud.source import Prerequisite
from function.kinds.servingstack import values
from function.vocabulary import charts
from function.vocabulary import drivers as dra
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
    driver: str | None = None
    """The DRA driver that it installs; None for what every cluster gets."""


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
        after=("node-feature-discovery",),
        driver=dra.NVIDIA,
    ),
    Release(
        key="amd-dra-driver",
        switch="amdDraDriver",
        chart=charts.AMD_DRA_DRIVER,
        values=values.amd_dra_driver,
        after=("node-feature-discovery",),
        driver=dra.AMD,
    ),
    Release(key="dranet", switch="dranet", chart=charts.DRANET, values=values.dranet, driver=dra.NETWORK),
    Release(key="prometheus", switch="prometheus", chart=charts.PROMETHEUS, values=values.prometheus),
)


DRIVERS: Mapping[str, str] = {row.key: row.driver for row in RELEASES if row.driver}
"""The DRA driver that a release installs, by the key of the release."""


def wanted(spec: Spec) -> tuple[Release, ...]:
    """Return the releases of a stack, as its source has them."""
    before = tuple(part.key for part in prerequisites(spec))
    return tuple(replace(row, after=(*row.after, *before)) if row.driver else row for row in _installed(spec))


def prerequisites(spec: Spec) -> tuple[Prerequisite, ...]:
    """Return what the source needs on the cluster before the stack's DRA drivers are installed."""
    return tuple(clouds.BY_NAME[spec.source].before_drivers({row.driver for row in _installed(spec) if row.driver}))


def _installed(spec: Spec) -> Iterator[Release]:
    for row in RELEASES:
        if is_on(spec, row.switch):
            yield from (row,) if row.driver is None else _of_driver(spec, row, row.driver)


def _of_driver(spec: Spec, row: Release, driver: str) -> Iterator[Release]:
    """The release of a DRA driver. None where no pool needs it, or the source brings it along."""
    others = clouds.BY_NAME[spec.source].driver_charts
    own = others.get(driver)
    if driver in drivers(spec) and own:
        yield replace(row, chart=own.chart, values=lambda _: own.values)
    elif driver in drivers(spec) and driver not in others:
        yield row


def version(spec: Spec, row: Release) -> str:
    """Return the version that the user asks for, else the one that Modelplane is tested with."""
    component = getattr(spec.components, row.switch, None)
    asked: str | None = component.version if component else None
    return asked or row.chart.version
