"""Records what a release composes, for tests of upgrades. Run it for each release, with a worktree of its commit:

    git worktree add --detach /tmp/release <commit>
    PYTHONPATH=/tmp/release python tests/data/upgrade/record.py <commit> /tmp/release

It writes two files beside itself:

- `rendering-<number>.yaml`: the fleet of `fleet.yaml` as the release left it on its control cluster, where all of it
  serves. tests/world/test_upgrade.py upgrades it.
- `composed.yaml`: a digest of what the release composed in each golden case of a ModelReplica, of the last release.
  tests/unit/vocabulary/test_rendering.py compares it.

It uses only what every release has: the embedded control plane, the loader of files, and the composers.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from function import registry
from function.cli import files
from function.core import Manifest, Request, dig, plain
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.sandbox.settle import settle
from function.vocabulary import versions

HERE = Path(__file__).parent
COMPOSED = HERE / "composed.yaml"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NOTES = ("modelplane.ai/rendering", "modelplane.ai/manifest-hash")
_HEAD = "# Data, as commit {commit} composed it. Do not edit it: tests/data/upgrade/record.py writes it and says how.\n"


class _Dumper(yaml.SafeDumper):
    """Without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def fleet() -> list[dict[str, Any]]:
    """All objects of the control cluster, once nothing changes any more. The definitions of other projects are left
    out: they are large, and the next version composes them again."""
    control = ControlPlane()
    manifests = [document.manifest for document in files.load([HERE / "fleet.yaml"])]
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle()
    kinds = sorted({ref[:2] for ref in control.store.changed})
    found = [plain(manifest) for kind in kinds for manifest in control.store.of_kind(*kind)]
    return [manifest for manifest in found if _kind_on_cluster(manifest) != "CustomResourceDefinition"]


def _kind_on_cluster(manifest: Manifest) -> Any:
    return dig(manifest, "spec", "forProvider", "manifest", "kind")


def digests(golden: Path) -> dict[str, dict[str, str]]:
    """What is asked and what is composed for a new replica, by golden case. Cases without Objects are left out."""
    return dict(_digests(golden))


def _digests(golden: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for case in sorted((golden / "modelreplica").iterdir()):
        [xr], required = _documents(case / "xr.yaml"), _documents(case / "required.yaml")
        xr = without_notes({key: value for key, value in xr.items() if key != "status"})
        result = settle(registry.compose, Request(xr=xr), required)
        composed = {k: dig(r.manifest, "spec", "forProvider", "manifest") for k, r in result.resources.items()}
        if composed:
            yield case.name, {"asked": _digest([xr, required]), "composed": _digest(without_notes(plain(composed)))}


def _documents(path: Path) -> list[dict[str, Any]]:
    return [doc for doc in yaml.load_all(path.read_text(), _LOADER) if doc] if path.exists() else []


def without_notes(value: Any) -> Any:
    """Without annotations that differ in any case, and without blocks of which they were all."""
    if isinstance(value, list):
        return [without_notes(item) for item in value]
    if not isinstance(value, dict):
        return value
    left = {key: without_notes(child) for key, child in value.items() if key not in _NOTES}
    return {key: child for key, child in left.items() if key != "annotations" or child}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def main(commit: str, release: str) -> None:
    number, head = getattr(versions, "RENDERING", 1), _HEAD.format(commit=commit)
    with (HERE / f"rendering-{number}.yaml").open("w") as out:
        out.write(head)
        yaml.dump_all(fleet(), out, _Dumper, sort_keys=False, width=120, default_flow_style=None)
    with COMPOSED.open("w") as out:
        out.write(head)
        found = {"rendering": number, "cases": digests(Path(release) / "tests" / "golden")}
        yaml.dump(found, out, _Dumper, sort_keys=False, width=120, default_flow_style=None)


if __name__ == "__main__":
    main(*sys.argv[1:])
