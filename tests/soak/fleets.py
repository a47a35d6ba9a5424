"""The fleets that a soak plays on: every example that places something, and small ones that are drawn by a seed.

A drawn fleet puts two or three examples together. Each belongs to a tenant of its own, and all see all clusters. Their
clusters keep few nodes, so that tenants are in each other's way. A random fleet is made up of every kind of object.
`crowded` is that of the property tests.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from function.cli import files
from function.core import dig, plain
from function.planning import stubs
from function.planning.control_plane import ControlPlane
from function.planning.simulation.start import Start
from tests.support import random_fleets
from tests.support.simulated import crowded

_ROOT = Path(__file__).parents[2]
_EXAMPLES = _ROOT / "examples"
_NO_FLEET = ("mistakes", "bad-edit", "convert")
"""Files that are wrong on purpose, state that goes with an edit, and the input of a conversion."""
_DRAWN, _RANDOM = "drawn/", "random/"
_SETTLED = 300


@cache
def examples() -> tuple[str, ...]:
    """The examples that have a cluster and a deployment, by their folders."""
    folders = sorted({path.parent for path in _EXAMPLES.rglob("*.yaml")})
    wanted = {"InferenceCluster", "ModelDeployment"}
    return tuple(
        str(folder.relative_to(_ROOT))
        for folder in folders
        if not set(folder.relative_to(_EXAMPLES).parts) & set(_NO_FLEET)
        and wanted <= {manifest["kind"] for manifest in _read(folder)}
    )


def drawn(seed: int) -> str:
    """The name of the fleet that is drawn by a seed."""
    return f"{_DRAWN}{seed}"


def random(seed: int) -> str:
    """The name of the fleet that is made up from a seed (tests/support/random_fleets.py)."""
    return f"{_RANDOM}{seed}"


def settled(name: str) -> Start:
    """A fleet, settled.

    Args:
        name: An example's folder, what `drawn` or `random` returns, or `crowded`.

    Raises:
        DidNotConverge: It does not settle.
    """
    if name == "crowded":
        return crowded()
    manifests = _manifests(name)
    control = ControlPlane()
    control.loop.load([*manifests, *stubs.objects(manifests)])
    control.loop.settle(_SETTLED)
    return Start.of(control)


def _manifests(name: str) -> list[Any]:
    if name.startswith(_DRAWN):
        return _drawn(int(name.removeprefix(_DRAWN)))
    if name.startswith(_RANDOM):
        return random_fleets.fleet(int(name.removeprefix(_RANDOM)))
    return _read(_ROOT / name)


@cache
def _read(folder: Path) -> list[Any]:
    return [one.manifest for one in files.load([folder])]


def _drawn(seed: int) -> list[Any]:
    random = Random(seed)
    parts = [
        _tenant(random, number, _read(_ROOT / example))
        for number, example in enumerate(random.sample(examples(), random.randint(2, 3)))
    ]
    found: dict[tuple[str, str, str], Any] = {}
    for manifest in (manifest for part in parts for manifest in part):
        metadata = manifest["metadata"]
        found.setdefault((manifest["kind"], metadata.get("namespace", ""), metadata["name"]), manifest)
    return [*found.values()]


def _tenant(random: Random, number: int, manifests: list[Any]) -> list[Any]:
    """The objects of an example, with clusters of their own and in a namespace of its own."""
    return [_renamed(random, number, plain(manifest)) for manifest in manifests]


def _renamed(random: Random, number: int, manifest: Any) -> Any:
    if "namespace" in manifest["metadata"]:
        manifest["metadata"]["namespace"] = f"tenant-{number}"
    if manifest["kind"] == "InferenceCluster":
        manifest["metadata"]["name"] += f"-{number}"
        for pool in dig(manifest, "spec", "nodePools") or ():
            if isinstance(pool.get("nodeCount"), int):
                pool["nodeCount"] = min(pool["nodeCount"], random.randint(1, 4))
    if manifest["kind"] == "ModelDeployment":
        manifest["spec"]["replicas"] = random.randint(1, 3)
    return manifest
