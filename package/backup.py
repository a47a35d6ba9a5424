"""Make objects fit to be restored: `kubectl get KINDS -o json | .venv/bin/python -m package.backup > FILE`.

What a cluster has written is left out: status, UIDs and versions, owners, finalizers, and Crossplane's own choices. So
are objects that something composes or controls, since their owner makes them again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

import yaml

_KEPT = ("name", "namespace", "labels", "annotations")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_TOKEN = "kubernetes.io/service-account-token"  # noqa: S105  (a type of Secrets)


def main(source: TextIO = sys.stdin, target: TextIO = sys.stdout) -> None:
    try:
        found = json.load(source)
    except ValueError as problem:
        sys.exit(f"standard input: {problem}; pipe `kubectl get KINDS -o json` into it")
    if not isinstance(found, dict) or "kind" not in found:
        sys.exit("standard input: must be what `kubectl get KINDS -o json` prints")
    yaml.safe_dump_all(restorable(found.get("items", [found])), target, sort_keys=False, width=120)


def restorable(objects: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the objects that a user wrote, as they were written."""
    for one in objects:
        if not _is_made(one):
            yield {"apiVersion": one["apiVersion"], "kind": one["kind"], "metadata": _metadata(one), **_content(one)}


def _is_made(manifest: Mapping[str, Any]) -> bool:
    owners = manifest["metadata"].get("ownerReferences", ())
    return manifest.get("type") == _TOKEN or any(owner.get("controller") for owner in owners)


def _metadata(manifest: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in manifest["metadata"].items() if key in _KEPT}
    annotations = {key: value for key, value in kept.pop("annotations", {}).items() if key != _LAST_APPLIED}
    return {**kept, **({"annotations": annotations} if annotations else {})}


def _content(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Everything but the head and the status. Crossplane chooses a Composition anew (`spec.crossplane`)."""
    content = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    if isinstance(content.get("spec"), Mapping):
        content["spec"] = {key: value for key, value in content["spec"].items() if key != "crossplane"}
    return content


if __name__ == "__main__":
    main()
