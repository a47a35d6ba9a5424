"""Usages, which keep an object from being deleted."""

from __future__ import annotations

from typing import Any

from function.vocabulary import versions


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
