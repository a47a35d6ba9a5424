"""Chooses steps at random that make sense in the state of the world.

A *burst* is a few steps, after which the world settles: in the usual order, or in a random one. Half of the times it is
then reconciled once more, which must change nothing. From time to time all faults end, and what is gone comes back: a
fleet of which little is left breaks few invariants. All choices are drawn from one seeded source, from lists that are
sorted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from function.core import Manifest, controller, dig, identity
from function.planning.simulation import pointer, steps
from function.planning.simulation.steps import Step
from function.planning.simulation.world import SNAPSHOTS, World, spelled
from function.sandbox.store import Ref, ref_of
from function.vocabulary import labels, versions

T = TypeVar("T")
_MOST_IN_A_BURST = 8
_SELDOM = 0.15
_TAINTS: tuple[list[dict[str, str]], ...] = (
    [],
    [{"key": labels.DRAIN, "effect": "NoExecute"}],
    [{"key": "maintenance", "effect": "NoSchedule"}],
)
_REPLICAS = (0, 1, 1, 2, 2, 3, 4)
_TAGS = ("v0.23.0", "v0.24.0", "v0.24.1")
_BROKEN = "device.attributes["
"""A selector that does not compile: an edit that a deployment refuses."""
_RECONCILED = ("ModelDeployment", "ModelReplica", "ModelService", "ModelEndpoint", "InferenceCluster", "ModelCache")
_DELETED = (
    *("ModelDeployment", "ModelService", "InferenceCluster", "InferenceClass", "ModelCache", "InferenceGateway"),
    *("ModelReplica", "ModelEndpoint", "Object", "Secret"),
)


@dataclass(slots=True)
class Generator:
    """Chooses bursts of steps, until there are enough."""

    seed: int
    most: int
    """Steps in all."""
    kinds: Sequence[str] = ()
    """The kinds of steps to choose from (`KINDS`); all if empty."""
    _made: int = 0
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)  # noqa: S311  (a simulation, not a secret)

    def __call__(self, world: World) -> list[Step]:
        """The next burst."""
        left = self.most - self._made
        wanted = self._random.randint(1, _MOST_IN_A_BURST)
        burst = [*self._burst(world, wanted), *self._end(world)][: max(0, left)]
        self._made += len(burst)
        return burst

    def _burst(self, world: World, wanted: int) -> Iterator[Step]:
        """Steps for the world as it is at the beginning. What an earlier one removes, a later one does not find."""
        makers = [maker for kind in self.kinds or KINDS for maker in KINDS[kind]]
        for _ in range(wanted):
            made = self._random.choice(makers)(world, self._random)
            if made is not None:
                yield from made if isinstance(made, tuple) else (made,)

    def _end(self, world: World) -> Iterator[Step]:
        if self._random.random() < _SELDOM:
            yield steps.Heal()
            yield from (
                steps.Restore(spelled(ref)) for ref in sorted(world.start.files) if world.store.get(ref) is None
            )
        yield steps.Settle(self._random.choice((0, self._random.randint(1, 999))))
        if self._random.random() < 0.5:  # noqa: PLR2004
            yield steps.Rest()


Maker = Callable[[World, Random], Step | tuple[Step, ...] | None]
"""Makes a step, or some that belong together; None if the world has nothing for it."""


# Edits


def _scale(world: World, random: Random) -> Step | None:
    deployment = _any(world, random, "ModelDeployment")
    return _set(deployment, ("spec", "replicas"), random.choice(_REPLICAS))


def _image(world: World, random: Random) -> Step | None:
    deployment = _any(world, random, "ModelDeployment")
    path, container = _one(random, _containers(deployment)) or ((), {})
    image = str(container.get("image") or "").rpartition(":")[0]
    return _set(deployment, (*path, "image"), f"{image}:{random.choice(_TAGS)}") if image else None


def _grow(world: World, random: Random) -> Step | None:
    """Change how many copies of an engine a replica has."""
    deployment = _any(world, random, "ModelDeployment")
    count = len(dig(deployment, "spec", "engines") or ()) if deployment else 0
    return (
        _set(deployment, ("spec", "engines", random.randrange(count), "copies"), random.randint(1, 3))
        if count
        else None
    )


def _place(world: World, random: Random) -> Step | None:
    """Select clusters by one of their labels, or all again."""
    deployment = _any(world, random, "ModelDeployment")
    there = sorted({pair for m in _all(world, "InferenceCluster") for pair in _labels(m)})
    pair = _one(random, [None, *there])
    wanted = {"matchLabels": dict([pair])} if pair else None
    return _set(deployment, ("spec", "clusterSelector"), wanted)


def _select(world: World, random: Random) -> Step | None:
    """Give a device request another selector: that of any deployment, or one that does not compile."""
    deployment = _any(world, random, "ModelDeployment")
    path, _ = _one(random, _selectors(deployment)) or ((), "")
    texts = sorted({text for m in _all(world, "ModelDeployment") for _, text in _selectors(m)})
    return _set(deployment, path, random.choice((*texts, *texts, _BROKEN))) if path else None


def _weigh(world: World, random: Random) -> Step | None:
    service = _any(world, random, "ModelService")
    count = len(dig(service, "spec", "endpoints") or ()) if service else 0
    return (
        _set(service, ("spec", "endpoints", random.randrange(count), "weight"), random.randint(1, 5)) if count else None
    )


def _resize(world: World, random: Random) -> Step | None:
    cluster = _any(world, random, "InferenceCluster")
    pools = list(enumerate(dig(cluster, "spec", "nodePools") or ())) if cluster else []
    index, pool = _one(random, pools) or (0, None)
    if pool is None:
        return None
    nodes = random.randint(0, 4)
    bounds = {"nodeCount": nodes, "minNodeCount": min(nodes, int(pool.get("minNodeCount", 0))), "maxNodeCount": nodes}
    resized = {**pool, **{k: v for k, v in bounds.items() if k in pool or k == "nodeCount"}}
    return _set(cluster, ("spec", "nodePools", index), resized)


def _taint(world: World, random: Random) -> Step | None:
    return _set(_any(world, random, "InferenceCluster"), ("spec", "taints"), random.choice(_TAINTS))


def _relabel(world: World, random: Random) -> Step | None:
    cluster = _any(world, random, "InferenceCluster")
    pair = _one(random, _labels(cluster)) if cluster else None
    return _set(cluster, ("metadata", "labels", pair[0]), random.choice((pair[1], "elsewhere"))) if pair else None


def _reclass(world: World, random: Random) -> Step | None:
    """Change how many devices a class declares."""
    class_ = _any(world, random, "InferenceClass")
    count = len(dig(class_, "spec", "devices") or ()) if class_ else 0
    return (
        _set(class_, ("spec", "devices", random.randrange(count), "count"), random.choice((1, 2, 8))) if count else None
    )


# Deletions


def _create(world: World, random: Random) -> Step | None:
    ref = _one(random, [ref for ref in sorted(world.start.files) if ref.kind == "ModelDeployment"])
    return steps.Copy(spelled(ref), f"{ref.name[:40]}-{random.choice('ab')}") if ref else None


def _restore(world: World, random: Random) -> Step | None:
    files, store = world.start.files, world.store
    gone = [ref for ref in sorted(files) if store.get(ref) is None]
    ref = _one(random, gone) or _one(random, [ref for ref in sorted(files) if ref.kind != "Secret"])
    return steps.Restore(spelled(ref)) if ref else None


def _delete(world: World, random: Random) -> Step | None:
    kind = random.choice(_DELETED)
    ref = _one(random, world.refs(kind))
    return steps.Delete(spelled(ref)) if ref else None


def _lose(world: World, random: Random) -> Step | None:
    cluster = _any(world, random, "InferenceCluster")
    return steps.Lose(identity(cluster).name) if cluster and random.random() < _SELDOM else None


# Faults


FAULTS_BY_KIND: Mapping[str, tuple[str, ...]] = {
    "clusters": ("unreachable", "lost_pools", "without_address"),
    "pods": ("broken_images", "failed_hydrations"),
    "providers": ("provider_errors",),
    "clouds": ("creations", "never_ready", "slow"),
}
"""Fields of `Faults`, by the kind of their steps."""


def _fault(*titles: str) -> Maker:
    """Switch one of some faults on. Every other time, switch one off that is on."""

    def make(world: World, random: Random) -> Step | None:
        on = [(title, name) for title in titles for name in sorted(map(_spelled, getattr(world.faults, title)))]
        if on and random.random() < 0.5:  # noqa: PLR2004
            return steps.Mend(*random.choice(on))
        title = random.choice(titles)
        name = _one(random, sorted(NAMES[title](world)))
        return steps.Fault(title, name) if name else None

    return make


def _spelled(fault: Any) -> str:
    return "/".join(fault) if isinstance(fault, tuple) else str(fault)


def _clusters(world: World) -> set[str]:
    return {identity(m).name for m in _all(world, "InferenceCluster")}


def _pools(world: World) -> set[str]:
    there = (
        (identity(m).name, pool) for m in _all(world, "InferenceCluster") for pool in dig(m, "spec", "nodePools") or ()
    )
    return {f"{cluster}/{pool['name']}" for cluster, pool in there}


def _images(world: World) -> set[str]:
    return {str(c.get("image")) for m in _all(world, "ModelDeployment") for _, c in _containers(m)}


NAMES: Mapping[str, Callable[[World], set[str]]] = {
    "unreachable": _clusters,
    "lost_pools": _pools,
    "broken_images": _images,
    "provider_errors": _clusters,
    "without_address": _clusters,
    "failed_hydrations": _clusters,
    "creations": World.managed,
    "never_ready": World.managed,
    "slow": World.managed,
}
"""What each fault can be of."""


# The control plane


def _work(_world: World, _random: Random) -> Step | None:
    return steps.Work()


def _reconcile(world: World, random: Random) -> Step | None:
    ref = _xr(world, random)
    return steps.Reconcile(spelled(ref)) if ref else None


def _behind(world: World, random: Random) -> Step | None:
    ref = _xr(world, random)
    if ref is None or random.random() < 0.4:  # noqa: PLR2004
        return steps.Remember()
    return steps.Behind(spelled(ref), random.randint(1, SNAPSHOTS))


def _race(world: World, random: Random) -> tuple[Step, ...]:
    """All deployments are reconciled at the same moment, and none sees what the others do."""
    deployments = list(world.refs("ModelDeployment"))
    random.shuffle(deployments)
    return steps.Remember(), *(steps.Behind(spelled(ref), 1) for ref in deployments)


def _without(world: World, random: Random) -> Step | None:
    ref = _xr(world, random)
    asked = _one(random, world.control.loop.reconciler.asked.get(ref, ())) if ref else None
    return steps.Without(spelled(ref), asked.name) if ref and asked else None


def _interrupt(world: World, random: Random) -> Step | None:
    ref = _xr(world, random)
    return steps.Interrupt(spelled(ref), random.randint(0, 6)) if ref else None


def _restart(_world: World, _random: Random) -> Step | None:
    return steps.Restart()


def _skew(_world: World, random: Random) -> Step | None:
    return steps.Skew(random.choice((-3600, -1, 1, 3600)))


KINDS: Mapping[str, tuple[Maker, ...]] = {
    "edits": (
        *(_scale, _scale, _grow, _image, _place, _select, _weigh, _resize, _resize, _taint, _relabel, _reclass),
        *(_restore, _restore),
    ),
    "deletions": (_delete, _restore, _restore, _create, _lose),
    **{kind: (_fault(*titles),) for kind, titles in FAULTS_BY_KIND.items()},
    "order": (_reconcile, _reconcile, _reconcile, _work),
    "stale": (_behind, _behind, _race),
    "empty": (_without, _without),
    "interrupts": (_interrupt, _interrupt),
    "restarts": (_restart,),
    "clocks": (_skew,),
}
"""Kinds of steps, and what makes them. One that is there twice is chosen twice as often."""


# What there is


def _all(world: World, kind: str) -> tuple[Manifest, ...]:
    return world.store.of_kind(versions.MODELPLANE, kind)


def _any(world: World, random: Random, kind: str) -> Manifest | None:
    """An object of a kind that nothing composed."""
    return _one(random, [m for m in _all(world, kind) if controller(m["metadata"]) is None])


def _xr(world: World, random: Random) -> Ref | None:
    return _one(random, [ref for kind in _RECONCILED for ref in world.refs(kind)])


def _one(random: Random, among: Sequence[T]) -> T | None:
    return random.choice(among) if among else None


def _set(manifest: Manifest | None, path: Sequence[str | int], value: Any) -> Step | None:
    if manifest is None:
        return None
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return steps.Set(spelled(ref_of(manifest)), pointer.spelled(*path), text)


def _labels(manifest: Manifest) -> list[tuple[str, str]]:
    found = dig(manifest, "metadata", "labels") or {}
    return sorted((key, value) for key, value in found.items() if not key.startswith("crossplane.io/"))


def _members(deployment: Manifest | None) -> Iterator[tuple[tuple[str | int, ...], Manifest]]:
    for e, engine in enumerate(dig(deployment, "spec", "engines") or ()):
        for m, member in enumerate(engine.get("members") or ()):
            yield ("spec", "engines", e, "members", m), member


def _containers(deployment: Manifest | None) -> list[tuple[tuple[str | int, ...], Manifest]]:
    return [
        ((*path, "template", "spec", "containers", c), container)
        for path, member in _members(deployment)
        for c, container in enumerate(dig(member, "template", "spec", "containers") or ())
    ]


def _selectors(deployment: Manifest | None) -> list[tuple[tuple[str | int, ...], str]]:
    return [
        ((*path, "nodeSelector", "devices", d, "selectors", s, "cel"), str(selector.get("cel")))
        for path, member in _members(deployment)
        for d, device in enumerate(dig(member, "nodeSelector", "devices") or ())
        for s, selector in enumerate(device.get("selectors") or ())
    ]
