"""Any edits of a cluster that a cloud makes, in any order: what the cloud cannot change never changes, what is refused
changes nothing, and replicas keep the nodes that they take.

Edits go through the real composers in the embedded control plane, one after another, each until everything has come to
rest. Beside the edits of users, an older release may have written other values for what the cloud cannot change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from function import registry
from function.clouds import BY_NAME, Source
from function.contracts.cloud import composition
from function.contracts.cloud.composition import pool_key
from function.core import Manifest, Request, dig, plain
from function.sandbox.store import Ref
from tests.support.cloud_edits import (
    SUPPORTED,
    CloudWorld,
    classes,
    kubernetes_versions,
    provisioner,
    replica,
    walked,
    written,
    zones,
)

Pools = dict[str, dict[str, Any]]
"""The pools of a cluster, by name."""
NAMES = ("azure", "blue", "coral", "denim")
each_cloud = pytest.mark.parametrize("cloud", [source.name for source in SUPPORTED])


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of one pool, or of the whole cluster."""

    text: str
    change: Callable[[Asked], None]
    pool: str | None = None

    def __repr__(self) -> str:
        return self.text


@dataclass(slots=True)
class Asked:
    """What a user asks for: the pools, fields of the cloud's block, and classes that are like others."""

    pools: Pools
    block: dict[str, Any] = field(default_factory=dict)
    like: dict[str, str] = field(default_factory=dict)

    def of(self, world: CloudWorld) -> str:
        """Ask for it. Returns why it was refused; empty where it was not."""
        found = {each["metadata"]["name"]: each for each in classes(world.source)}
        for name in _usable(world.source):
            world.control.loop.replace({**found[name], "spec": found[self.like.get(name, name)]["spec"]})
        return world.edit(list(self.pools.values()), **self.block)


# What users do


def _usable(source: Source) -> list[str]:
    return [each["metadata"]["name"] for each in classes(source)[:3]]


def edits(source: Source) -> st.SearchStrategy[Edit]:
    """Any edit of a cluster."""
    of_pool = st.one_of(_additions(source), _removals(), _sizes(), _taints(), _zones(source), _other_classes(source))
    return st.one_of(of_pool, of_pool, _versions(source), _edited_classes(source))


def _named(text: str, change: Callable[[Pools, str], None]) -> Callable[[str], Edit]:
    def edit(name: str) -> Edit:
        return Edit(f"{name}: {text}", lambda asked: change(asked.pools, name), name)

    return edit


def _set(**fields: Any) -> Callable[[Pools, str], None]:
    """Set fields of a pool that is there; those that are None are left out."""

    def change(pools: Pools, name: str) -> None:
        if name in pools:
            edited = {**pools[name], **fields}
            pools[name] = {field_: value for field_, value in edited.items() if value is not None}

    return change


def _on_any(text: str, change: Callable[[Pools, str], None]) -> st.SearchStrategy[Edit]:
    return st.sampled_from(NAMES).map(_named(text, change))


def _additions(source: Source) -> st.SearchStrategy[Edit]:
    def add(class_name: str, size: Mapping[str, int]) -> st.SearchStrategy[Edit]:
        def change(pools: Pools, name: str) -> None:
            pools.setdefault(name, {"name": name, "className": class_name, **size})

        return _on_any(f"add {class_name} {dict(size)}", change)

    return st.tuples(st.sampled_from(_usable(source)), sizes).flatmap(lambda drawn: add(*drawn))


def _removals() -> st.SearchStrategy[Edit]:
    def remove(pools: Pools, name: str) -> None:
        if len(pools) > 1:
            pools.pop(name, None)

    return _on_any("remove", remove)


sizes: st.SearchStrategy[dict[str, int]] = st.one_of(
    st.fixed_dictionaries({"nodeCount": st.sampled_from([1, 2, 4, 6])}),
    st.fixed_dictionaries(
        {"nodeCount": st.integers(0, 6), "maxNodeCount": st.integers(1, 6)},
        optional={"minNodeCount": st.integers(0, 3)},
    ),
)


def _sizes() -> st.SearchStrategy[Edit]:
    absent = dict.fromkeys(("nodeCount", "minNodeCount", "maxNodeCount"))
    return sizes.flatmap(lambda size: _on_any(f"scale to {size}", _set(**{**absent, **size})))


def _taints() -> st.SearchStrategy[Edit]:
    one = st.fixed_dictionaries(
        {
            "key": st.sampled_from(["team", "nvidia.com/gpu", "example.org/quiet"]),
            "effect": st.sampled_from(["NoSchedule", "NoExecute"]),
        },
        optional={"value": st.sampled_from(["a", "b"])},
    )
    some = st.lists(one, max_size=2, unique_by=lambda taint: (taint["key"], taint["effect"]))
    return some.flatmap(lambda taints: _on_any(f"taint with {taints}", _set(taints=taints)))


def _zones(source: Source) -> st.SearchStrategy[Edit]:
    some = st.lists(st.sampled_from(zones(source)), max_size=2, unique=True)
    return some.flatmap(lambda given: _on_any(f"zones {given}", _set(zones=given or None)))


