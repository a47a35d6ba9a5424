"""Chooses what is created and deleted, paused and held."""

from __future__ import annotations

from random import Random

from function.core import identity
from function.planning.simulation import steps
from function.planning.simulation.found import every, one, some, some_xr
from function.planning.simulation.start import spelled
from function.planning.simulation.steps import Step
from function.planning.simulation.world import POLICIES, World

_SELDOM = 0.15
_DELETED = (
    *("ModelDeployment", "ModelService", "InferenceCluster", "InferenceClass", "ModelCache", "InferenceGateway"),
    *("ModelReplica", "ModelEndpoint", "Object", "Secret"),
)


def create(world: World, random: Random) -> Step | None:
    ref = one(random, [ref for ref in sorted(world.start.files) if ref.kind == "ModelDeployment"])
    return steps.Copy(spelled(ref), f"{ref.name[:40]}-{random.choice('ab')}") if ref else None


def restore(world: World, random: Random) -> Step | None:
    files, store = world.start.files, world.store
    gone = [ref for ref in sorted(files) if store.get(ref) is None]
    ref = one(random, gone) or one(random, [ref for ref in sorted(files) if ref.kind != "Secret"])
    return steps.Restore(spelled(ref)) if ref else None


def delete(world: World, random: Random) -> Step | None:
    kind = random.choice(_DELETED)
    ref = one(random, world.refs(kind))
    return steps.Delete(spelled(ref)) if ref else None


def lose(world: World, random: Random) -> Step | None:
    cluster = some(world, random, "InferenceCluster")
    return steps.Lose(identity(cluster).name) if cluster and random.random() < _SELDOM else None


def remove(world: World, random: Random) -> Step | None:
    """Delete by another propagation policy. Only what users make is orphaned."""
    policy = random.choice(POLICIES)
    kinds = _DELETED if policy == "foreground" else ("ModelDeployment", "ModelService", "ModelCache")
    ref = one(random, world.refs(random.choice(kinds)))
    return steps.Remove(spelled(ref), policy) if ref else None


def recreate(world: World, random: Random) -> tuple[Step, ...] | None:
    """Delete an object of the files, and create it again with another uid while what it composed is still there."""
    there = [ref for ref in sorted(world.start.files) if ref.kind != "Secret" and world.store.get(ref) is not None]
    ref = one(random, there)
    target = spelled(ref) if ref else ""
    return (steps.Delete(target), steps.Reconcile(target), steps.Restore(target)) if ref else None


def wipe(world: World, random: Random) -> Step | None:
    namespaces = sorted({identity(m).namespace for m in every(world, "ModelDeployment")})
    return steps.Wipe(random.choice(namespaces)) if namespaces and random.random() < _SELDOM else None


def pause(world: World, random: Random) -> Step | None:
    """Pause an XR, or an Object. Every other time, resume one."""
    if world.paused and random.random() < 0.5:  # noqa: PLR2004
        return steps.Resume(spelled(random.choice(sorted(world.paused))))
    ref = random.choice((some_xr(world, random), one(random, world.refs("Object"))))
    return steps.Pause(spelled(ref)) if ref else None


def hold(world: World, random: Random) -> tuple[Step, ...] | Step | None:
    """Delete an object that is held. Every other time, release one."""
    if world.held and random.random() < 0.5:  # noqa: PLR2004
        return steps.Release(spelled(random.choice(sorted(world.held))))
    ref = one(random, world.refs(random.choice(_DELETED)))
    return (steps.Hold(spelled(ref)), steps.Delete(spelled(ref))) if ref else None
