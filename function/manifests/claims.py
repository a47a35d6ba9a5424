"""Devices, as Kubernetes' dynamic resource allocation claims them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions


def resource_claim_template(
    *, name: str, namespace: str, requests: Sequence[Mapping[str, Any]], labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What each pod claims. Immutable."""
    return {
        "apiVersion": versions.DRA,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {"spec": {"devices": {"requests": [dict(request) for request in requests]}}},
    }


def device_request(*, name: str, device_class: str, count: int, selectors: Sequence[str]) -> dict[str, Any]:
    """So many devices of a class, each of which satisfies every selector (CEL)."""
    chosen = [{"cel": {"expression": expression}} for expression in selectors]
    return {
        "name": name,
        "exactly": {
            "deviceClassName": device_class,
            "allocationMode": "ExactCount",
            "count": count,
            **({"selectors": chosen} if chosen else {}),
        },
    }
