"""InferenceClusters that clouds make, with the ready-made classes of examples/classes."""

from __future__ import annotations

from typing import Any

from function import clouds
from tests.support import cloud_samples
from tests.support.samples import Object, of

CLASSES = {m["metadata"]["name"]: m for source in clouds.PROVISIONED for m in cloud_samples.examples(source.block)}


def classes_of(source: str) -> list[str]:
    """The names of the ready-made classes of a cloud, in order."""
    return [name for name, found in CLASSES.items() if found["spec"]["provisioning"]["provider"] == source]


def made_cluster(source: str, *pools: dict[str, Any], name: str = "made", **block: Any) -> Object:
    """An InferenceCluster. Its pools are p0, p1 and so on, with the first class of the cloud unless they say so."""
    first = classes_of(source)[0]
    spec = {
        "cluster": {"source": source, source.lower(): {**cloud_samples.SAMPLES[source].block, **block}},
        "nodePools": [{"name": f"p{at}", "className": first, **pool} for at, pool in enumerate(pools)],
    }
    return of("InferenceCluster", spec, name=name, namespace=None)
