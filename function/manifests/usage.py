"""Usages: what must not be deleted yet, and for whom."""

from __future__ import annotations

from typing import Any

from function.vocabulary import versions


def cluster_usage(*, name: str, api_version: str, kind: str, of: str, reason: str) -> dict[str, Any]:
    """A cluster-scoped object refuses to be deleted; when the Usage goes, the refused delete is replayed."""
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
    """An object refuses to be deleted: while another of its namespace, given by apiVersion, kind and name, is there."""
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
