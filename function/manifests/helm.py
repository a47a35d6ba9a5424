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
                "chart": {"name": chart.name, "repository": chart.repository, "version": version or chart.version},
                "namespace": chart.namespace,
                "wait": True,
                "waitTimeout": "10m",
                **({"values": dict(values)} if values else {}),
            },
        },
    }
