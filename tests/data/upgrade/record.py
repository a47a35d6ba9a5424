"""Lets a release compose the fleet beside this file, and writes all objects of its control cluster.

Run it with the code of the release, from a worktree of its commit:

    PYTHONPATH=<worktree> python tests/data/upgrade/record.py <commit> > tests/data/upgrade/rendering-<number>.yaml

It uses only what every release has: the embedded control plane, and the loader of files.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from function.cli import files
from function.core import Manifest, dig, plain
from function.planning import stub_secrets
from function.planning.control_plane import ControlPlane

HERE = Path(__file__).parent
HEAD = """\
# Data: a fleet that serves, as commit {commit} left it on its control cluster. Do not edit it.
# Made by tests/data/upgrade/record.py from tests/data/upgrade/fleet.yaml; record.py says how.
"""


def recorded() -> list[dict[str, Any]]:
    """All objects of the control cluster, once nothing changes any more. The definitions of other projects are left
    out: they are large, and the next version composes them again."""
    control = ControlPlane()
    manifests = [document.manifest for document in files.load([HERE / "fleet.yaml"])]
    control.loop.load([*manifests, *stub_secrets.objects(manifests)])
    control.loop.settle()
    kinds = sorted({ref[:2] for ref in control.store.changed})
    found = [plain(manifest) for kind in kinds for manifest in control.store.of_kind(*kind)]
    return [manifest for manifest in found if _carried(manifest) != "CustomResourceDefinition"]


def _carried(manifest: Manifest) -> Any:
    """The kind of what an Object applies to a cluster."""
    return dig(manifest, "spec", "forProvider", "manifest", "kind")


def main(commit: str) -> None:
    sys.stdout.write(HEAD.format(commit=commit))
    yaml.dump_all(recorded(), sys.stdout, _Dumper, sort_keys=False, width=120, default_flow_style=None)


class _Dumper(yaml.SafeDumper):
    """Without anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


if __name__ == "__main__":
    main(sys.argv[1])
