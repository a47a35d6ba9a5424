"""The control loop: reconciles every XR and calls the controllers, until nothing changes.

Terms. A *round* reconciles the XRs that have news, calls each controller once, and then runs the two built-in
controllers, Usages and garbage collection. An XR has *news* if it was never reconciled, or if the XR, one of its
composed resources or the answer to one of its requirements may have changed since its last reconcile. The loop has
*converged* when a round reconciles nothing and writes nothing.

`settle` repeats `round`, which has these phases:

1. `_due` selects the XRs with news. It keeps only those of the lowest level: a kind that reads others waits for them,
   since it would only have to read them again.
2. The reconciler runs for each (reconcile.py).
3. Each controller is called with the store (extensions.py).
4. Usages are reconciled and garbage is collected, if any change concerns them.

Deliberately coarse. There is no time: no resync period, no retry delay, no TTL of a result. A round is a barrier, where
Crossplane reconciles concurrently; a `seed` shuffles the order instead, so that tests can look for races. And *news* is
conservative: an XR may be reconciled without need, but is never forgotten.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, dig, plain
from function.sandbox import garbage, usages
from function.sandbox.errors import DidNotConverge
from function.sandbox.extensions import CompositionFunction, Controller
from function.sandbox.reconcile import Reconciler
from function.sandbox.store import Ref, Store

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
    """Shuffles the reconciles of each round, across all levels. None keeps the order of levels, kinds and names."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """Levels by kind; 0 if absent. While an XR of a lower level has news, those of higher levels wait."""
    progress: Callable[[int, int], None] = lambda _round, _left: None
    """Called before each reconcile with the number of the round and of the XRs that are left in it."""
    reconciler: Reconciler = field(init=False)
    _reconciled: dict[Ref, int] = field(default_factory=dict)
    """The store's version at each XR's last reconcile."""
    _usages_seen: int = 0
    """The store's version when Usages were last reconciled."""
    _garbage_seen: int = 0
    """The store's version when garbage was last collected."""
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.reconciler = Reconciler(self.store, self.function, self.step)
        self._random = random.Random(self.seed)  # noqa: S311  (an order, not a secret)

    def copied(self, store: Store, controllers: tuple[Controller, ...]) -> ControlLoop:
        """A loop at the same point, on a copy of the store and with copies of the controllers."""
        other = ControlLoop(store, self.function, controllers, self.step, self.seed, self.levels, self.progress)
        other.reconciler.asked.update(self.reconciler.asked)
        other.reconciler.events.extend(self.reconciler.events)
        other.reconciler.calls = self.reconciler.calls
        other._reconciled.update(self._reconciled)
        other._usages_seen, other._garbage_seen = self._usages_seen, self._garbage_seen
        other._random.setstate(self._random.getstate())
        return other

    def load(self, manifests: Iterable[Manifest]) -> None:
        """Store objects with their status and server-set metadata, as a restored dump.

        Owner references are completed both ways: an object from Git has no uid, and a composite from Git has no
        references, but the dump of what it composed implies both.

        Raises:
            Refused: Admission refuses an object.
        """
        for manifest in _linked([plain(m) for m in manifests], self.store.elsewhere):
            self.store.load(manifest)

    def replace(self, manifest: Manifest) -> None:
        """Edit an object as a user does: replace its spec, labels and annotations, and keep the rest.

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
            if not self.round(count) and self.store.version == before:
                return count
        raise DidNotConverge(self._still_changing(before, most))

    def round(self, count: int = 1) -> int:
        """Run one round; `count` is only its number for `progress`. Returns the number of reconciles."""
        due = self._due()
        for index, ref in enumerate(due):
            self.progress(count, len(due) - index)
            self._reconciled[ref] = self.store.version  # before it writes: its own writes wake it too, as in Crossplane
            self.reconciler(ref)
        for controller in self.controllers:
            controller(self.store)
        self._clean_up()
        return len(due)

    def _clean_up(self) -> None:
        """Reconcile Usages and collect garbage. Both read every object, so they run only if a change concerns them."""
        news, self._usages_seen = self.store.since(self._usages_seen), self.store.version
        if usages.concern(self.store, news):
            usages.reconcile_usages(self.store)
        news, self._garbage_seen = self.store.since(self._garbage_seen), self.store.version
        if garbage.concern(self.store, news):
            garbage.collect(self.store)

    def _due(self) -> list[Ref]:
        due = [ref for ref in self._composites() if self._has_news(ref)]
        if self.seed is not None:
            self._random.shuffle(due)
            return due
        lowest = min((self._level(ref) for ref in due), default=0)
        return [ref for ref in due if self._level(ref) == lowest]

    def _level(self, ref: Ref) -> int:
        return self.levels.get(ref.kind, 0)

    def _composites(self) -> list[Ref]:
        kinds = self.store.kinds.composites()
        return [ref for kind in kinds for ref in self.store.refs(kind.api_version, kind.kind)]

    def _has_news(self, ref: Ref) -> bool:
        last = self._reconciled.get(ref)
        if last is None:
            return True
        changed = self.store.changed
        if changed.get(ref, 0) > last:
            return True
        xr = self.store.get(ref) or {}
        references = dig(xr, "spec", "crossplane", "resourceRefs") or ()
        composed = (
            Ref(r["apiVersion"], r["kind"], ref.namespace or r.get("namespace") or "", r["name"]) for r in references
        )
        asked = self.reconciler.asked.get(ref, ())
        return any(changed.get(c, 0) > last for c in composed) or any(self.store.answer_changed(a, last) for a in asked)

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


def _linked(
    manifests: Sequence[dict[str, Any]], elsewhere: dict[tuple[str, str, str], str]
) -> Sequence[dict[str, Any]]:
    """Link the objects of a dump with their owners, in both directions. Changes the manifests.

    An owner that is not in the dump is added to `elsewhere`; one that arrives now is removed from there.
    """
    by_name = {_key(m["kind"], m): m for m in manifests}
    for name in list(elsewhere):
        found = by_name.get(name) or by_name.get((name[0], "", name[2]))
        if found:
            found["metadata"].setdefault("uid", elsewhere.pop(name))
    for manifest in manifests:
        for reference in manifest["metadata"].get("ownerReferences") or ():
            reference["uid"] = reference.get("uid") or _derived_uid(reference, manifest)
            owner = _owner(reference, manifest, by_name)
            if owner:
                _link(owner, reference, manifest)
            else:
                elsewhere[_owner_key(reference, manifest)] = reference["uid"]
    return manifests


def _derived_uid(reference: Manifest, owned: Manifest) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "\x00".join(_owner_key(reference, owned))))


def _owner_key(reference: Manifest, owned: Manifest) -> tuple[str, str, str]:
    """An owner's kind, namespace and name, assuming that it is in the namespace of the owned object."""
    namespace = owned["metadata"].get("namespace") or ""
    return str(reference.get("kind") or ""), namespace, str(reference.get("name") or "")


def _key(kind: str, manifest: Manifest) -> tuple[str, str, str]:
    return kind, manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"]


def _owner(
    owner: Manifest, owned: Manifest, by_name: dict[tuple[str, str, str], dict[str, Any]]
) -> dict[str, Any] | None:
    """Find an owner. It is in the namespace of the owned object, or cluster-scoped."""
    namespace = owned["metadata"].get("namespace") or ""
    name = owner.get("name") or ""
    kind = owner.get("kind") or ""
    return by_name.get((kind, namespace, name)) or by_name.get((kind, "", name))


def _link(owner: dict[str, Any], reference: Manifest, owned: Manifest) -> None:
    owner["metadata"].setdefault("uid", reference.get("uid"))
    if not reference.get("controller"):
        return
    refs = owner.setdefault("spec", {}).setdefault("crossplane", {}).setdefault("resourceRefs", [])
    found = {"apiVersion": owned["apiVersion"], "kind": owned["kind"], "name": owned["metadata"]["name"]}
    if owned["metadata"].get("namespace") and not owner["metadata"].get("namespace"):
        found["namespace"] = owned["metadata"]["namespace"]
    if found not in refs:
        refs.append(found)
