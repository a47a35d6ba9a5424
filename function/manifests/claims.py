"""Device claims of Kubernetes' dynamic resource allocation (DRA)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests.metadata import metadata
from function.vocabulary import versions


def resource_claim_template(
    *, name: str, namespace: str, requests: Sequence[Mapping[str, Any]], labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the template of the claim that each pod makes. It is immutable."""
    return {
        "apiVersion": versions.DRA,
        "kind": "ResourceClaimTemplate",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {"spec": {"devices": {"requests": [dict(request) for request in requests]}}},
    }


def device_request(*, name: str, device_class: str, count: int, selectors: Sequence[str]) -> dict[str, Any]:
    """Return a request for `count` devices of a class, each of which satisfies every selector (CEL)."""
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
