"""Chooses edits."""

from __future__ import annotations

from random import Random

from function.core import Manifest, dig_list, dig_objects
from function.fleet.values import whole
from function.planning.simulation.found import containers, every, labels_of, one, selectors, set_field, some
from function.planning.simulation.steps import Step
from function.planning.simulation.world import World
from function.vocabulary import labels

_TAINTS: tuple[list[dict[str, str]], ...] = (
    [],
    [{"key": labels.DRAIN, "effect": "NoExecute"}],
    [{"key": "maintenance", "effect": "NoSchedule"}],
)
_REPLICAS = (0, 1, 1, 2, 2, 3, 4)
_TAGS = ("v0.23.0", "v0.24.0", "v0.24.1")
_BROKEN = "device.attributes["
"""A selector that does not compile: an edit that a deployment refuses."""


def scale(world: World, random: Random) -> Step | None:
    deployment = some(world, random, "ModelDeployment")
    return set_field(deployment, ("spec", "replicas"), random.choice(_REPLICAS))


def image(world: World, random: Random) -> Step | None:
    deployment = some(world, random, "ModelDeployment")
    path, container = one(random, containers(deployment)) or ((), {})
    image = str(container.get("image") or "").rpartition(":")[0]
    return set_field(deployment, (*path, "image"), f"{image}:{random.choice(_TAGS)}") if image else None


def grow(world: World, random: Random) -> Step | None:
    """Change how many copies of an engine a replica has."""
    return _number(random, some(world, random, "ModelDeployment"), "engines", "copies", most=3)


def place(world: World, random: Random) -> Step | None:
    """Select clusters by one of their labels, or all again."""
    deployment = some(world, random, "ModelDeployment")
    there = sorted({pair for m in every(world, "InferenceCluster") for pair in labels_of(m)})
    pair = one(random, [None, *there])
    wanted = {"matchLabels": dict([pair])} if pair else None
    return set_field(deployment, ("spec", "clusterSelector"), wanted)


def select(world: World, random: Random) -> Step | None:
    """Give a device request another selector: that of any deployment, or one that does not compile."""
    deployment = some(world, random, "ModelDeployment")
    path, _ = one(random, selectors(deployment)) or ((), "")
    texts = sorted({text for m in every(world, "ModelDeployment") for _, text in selectors(m)})
    return set_field(deployment, path, random.choice((*texts, *texts, _BROKEN))) if path else None


def weigh(world: World, random: Random) -> Step | None:
    return _number(random, some(world, random, "ModelService"), "endpoints", "weight", most=5)


def _number(random: Random, target: Manifest | None, items: str, name: str, most: int) -> Step | None:
    """Set a number of one of the items of a spec."""
    count = len(dig_list(target, "spec", items)) if target else 0
    return set_field(target, ("spec", items, random.randrange(count), name), random.randint(1, most)) if count else None


def resize(world: World, random: Random) -> Step | None:
    cluster = some(world, random, "InferenceCluster")
    pools = list(enumerate(dig_objects(cluster, "spec", "nodePools"))) if cluster else []
    index, pool = one(random, pools) or (0, None)
    if pool is None:
        return None
    nodes = random.randint(0, 4)
    least = min(nodes, whole(pool.get("minNodeCount")))
    bounds = {"nodeCount": nodes, "minNodeCount": least, "maxNodeCount": nodes}
    resized = {**pool, **{k: v for k, v in bounds.items() if k in pool or k == "nodeCount"}}
    return set_field(cluster, ("spec", "nodePools", index), resized)


def taint(world: World, random: Random) -> Step | None:
    return set_field(some(world, random, "InferenceCluster"), ("spec", "taints"), random.choice(_TAINTS))


def relabel(world: World, random: Random) -> Step | None:
    cluster = some(world, random, "InferenceCluster")
    pair = one(random, labels_of(cluster)) if cluster else None
    return set_field(cluster, ("metadata", "labels", pair[0]), random.choice((pair[1], "elsewhere"))) if pair else None


def reclass(world: World, random: Random) -> Step | None:
    """Change how many devices a class declares."""
    class_ = some(world, random, "InferenceClass")
    count = len(dig_list(class_, "spec", "devices")) if class_ else 0
    return (
        set_field(class_, ("spec", "devices", random.randrange(count), "count"), random.choice((1, 2, 8)))
        if count
        else None
    )
