"""Chooses faults, and reconciles that do not go as usual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from function.core import dig, dig_list, identity
from function.planning.simulation import edits, steps
from function.planning.simulation.found import Maker, containers, every, one, some, some_xr
from function.planning.simulation.start import spelled
from function.planning.simulation.steps import Step
from function.planning.simulation.world import SNAPSHOTS, World

_OUTAGES = ("unreachable", "unauthorized", "provider_errors")
_MOST_WRITES = 6

FAULTS_BY_KIND: Mapping[str, tuple[str, ...]] = {
    "clusters": ("unreachable", "lost_pools", "without_address"),
    "pods": ("broken_images", "failed_hydrations"),
    "providers": ("provider_errors", "unauthorized", "object_errors"),
    "clouds": ("creations", "never_ready", "slow"),
}
"""Fields of `Faults`, by the kind of their steps."""


def fault(*titles: str) -> Maker:
    """Switch one of some faults on. Every other time, switch one off that is on."""

    def make(world: World, random: Random) -> Step | None:
        on = [(title, name) for title in titles for name in sorted(map(_spelled, getattr(world.faults, title)))]
        if on and random.random() < 0.5:  # noqa: PLR2004
            return steps.Mend(*random.choice(on))
        title = random.choice(titles)
        name = one(random, sorted(NAMES[title](world)))
        return steps.Fault(title, name) if name else None

    return make


def _spelled(fault: Any) -> str:
    return "/".join(fault) if isinstance(fault, tuple) else str(fault)


def _clusters(world: World) -> set[str]:
    return {identity(m).name for m in every(world, "InferenceCluster")}


def _pools(world: World) -> set[str]:
    there = (
        (identity(m).name, pool) for m in every(world, "InferenceCluster") for pool in dig_list(m, "spec", "nodePools")
    )
    return {f"{cluster}/{dig(pool, 'name')}" for cluster, pool in there}


def _images(world: World) -> set[str]:
    return {str(c.get("image")) for m in every(world, "ModelDeployment") for _, c in containers(m)}


NAMES: Mapping[str, Callable[[World], set[str]]] = {
    "unreachable": _clusters,
    "lost_pools": _pools,
    "broken_images": _images,
    "provider_errors": _clusters,
    "unauthorized": _clusters,
    "object_errors": lambda world: {ref.name for ref in world.refs("Object")},
    "without_address": _clusters,
    "failed_hydrations": _clusters,
    "creations": World.managed,
    "never_ready": World.managed,
    "slow": World.managed,
}
"""What each fault can be of."""


def flap(world: World, random: Random) -> tuple[Step, ...] | None:
    """A cluster goes and comes back while a deployment is rolled out."""
    cluster = some(world, random, "InferenceCluster")
    if cluster is None:
        return None
    rollout = edits.image(world, random)
    outage = random.choice(_OUTAGES), identity(cluster).name
    once = (steps.Fault(*outage), steps.Round(0), steps.Mend(*outage), steps.Round(0))
    return (*((rollout,) if rollout else ()), *(once * random.randint(1, 3)))


def work(_world: World, _random: Random) -> Step | None:
    return steps.Work()


def reconcile(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    return steps.Reconcile(spelled(ref)) if ref else None


def behind(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    if ref is None or random.random() < 0.4:  # noqa: PLR2004
        return steps.Remember()
    return steps.Behind(spelled(ref), random.randint(1, SNAPSHOTS))


def race(world: World, random: Random) -> tuple[Step, ...]:
    """All deployments are reconciled at the same moment, and none sees what the others do."""
    deployments = list(world.refs("ModelDeployment"))
    random.shuffle(deployments)
    return steps.Remember(), *(steps.Behind(spelled(ref), 1) for ref in deployments)


def without(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    asked = one(random, world.control.loop.reconciler.asked.get(ref, ())) if ref else None
    return steps.Without(spelled(ref), asked.name) if ref and asked else None


def interrupt(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    return steps.Interrupt(spelled(ref), random.randint(0, 6)) if ref else None


def restart(_world: World, _random: Random) -> Step | None:
    return steps.Restart()


def skew(_world: World, random: Random) -> Step | None:
    return steps.Skew(random.choice((-3600, -1, 1, 3600)))


def mixed(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    return steps.Mixed(spelled(ref), random.randint(1, 999)) if ref and world.snapshots else steps.Remember()


def deposed(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    if ref is None or not world.snapshots:
        return steps.Remember()
    return steps.Deposed(spelled(ref), random.randint(1, SNAPSHOTS), random.randint(0, _MOST_WRITES))


def fail(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    return steps.Fail(spelled(ref), random.randint(0, _MOST_WRITES)) if ref else None


def deny(world: World, random: Random) -> Step | None:
    ref = some_xr(world, random)
    return steps.Deny(spelled(ref), random.randint(0, _MOST_WRITES)) if ref else None


def single_round(_world: World, random: Random) -> Step | None:
    return steps.Round(random.choice((0, random.randint(1, 999))))
