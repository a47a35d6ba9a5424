"""Reconciles that do not go as usual: reads that are old, mixed or empty, writes that fail, and two leaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random

from function.core import Manifest, Requirement
from function.planning.simulation.clients import Client, Denying, Failing, Outdated
from function.planning.simulation.start import located
from function.planning.simulation.world import Died, World
from function.sandbox.errors import Conflict
from function.sandbox.reconcile import Reconciler
from function.sandbox.settle import Find
from function.sandbox.store import Store

Answers = Mapping[str, tuple[Manifest, ...]]


def behind(world: World, target: str, age: int) -> None:
    """Reconcile one XR, and answer what it requires from a snapshot."""
    snapshot = _snapshot(world, age)
    if snapshot is not None:
        _answering(world, target, lambda asked: {r.name: snapshot.find(r) for r in asked})


def without(world: World, target: str, requirement: str) -> None:
    """Reconcile one XR, and find nothing for one of its requirements."""
    look_up = world.control.loop.reconciler.look_up

    def answer(asked: tuple[Requirement, ...]) -> Answers:
        return {name: () if name == requirement else found for name, found in look_up(asked).items()}

    _answering(world, target, answer)


def interrupted(world: World, target: str, writes: int) -> None:
    """Reconcile one XR, and stop Crossplane after a number of writes. It starts anew."""
    world.writes_left = writes
    try:
        world.reconcile(target)
    except Died:
        pass
    finally:
        world.writes_left = -1
    world.control.loop.restart()


def mixed(world: World, target: str, order: int) -> None:
    """Reconcile one XR. Each kind is read as of another time: now, or as in one of the snapshots."""
    states = (world.store, *world.snapshots)

    def cache(kind: str) -> Store:
        return Random(f"{order}/{kind}").choice(states)  # noqa: S311  (a simulation, not a secret)

    _outdated(world, target, cache, lambda: None)


def deposed(world: World, target: str, age: int, writes: int) -> None:
    """Reconcile one XR as a leader that lost its lease, and has not noticed it: by a snapshot. The new leader
    reconciles it in between, after a number of writes."""
    snapshot = _snapshot(world, age)
    if snapshot is None:
        return
    left = [writes]

    def meanwhile() -> None:
        left[0] -= 1
        if left[0] == -1:
            with world.losses.deciding_by(None), _reading(world, fresh=True):
                world.reconcile(target)

    _outdated(world, target, lambda _kind: snapshot, meanwhile)


def failing(world: World, target: str, applied: int) -> None:
    """Reconcile one XR, and let the API server fail after it applied a number of composed objects."""
    with _through(world, target, Failing(world.store, applied)):
        world.reconcile(target)


def denied(world: World, target: str, number: int) -> None:
    """Reconcile one XR, and deny one of the objects that it composes."""
    with _through(world, target, Denying(world.store, number)):
        world.reconcile(target)


def _snapshot(world: World, age: int) -> Store | None:
    snapshots = world.snapshots
    return snapshots[-min(age, len(snapshots))] if snapshots else None


def _answering(world: World, target: str, answer: Find) -> None:
    """Reconcile one XR, with other answers than those of the store. The watch wakes it when its cache catches up."""
    reconciler = world.control.loop.reconciler
    reconciler.find = answer
    try:
        with _reading(world, fresh=False):
            world.reconcile(target)
    finally:
        reconciler.find = reconciler.look_up
    world.control.loop.wake(located(target))


def _outdated(world: World, target: str, cache: Callable[[str], Store], before_write: Callable[[], None]) -> None:
    """Reconcile one XR by a cache. What it decides is judged by what it read, and by what there is."""
    loop, ref = world.control.loop, located(target)
    reconciler = Reconciler(Outdated(world.store, cache, before_write), loop.function, loop.step)
    reconciler.asked, reconciler.events = dict(loop.reconciler.asked), loop.reconciler.events
    reconciler.counts = loop.reconciler.counts
    try:
        with world.losses.deciding_by(cache), _reading(world, fresh=False):
            reconciler(ref)
    except Conflict:
        world.conflicts += 1
    loop.wake(ref)


@contextmanager
def _through(world: World, target: str, client: Client) -> Iterator[None]:
    """Let Crossplane write through a client. It tries again later what failed."""
    reconciler = world.control.loop.reconciler
    reconciler.store = client
    try:
        yield
    finally:
        reconciler.store = world.store
        world.control.loop.wake(located(target))


@contextmanager
def _reading(world: World, *, fresh: bool) -> Iterator[None]:
    """Reconcile by what there is, or by old reads."""
    before, world.decisions.is_fresh = world.decisions.is_fresh, fresh
    try:
        yield
    finally:
        world.decisions.is_fresh = before
