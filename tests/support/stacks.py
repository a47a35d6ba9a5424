"""A serving stack, asked about with the components that a test wants and what it has composed so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import registry
from function.core import Request, Result
from function.vocabulary import names, versions

READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def owner(cluster: str) -> dict[str, Any]:
    """The reference to the InferenceCluster that a stack belongs to."""
    return {
        "apiVersion": versions.MODELPLANE,
        "kind": "InferenceCluster",
        "name": cluster,
        "uid": "3c1f6f9e-7d4b-4f0e-8a1d-6f2b5e9c0a77",
        "controller": True,
    }


def answer(
    components: Mapping[str, Any],
    observed: Mapping[str, Any],
    source: str = "Existing",
    *,
    cluster: str = "edge",
    **more: Any,
) -> Result:
    """What is composed. `more` are fields of the spec."""
    spec: dict[str, Any] = {
        "clusterName": cluster,
        "source": source,
        "providerConfigRef": {"name": names.provider_config(cluster)},
        "components": components,
        **more,
    }
    xr = {
        "apiVersion": versions.INFRASTRUCTURE,
        "kind": "ServingStack",
        "metadata": {"name": "s", "namespace": names.SYSTEM_NAMESPACE, "ownerReferences": [owner(cluster)]},
        "spec": spec,
    }
    there = {key: {**_object(key), **manifest} for key, manifest in observed.items()}
    return registry.compose(Request(xr=xr, observed=there))


def _object(key: str) -> dict[str, Any]:
    return {"apiVersion": versions.PROVIDER_KUBERNETES, "kind": "Object", "metadata": {"name": key}}
