"""Objects for the providers and the gateway on the control cluster itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function.core import Manifest
from function.manifests import helm, provider
from function.manifests.metadata import metadata
from function.vocabulary import labels as key
from function.vocabulary import names, versions
from function.vocabulary.charts import Chart


def provider_config(*, name: str, api_version: str) -> dict[str, Any]:
    """Return a ClusterProviderConfig for the cluster that the provider runs on. It uses its own service account."""
    return {
        "apiVersion": api_version,
        "kind": "ClusterProviderConfig",
        "metadata": metadata(name=name),
        "spec": {"credentials": {"source": "InjectedIdentity"}},
    }


def release(chart: Chart, values: Mapping[str, Any], *, version: str | None = None) -> dict[str, Any]:
    """Return the Release of a chart; `version` takes the place of the one that Modelplane is tested with."""
    return helm.release(
        name=names.remote_object("", "Release", chart.namespace, chart.release),
        namespace=names.SYSTEM_NAMESPACE,
        provider_config=names.CONTROL_CONFIG,
        chart=chart,
        version=version,
        values=values,
    )


def object_(manifest: Manifest, *, ready: str | None = None, stays: bool = False) -> dict[str, Any]:
    """Return the Object of a manifest. `ready` is CEL over the thing; what `stays` outlives its Object."""
    remote = manifest["metadata"]
    return provider.object_(
        name=names.remote_object("", manifest["kind"], remote.get("namespace", ""), remote["name"]),
        namespace=names.SYSTEM_NAMESPACE,
        provider_config=names.CONTROL_CONFIG,
        manifest=manifest,
        readiness_cel=ready,
        management_policies=provider.KEEP_REMOTE if stays else (),
    )


def definition(crd: Manifest) -> dict[str, Any]:
    """Return a CRD with our managed-by label, which tells it from one that a user installed."""
    marked = {**crd["metadata"], "labels": {**crd["metadata"].get("labels", {}), key.MANAGED_BY: key.OURS}}
    return {**crd, "metadata": marked}


def privileged_namespace(*, name: str) -> dict[str, Any]:
    """Return a namespace whose pods may use the host's network."""
    return {
        "apiVersion": versions.CORE,
        "kind": "Namespace",
        "metadata": metadata(name=name, labels={"pod-security.kubernetes.io/enforce": "privileged"}),
    }


def gateway_class(*, name: str, controller: str) -> dict[str, Any]:
    return {
        "apiVersion": versions.GATEWAY,
        "kind": "GatewayClass",
        "metadata": metadata(name=name),
        "spec": {"controllerName": controller},
    }
