"""The HTTPRoute of a ModelService: one path and many weighted backends, each with its own path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.manifests import backends
from function.manifests.metadata import metadata
from function.vocabulary import versions


def route(
    *,
    name: str,
    namespace: str,
    gateway: tuple[str, str],
    prefix: str,
    backend_refs: Sequence[Mapping[str, Any]],
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Route a ModelService's path to its backends.

    `gateway` is its namespace and name. A request timeout of 0s means none: an answer may stream for minutes.
    """
    return {
        "apiVersion": versions.GATEWAY,
        "kind": "HTTPRoute",
        "metadata": metadata(name=name, namespace=namespace, labels=labels),
        "spec": {
            "parentRefs": [{"namespace": gateway[0], "name": gateway[1]}],
            "rules": [
                {
                    "matches": [{"path": {"type": "PathPrefix", "value": prefix}}],
                    "backendRefs": [dict(ref) for ref in backend_refs],
                    "timeouts": {"request": "0s"},
                }
            ],
        },
    }


def backend_ref(
    *, service: str, weight: int, rewrite_path: str | None = None, hostname: str | None = None
) -> dict[str, Any]:
    """Return a Service as a weighted backend.

    `rewrite_path` replaces the route's prefix, and `hostname` the Host header; None leaves either unchanged.
    """
    rewrite = {
        **({"hostname": hostname} if hostname else {}),
        **({"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": rewrite_path}} if rewrite_path else {}),
    }
    return {
        "kind": "Service",
        "name": service,
        "port": backends.PORT,
        "weight": weight,
        **({"filters": [{"type": "URLRewrite", "urlRewrite": rewrite}]} if rewrite else {}),
    }
