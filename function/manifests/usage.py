"""Usages, which keep an object from being deleted."""

from __future__ import annotations

from typing import Any

from function.core import Manifest
from function.vocabulary import names, versions


def cluster_usage(*, name: str, api_version: str, kind: str, of: str, reason: str) -> dict[str, Any]:
    """Refuse to delete a cluster-scoped object. A refused delete is replayed once the Usage is gone."""
    return {
        "apiVersion": versions.PROTECTION,
        "kind": "ClusterUsage",
        "metadata": {"name": name},
        "spec": {
            "of": {"apiVersion": api_version, "kind": kind, "resourceRef": {"name": of}},
            "reason": reason,
            "replayDeletion": True,
        },
    }


def usage_between(of: Manifest, by: Manifest, *, namespace: str, reason: str) -> dict[str, Any]:
    """Refuse to delete one object as long as another one of the namespace exists."""
    of_name, by_name = of["metadata"]["name"], by["metadata"]["name"]
    return usage(
        name=names.derived(of_name, "usage", of["kind"], of_name, by["kind"], by_name),
        namespace=namespace,
        api_version=of["apiVersion"],
        kind=of["kind"],
        of=of_name,
        by=(by["apiVersion"], by["kind"], by_name),
        reason=reason,
    )


def usage(
    *, name: str, namespace: str, api_version: str, kind: str, of: str, by: tuple[str, str, str] | None, reason: str
) -> dict[str, Any]:
    """Refuse to delete an object, as long as another object of its namespace exists.

    `by` is that object's apiVersion, kind and name. With None, deletion is refused for as long as the Usage exists.
    """
    return {
        "apiVersion": versions.PROTECTION,
        "kind": "Usage",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "of": {"apiVersion": api_version, "kind": kind, "resourceRef": {"name": of}},
            **({"by": {"apiVersion": by[0], "kind": by[1], "resourceRef": {"name": by[2]}}} if by else {}),
            "reason": reason,
            "replayDeletion": True,
        },
    }
