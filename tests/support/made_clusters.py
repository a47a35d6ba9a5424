"""InferenceClusters that clouds make, with the ready-made classes of examples/classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from function.cli import files
from tests.support.samples import Object, of

FOLDER = Path(__file__).parents[2] / "examples/classes"
CLASSES = {one.identity.name: one.manifest for path in sorted(FOLDER.glob("*.yaml")) for one in files.load([path])}
BLOCKS: dict[str, dict[str, Any]] = {
    "EKS": {"region": "us-east-1"},
    "GKE": {"region": "us-central1"},
    "AKS": {"location": "eastus"},
    "Nebius": {},
    "Vultr": {"region": "mia"},
}
"""The least that each cloud must be told."""


def classes_of(source: str) -> list[str]:
    """The names of the ready-made classes of a cloud, in order."""
    return [name for name, found in CLASSES.items() if found["spec"]["provisioning"]["provider"] == source]


def made_cluster(source: str, *pools: dict[str, Any], name: str = "made", **block: Any) -> Object:
    """An InferenceCluster. Its pools are p0, p1 and so on, with the first class of the cloud unless they say so."""
    first = classes_of(source)[0]
    spec = {
        "cluster": {"source": source, source.lower(): {**BLOCKS[source], **block}},
        "nodePools": [{"name": f"p{at}", "className": first, **pool} for at, pool in enumerate(pools)],
    }
    return of("InferenceCluster", spec, name=name, namespace=None)
