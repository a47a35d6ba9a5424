"""The metadata of anything that we compose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class Named(TypedDict):
    """Who a thing is and whose, for builders that are called with the same."""

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
    """Without a namespace for what has none, and without empty blocks."""
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **pod_metadata(labels=labels, annotations=annotations),
    }


def pod_metadata(
    *, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The metadata of a template: what it makes gets its name from elsewhere."""
    return {
        **({"labels": dict(labels)} if labels else {}),
        **({"annotations": dict(annotations)} if annotations else {}),
    }
