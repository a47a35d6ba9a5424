"""Metadata of composed objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class Named(TypedDict):
    """Name, namespace and labels, for builders that share them."""

    name: str
    namespace: str
    labels: Mapping[str, str]


def metadata(
    *,
    name: str,
    namespace: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return an object's metadata, without a namespace if it has none, and without empty blocks."""
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **pod_metadata(labels=labels, annotations=annotations),
    }


def pod_metadata(
    *, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the metadata of a pod template. Its pods get their names from their owner."""
    return {
        **({"labels": dict(labels)} if labels else {}),
        **({"annotations": dict(annotations)} if annotations else {}),
    }
