"""A serving stack, asked about with the components that a test wants and what it has composed so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from function import registry, versions
from function.core import Request, Result

READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def answer(components: Mapping[str, Any], observed: Mapping[str, Any]) -> Result:
    spec: dict[str, Any] = {
        "clusterName": "edge",
        "source": "Existing",
        "providerConfigRef": {"name": "config"},
        "components": components,
    }
    xr = {
        "apiVersion": versions.INFRASTRUCTURE,
        "kind": "ServingStack",
        "metadata": {"name": "s", "namespace": "modelplane-system"},
        "spec": spec,
    }
    return registry.compose(Request(xr=xr, observed=observed))
