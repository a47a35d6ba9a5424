"""What is there for a step to act on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, TypeVar

from function.core import Manifest, controller, dig, dig_list, dig_objects, dig_text_fields
from function.planning.simulation import pointer, steps
from function.planning.simulation.start import spelled
from function.planning.simulation.steps import Step
from function.planning.simulation.world import World
from function.sandbox.store import Ref, ref_of
from function.vocabulary import versions

T = TypeVar("T")
_RECONCILED = ("ModelDeployment", "ModelReplica", "ModelService", "ModelEndpoint", "InferenceCluster", "ModelCache")

Maker = Callable[[World, Random], Step | tuple[Step, ...] | None]
"""Makes a step, or some that belong together; None if the world has nothing for it."""


def every(world: World, kind: str) -> tuple[Manifest, ...]:
    return world.store.of_kind(versions.MODELPLANE, kind)


def some(world: World, random: Random, kind: str) -> Manifest | None:
    """An object of a kind that nothing composed."""
    return one(random, [m for m in every(world, kind) if controller(m["metadata"]) is None])


def some_xr(world: World, random: Random) -> Ref | None:
    return one(random, [ref for kind in _RECONCILED for ref in world.refs(kind)])


def one(random: Random, among: Sequence[T]) -> T | None:
    return random.choice(among) if among else None


def set_field(manifest: Manifest | None, path: Sequence[str | int], value: Any) -> Step | None:
    if manifest is None:
        return None
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)
    return steps.Set(spelled(ref_of(manifest)), pointer.spelled(*path), text)


def labels_of(manifest: Manifest) -> list[tuple[str, str]]:
    found = dig_text_fields(manifest, "metadata", "labels")
    return sorted((key, value) for key, value in found.items() if not key.startswith("crossplane.io/"))


def members(deployment: Manifest | None) -> Iterator[tuple[tuple[str | int, ...], Manifest]]:
    for e, engine in enumerate(dig_list(deployment, "spec", "engines")):
        for m, member in enumerate(dig_objects(engine, "members")):
            yield ("spec", "engines", e, "members", m), member


def containers(deployment: Manifest | None) -> list[tuple[tuple[str | int, ...], Manifest]]:
    return [
        ((*path, "template", "spec", "containers", c), container)
        for path, member in members(deployment)
        for c, container in enumerate(dig_objects(member, "template", "spec", "containers"))
    ]


def selectors(deployment: Manifest | None) -> list[tuple[tuple[str | int, ...], str]]:
    return [
        ((*path, "nodeSelector", "devices", d, "selectors", s, "cel"), str(dig(selector, "cel")))
        for path, member in members(deployment)
        for d, device in enumerate(dig_list(member, "nodeSelector", "devices"))
        for s, selector in enumerate(dig_list(device, "selectors"))
    ]
