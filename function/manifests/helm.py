"""Releases of provider-helm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import crossplane, versions
from function.vocabulary.charts import Chart


def release(
    *,
    name: str,
    namespace: str,
    provider_config: str,
    chart: Chart,
    version: str | None = None,
    values: Mapping[str, Any],
    labels: Mapping[str, str] | None = None,
    management_policies: Sequence[str] = (),
) -> dict[str, Any]:
    """Install a chart on a cluster.

    The Release is ready when the chart's pods are. Without `wait`, it would be ready as soon as Helm had written them.
    """
    return {
        "apiVersion": versions.PROVIDER_HELM,
        "kind": "Release",
        "metadata": metadata(
            name=name,
            namespace=namespace,
            labels=labels,
            annotations={crossplane.EXTERNAL_NAME: chart.release},
        ),
        "spec": {
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": provider_config},
            **({"managementPolicies": list(management_policies)} if management_policies else {}),
            "forProvider": {
                "chart": _chart(chart, version or chart.version),
                "namespace": chart.namespace,
                "wait": True,
                "waitTimeout": "10m",
                **({"values": dict(values)} if values else {}),
            },
        },
    }


def _chart(chart: Chart, version: str) -> dict[str, str]:
    """Where a chart is. Helm pulls an OCI tag as it is told, and provider-helm v1 upgrades a release for ever whose
    version is not the one in Chart.yaml. A URL has its own tag."""
    if not chart.tag_prefix:
        return {"name": chart.name, "repository": chart.repository, "version": version}
    own = version.removeprefix(chart.tag_prefix)
    url = f"{chart.repository}/{chart.name}:{chart.tag_prefix}{own}"
    return {"name": chart.name, "url": url, "version": own}