def _other_classes(source: Source) -> st.SearchStrategy[Edit]:
    return st.sampled_from(_usable(source)).flatmap(lambda name: _on_any(f"class {name}", _set(className=name)))


def _versions(source: Source) -> st.SearchStrategy[Edit]:
    def edit(version: str | None) -> Edit:
        def change(asked: Asked) -> None:
            asked.block = {"kubernetesVersion": version} if version else {}

        return Edit(f"version {version}", change)

    return st.sampled_from([None, *kubernetes_versions(source)]).map(edit)


def _edited_classes(source: Source) -> st.SearchStrategy[Edit]:
    """A class becomes like another: its devices and its machine are those of that."""

    def edit(drawn: tuple[str, str]) -> Edit:
        name, other = drawn
        return Edit(f"class {name} becomes like {other}", lambda asked: asked.like.update({name: other}))

    names = st.sampled_from(_usable(source))
    return st.tuples(names, names).map(edit)


# What is looked at


@cache
def _made(name: str) -> CloudWorld:
    """A cluster with two pools, one of a fixed size and one that is scaled."""
    return CloudWorld.of(BY_NAME[name], list(_at_first(BY_NAME[name]).values()))


def _at_first(source: Source) -> Pools:
    first, *others = _usable(source)
    return {
        "azure": {"name": "azure", "className": first, "nodeCount": 2},
        "blue": {"name": "blue", "className": (others or [first])[0], "nodeCount": 1, "maxNodeCount": 3},
    }


def unchangeable(world: CloudWorld) -> dict[str, dict[str, Any]]:
    """What never changes of a managed resource, by the key and the name that it has."""
    kinds = {(kind.api_version, kind.kind): kind for kind in provisioner(world.source).managed}
    return {
        f"{key} {manifest['metadata']['name']}": {
            "external name": written(manifest)["external"],
            **{
                path: dig(manifest, "spec", "forProvider", *path.split("."))
                for path in kinds[manifest["apiVersion"], manifest["kind"]].immutable
            },
        }
        for key, manifest in world.managed().items()
    }


def resources(world: CloudWorld) -> dict[str, dict[str, Any]]:
    return {key: written(manifest) for key, manifest in world.composed().items()}


def is_of(key: str, pool: str) -> bool:
    """Whether a resource is there for a pool: its key has the pool's name."""
    return pool in key.split("-")


def others(found: Mapping[str, dict[str, Any]], pool: str) -> dict[str, dict[str, Any]]:
    """The resources of the other pools."""
    return {key: m for key, m in found.items() if any(is_of(key, name) for name in NAMES) and not is_of(key, pool)}


def check(before: CloudWorld, after: CloudWorld, edit: Edit, refusal: str) -> None:
    """What holds of every edit."""
    was, now = unchangeable(before), unchangeable(after)
    assert {key: now[key] for key in now.keys() & was.keys()} == {key: was[key] for key in now.keys() & was.keys()}
    if refusal:
        assert resources(after) == resources(before), refusal
    if edit.pool:
        assert others(resources(after), edit.pool) == others(resources(before), edit.pool)


def play(world: CloudWorld, asked: Asked, sequence: Sequence[Edit]) -> None:
    """Play edits, and check each. One that is refused is taken back, as a user does."""
    for edit in sequence:
        before, wanted = world.copied(), deepcopy(asked)
        edit.change(wanted)
        refusal = wanted.of(world)
        check(before, world, edit, refusal)
        if refusal:
            asked.of(world)
            assert resources(world) == resources(before), f"after {edit} was taken back"
        else:
            asked = wanted
            assert_made(world, asked)
    again = world.copied()
    again.control.loop.resync()
    again.control.loop.settle()
    assert resources(again) == resources(world)


def assert_made(world: CloudWorld, asked: Asked) -> None:
    """An edit that is accepted is carried out: everything is ready, and no field of the composite was dropped."""
    assert world.is_ready()
    composite = world.composite()
    assert composite is not None
    pools = {pool["name"]: pool for pool in plain(composite["spec"]["nodePools"])}
    assert {name: {f: pools[name].get(f) for f in pool} for name, pool in asked.pools.items()} == asked.pools
    assert {key for key in world.managed() if key.startswith("pool-")} == {pool_key(name) for name in asked.pools}
    version = asked.block.get("kubernetesVersion", "")
    assert any(str(value).startswith(version) for _, value in walked(world.managed()))
    assert dropped(world) == {}


def dropped(world: CloudWorld) -> dict[str, Any]:
    """What pinning takes from what the composer wants of a cluster that has settled."""
    composite = world.composite()
    assert composite is not None
    observed = world.composed()
    required = _answers(world)
    pinned = _compose(composite, observed, required)
    pin, composition._pinned = composition._pinned, lambda resource, _observed: plain(resource.manifest)  # type: ignore[assignment]
    try:
        wanted = _compose(composite, observed, required)
    finally:
        composition._pinned = pin
    return {
        key: (manifest, pinned[key]) for key, manifest in wanted.items() if written(manifest) != written(pinned[key])
    }


