"""The control loop: reconciles every XR and calls the controllers, until nothing changes.

Terms. An XR has *news* if it was never reconciled, or if the XR, one of its composed resources or something that it
asked for has changed since its last reconcile. Something that it asked for *wakes* it. A *round* reconciles XRs that
have news, calls each controller once, and then runs the two built-in controllers, Usages and garbage collection. The
loop has *converged* when a round reconciles nothing and writes nothing, and no controller is at work.

`settle` repeats `round`, which has these phases:

1. `_due` selects the XRs with news. It keeps only those of the lowest level: a kind that reads others waits for them,
   since it would only have to read them again.
2. The reconciler runs for each (reconcile.py), once. Every change that it makes is looked up in an index of what the
   XRs composed and asked for (dependencies.py), which puts the XRs that it concerns into the queue (news.py).
3. Before each of them, the XRs of the kinds that go `ahead` of its kind and have news are reconciled again, once: what
   they publish is what it decides by. Changes that such an XR only made itself wait for the next round.
4. Each controller is called with the store (extensions.py).
5. Usages are reconciled and garbage is collected, as far as any change concerns them.

A round ends: it reconciles a fixed list of XRs, and before each of them, a kind that goes ahead at most once per XR.

Deliberately coarse. There is no time: no resync period, no retry delay, no TTL of a result. A round is a barrier, where
Crossplane reconciles concurrently; a `seed` shuffles the order instead, across all levels and with nothing ahead, so
that tests can look for races. An XR has news also if an object was written that it cannot tell from the one before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, dig, dig_objects, plain
from function.sandbox import dump
from function.sandbox.composed import referenced
from function.sandbox.counts import Counts
from function.sandbox.dependencies import Dependencies
from function.sandbox.errors import DidNotConverge
from function.sandbox.extensions import CompositionFunction, Controller
from function.sandbox.garbage import GarbageCollector
from function.sandbox.news import News
from function.sandbox.reconcile import Reconciler
from function.sandbox.store import Change, Ref, Store
from function.sandbox.usages import UsageReconciler

MOST_ROUNDS = 600
"""A fleet converges in about twenty rounds; a rollout adds some for each replica."""
_SHOWN = 5
_CROSSPLANES = ("crossplane.io/", "usage.crossplane.io/")


@dataclass(slots=True)
class ControlLoop:
    """A control cluster that runs Crossplane, a composition function and other controllers."""

    store: Store
    function: CompositionFunction
    controllers: tuple[Controller, ...] = ()
    """Called in this order at the end of each round."""
    step: str = "compose"
    """Name of the only step of every Composition; messages mention it."""
    seed: int | None = None
    """Shuffles the reconciles of each round, across all levels, and the deletes of each reconcile. None keeps the order
    of levels, kinds and names."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Levels by kind; 0 if absent. While an XR of a lower level has news, those of higher levels wait."""
    ahead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By kind, the kinds of lower levels that go ahead of each of its XRs."""
    progress: Callable[[int, int], None] = lambda _round, _left: None
    """Called before each reconcile with the number of the round and of the XRs that are left in it."""
    reconciler: Reconciler = field(init=False)
    _dependencies: Dependencies = field(default_factory=Dependencies)
    _news: News = field(default_factory=News)
    _changes: list[Change] = field(init=False)
    """What changed in the store and was not looked up yet."""
    _usages: UsageReconciler = field(init=False)
    _garbage: GarbageCollector = field(init=False)
    _random: random.Random = field(init=False)
    is_working: bool = False
    """Whether a controller was at work in the last round."""

    def __post_init__(self) -> None:
        self.reconciler = Reconciler(self.store, self.function, self.step)
        self._changes = self.store.feed()
        self._usages, self._garbage = UsageReconciler(self.store), GarbageCollector(self.store)
        self._random = random.Random(self.seed)  # noqa: S311  (an order, not a secret)
        if self.seed is not None:
            self.reconciler.shuffle = self._random.shuffle
        self.resync()

    def copied(
        self, store: Store, controllers: tuple[Controller, ...], function: CompositionFunction | None = None
    ) -> ControlLoop:
        """A loop at the same point, on a copy of the store and with copies of the controllers."""
        function = function or self.function
        other = ControlLoop(store, function, controllers, self.step, self.seed, self.levels, self.ahead, self.progress)
        other.reconciler.asked.update(self.reconciler.asked)
        other.reconciler.events.extend(self.reconciler.events)
        other.reconciler.counts, other.reconciler.weigh = self.counts, self.reconciler.weigh
        other._dependencies, other._news = self._dependencies.copied(), self._news.copied()
        other._changes.extend(self._changes)
        other._usages, other._garbage = self._usages.copied(store), self._garbage.copied(store)
        other._random.setstate(self._random.getstate())
        other.is_working = self.is_working
        return other

    @property
    def counts(self) -> Counts:
        """What the loop did so far. Subtract an earlier snapshot to get what it did since."""
        return self.reconciler.counts.copied()

    def resync(self) -> None:
        """Let every XR have news, as Crossplane does from time to time."""
        for kind in self.store.kinds.composites():
            for ref in self.store.refs(kind.api_version, kind.kind):
                self._news.add(ref)

    def wake(self, xr: Ref) -> None:
        """Let one XR have news, if it exists."""
        self._add(xr)

    def restart(self) -> None:
        """Let Crossplane start anew: it forgets what XRs asked for, and reconciles every one."""
        self.reconciler.asked.clear()
        self.resync()

    def shuffle(self, seed: int | None) -> None:
        """Choose the order of the reconciles that follow, as `seed` does when a loop is made."""
        self.seed = seed
        self.reconciler.shuffle = list.sort
        if seed is not None:
            self._random.seed(seed)
            self.reconciler.shuffle = self._random.shuffle

    def load(self, manifests: Iterable[Manifest]) -> None:
        """Store objects with their status and server-set metadata, as a restored dump.

        Owner references are completed both ways: an object from Git has no uid, and a composite from Git has no
        references, but the dump of what it composed implies both.

        Raises:
            Refused: Admission refuses an object.
        """
        for manifest in dump.linked([plain(m) for m in manifests], self.store.elsewhere):
            self.store.load(manifest)

    def replace(self, manifest: Manifest) -> None:
        """Edit an object as a user does: replace all but its status and the metadata that users do not write.

        Loads the object if it does not exist.

        Raises:
            Refused: Admission refuses the object.
        """
        ref = self.store.located(manifest)
        old = self.store.get(ref)
        if old is None:
            self.load([manifest])
            return
        edited = plain(manifest)
        metadata = {k: v for k, v in edited["metadata"].items() if k in ("labels", "annotations")}

        def edit(current: dict[str, Any]) -> None:
            crossplane = dig(current, "spec", "crossplane")
            current["metadata"].update(_edited_metadata(current["metadata"], metadata))
            for name in current.keys() - edited.keys() - {"status"}:
                del current[name]
            current.update({k: v for k, v in edited.items() if k not in ("metadata", "status")})
            if crossplane:
                current.setdefault("spec", {})["crossplane"] = crossplane

        self.store.update(ref, edit)

    def settle(self, most: int = MOST_ROUNDS) -> int:
        """Run rounds until one changes nothing.

        Returns:
            The number of rounds.

        Raises:
            DidNotConverge: The last round of `most` still changed something.
            Unreachable: The function cannot be called.
        """
        for count in range(1, most + 1):
            before = self.store.version
            if not self.round(count) and self.store.version == before and not self.is_working:
                return count
        raise DidNotConverge(self._still_changing(before, most))

    def round(self, count: int = 1) -> int:
        """Run one round; `count` is only its number for `progress`. Returns the number of reconciles."""
        due = self._due()
        reconciled = 0
        for index, ref in enumerate(due):
            self.progress(count, len(due) - index)
            first = self._ahead_of(ref)
            for xr in (*first, ref):
                self.reconcile(xr)
            reconciled += len(first) + 1
        self.work()
        return reconciled

    def work(self) -> None:
        """Call each controller once, and then the two that are built in."""
        at_work = [controller(self.store) for controller in self.controllers]
        self.is_working = any(at_work)
        self._usages()
        self._garbage()

    def reconcile(self, ref: Ref) -> None:
        """Reconcile one XR, whether or not it has news. Does nothing if it does not exist."""
        self._news.take(ref)
        self.reconciler(ref)
        self._track(ref)
        self._look_up(by=ref)

    def _track(self, ref: Ref) -> None:
        """Record what an XR refers to now, so that its own writes are news for it too, as in Crossplane."""
        xr = self.store.get(ref)
        if xr is None:
            self._dependencies.forget(ref)
            return
        composed = [referenced(xr, r) for r in dig_objects(xr, "spec", "crossplane", "resourceRefs")]
        self._dependencies.track(ref, composed, self.reconciler.asked.get(ref, ()))

    def _look_up(self, by: Ref | None = None) -> None:
        """Find the XRs that the latest changes concern. `by` is the XR whose reconcile made them."""
        for ref, *versions in self._changes:
            labels = [(m["metadata"].get("labels") or {}) for m in versions if m is not None]
            itself = {ref} if self.store.kinds.of(ref.api_version, ref.kind).is_composite else set()
            for xr in itself | self._dependencies.composers(ref):
                self._add(xr, own=xr == by)
            for xr in self._dependencies.askers(ref, *labels):
                self.reconciler.counts.wakes[xr.kind] += self._add(xr)
        self._changes.clear()

    def _add(self, xr: Ref, *, own: bool = False) -> bool:
        """Let an XR have news. Returns whether it had none."""
        if self.store.get(xr) is not None:
            return self._news.add(xr, own=own)
        self._news.take(xr)
        self._dependencies.forget(xr)
        return False

    def _due(self) -> list[Ref]:
        """The XRs that this round reconciles once each, in their order."""
        self._look_up()
        kinds = [*self._news.kinds()]
        if self.seed is not None:
            due = self._news.of(*kinds)
            self._random.shuffle(due)
            return due
        lowest = min(map(self._level, kinds), default=0)
        return self._news.of(*(kind for kind in kinds if self._level(kind) == lowest))

    def _ahead_of(self, ref: Ref) -> list[Ref]:
        """The XRs that are reconciled again right before another one."""
        kinds = self.ahead.get(ref.kind, ()) if self.seed is None else ()
        return self._news.from_others(*kinds)

    def _level(self, kind: str) -> int:
        return self.levels.get(kind, 0)

    def _still_changing(self, before: int, most: int) -> str:
        changing = [ref for ref, version in sorted(self.store.changed.items()) if version > before]
        shown = ", ".join(map(str, changing[:_SHOWN])) + (" …" if len(changing) > _SHOWN else "")
        return f"{len(changing)} objects still change after {most} rounds: {shown}"


def _edited_metadata(current: Manifest, edited: Manifest) -> dict[str, Any]:
    """Labels and annotations after an edit: the edited ones, and of the current ones only Crossplane's."""
    kept = {
        field: {k: v for k, v in (current.get(field) or {}).items() if k.startswith(_CROSSPLANES)}
        for field in ("labels", "annotations")
    }
    merged = {field: {**(edited.get(field) or {}), **own} for field, own in kept.items()}
    return {field: values for field, values in merged.items() if values or field in current}