def _answers(world: CloudWorld) -> dict[str, tuple[Manifest, ...]]:
    composite = world.composite()
    assert composite is not None
    request = Request(xr=composite)
    for _ in range(3):
        asked = registry.of(request).requirements(request)
        request = Request(xr=composite, required={each.name: world.control.store.find(each) for each in asked})
    return dict(request.required)


def _compose(
    composite: Manifest, observed: Mapping[str, Manifest], required: Mapping[str, tuple[Manifest, ...]]
) -> dict[str, dict[str, Any]]:
    result = registry.compose(Request(xr=composite, observed=observed, required=required))
    return {key: plain(resource.manifest) for key, resource in result.resources.items()}


# The properties


def _sequences(source: Source, most: int) -> st.SearchStrategy[list[Edit]]:
    return st.lists(edits(source), min_size=1, max_size=most)


@pytest.mark.slow
@each_cloud
@settings(max_examples=3, phases=[Phase.generate])
@given(data=st.data())
def test_any_edits(cloud: str, data: st.DataObject) -> None:
    source = BY_NAME[cloud]
    play(_made(source.name).copied(), Asked(_at_first(source)), data.draw(_sequences(source, 4)))


@pytest.mark.slow
@each_cloud
@settings(max_examples=25)
@given(data=st.data())
def test_any_more_edits(cloud: str, data: st.DataObject) -> None:
    source = BY_NAME[cloud]
    play(_made(source.name).copied(), Asked(_at_first(source)), data.draw(_sequences(source, 12)))


def _texts(world: CloudWorld) -> Iterator[tuple[Ref, str, list[str]]]:
    """Every text that the cloud cannot change, with its resource and its path."""
    kinds = {(kind.api_version, kind.kind): kind for kind in provisioner(world.source).managed}
    for key, manifest in sorted(world.managed().items()):
        ref = world.control.store.located(manifest)
        for path in kinds[manifest["apiVersion"], manifest["kind"]].immutable:
            if isinstance(dig(manifest, "spec", "forProvider", *path.split(".")), str):
                yield ref, key, path.split(".")


@pytest.mark.slow
@each_cloud
@settings(max_examples=2, phases=[Phase.generate])
@given(data=st.data())
def test_what_an_older_release_wrote_stays_whatever_is_edited(cloud: str, data: st.DataObject) -> None:
    source = BY_NAME[cloud]
    world = _made(source.name).copied()
    ref, key, path = data.draw(st.sampled_from(list(_texts(world))), label="older")

    def write(manifest: dict[str, Any]) -> None:
        *parents, last = path
        block = manifest["spec"]["forProvider"]
        for parent in parents:
            block = block[parent]
        block[last] += "-of-old"

    world.control.store.update(ref, write)
    world.control.loop.settle()
    older = unchangeable(world)
    asked = Asked(_at_first(source))
    for edit in data.draw(_sequences(source, 3), label="edits"):
        before = deepcopy(asked)
        edit.change(asked)
        if asked.of(world):
            asked = before
    now = unchangeable(world)
    assert {name: now[name] for name in now.keys() & older.keys()} == {
        name: older[name] for name in now.keys() & older.keys()
    }
    assert str(dig(world.managed().get(key), "spec", "forProvider", *path) or "-of-old").endswith("-of-old")


@pytest.mark.slow
@each_cloud
@settings(max_examples=3, phases=[Phase.generate])
@given(data=st.data())
def test_replicas_keep_the_nodes_that_they_take(cloud: str, data: st.DataObject) -> None:
    source = BY_NAME[cloud]
    world, asked = _made(source.name).copied(), Asked(_at_first(source))
    taken = {"azure": data.draw(st.integers(1, 2)), "blue": data.draw(st.integers(1, 3))}
    world.control.loop.load([replica(f"r-{pool}", pool, nodes) for pool, nodes in taken.items()])
    world.control.loop.settle()
    room = _room(world)
    for edit in data.draw(_sequences(source, 4)):
        before, had = deepcopy(asked), room
        edit.change(asked)
        if asked.of(world):
            asked = before
        room = _room(world)
        assert taken.keys() <= room.keys()
        for pool, nodes in taken.items():
            assert room[pool] >= max(nodes, had[pool]), f"{edit}: the cloud would choose which nodes go"
            assert pool_key(pool) in world.managed()

    for pool in taken:
        ref = next(r for r in _replicas(world) if r.name == f"r-{pool}")
        world.control.store.delete(ref)
    world.control.loop.settle()
    assert asked.of(world) == ""
    assert_made(world, asked)


def _room(world: CloudWorld) -> dict[str, int]:
    """The nodes that each pool can have in the cloud."""
    pools = plain(dig(world.composite(), "spec", "nodePools"))
    return {pool["name"]: pool.get("maxNodeCount", pool.get("nodeCount", 1)) for pool in pools}


def _replicas(world: CloudWorld) -> list[Ref]:
    return [ref for ref in world.control.store.refs("modelplane.ai/v1alpha1", "ModelReplica") if ref.namespace == "ml"]
