"""The whole control plane: every XR reconciled, every cluster answering, until nothing changes."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, dig, plain
from function.sandbox import garbage, usages
from function.sandbox.reconcile import Reconciler
from function.sandbox.settle import Compose
from function.sandbox.store import Ref, Store

MOST_ROUNDS = 600
"""A fleet is settled after some twenty; a rollout takes some more for each replica."""
_SHOWN = 5
_CROSSPLANES = ("crossplane.io/", "usage.crossplane.io/")

Answer = Callable[[Store], None]
"""What lies beyond the control cluster: reads what was composed, and writes the status that it would get."""


class Restless(Exception):
    """The world did not come to rest; says what keeps changing."""


@dataclass(slots=True)
class World:
    """A control cluster with Crossplane and our function, and the clusters behind it."""

    store: Store
    compose: Compose
    answer: Answer = lambda _store: None
    seed: int | None = None
    """Shuffles the reconciles of each round, of all kinds at once. None is the order of levels, kinds and names."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """By kind. While a kind of a lower level has news, those above wait: they would only have to look again."""
    progress: Callable[[int, int], None] = lambda _round, _left: None
    reconciler: Reconciler = field(init=False)
    _seen: dict[Ref, int] = field(default_factory=dict)
    """The store's version when each XR was last looked at."""
    _tended: int = 0
    """The store's version when Usages were last looked at."""
    _collected: int = 0
    """The store's version when garbage was last looked for."""
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.reconciler = Reconciler(self.store, self.compose)
        self._random = random.Random(self.seed)  # noqa: S311  (an order, not a secret)

    def copied(self, store: Store, answer: Answer) -> World:
        """The same world, at the same point, on a copy of its store and with copies of its clusters."""
        other = World(store, self.compose, answer, self.seed, self.levels, self.progress)
        other.reconciler.asked.update(self.reconciler.asked)
        other.reconciler.events.extend(self.reconciler.events)
        other.reconciler.calls = self.reconciler.calls
        other._seen.update(self._seen)
        other._tended, other._collected = self._tended, self._collected
        other._random.setstate(self._random.getstate())
        return other

    def load(self, manifests: Iterable[Manifest]) -> None:
        """Take objects as they are. Raises Refused."""
        for manifest in _linked([plain(m) for m in manifests], self.store.elsewhere):
            self.store.load(manifest)

    def replace(self, manifest: Manifest) -> None:
        """What a user's edit does: the whole spec anew, and the rest as it stands. Raises Refused."""
        ref = self.store.located(manifest)
        old = self.store.get(ref)
        if old is None:
            self.load([manifest])
            return
        edited = plain(manifest)
        metadata = {k: v for k, v in edited["metadata"].items() if k in ("labels", "annotations")}

        def edit(standing: dict[str, Any]) -> None:
            crossplane = dig(standing, "spec", "crossplane")
            standing["metadata"].update(_over(standing["metadata"], metadata))
            standing.update({k: v for k, v in edited.items() if k not in ("metadata", "status")})
            if crossplane:
                standing.setdefault("spec", {})["crossplane"] = crossplane

        self.store.update(ref, edit)

    def settle(self, most: int = MOST_ROUNDS) -> int:
        """Reconcile until nothing changes; returns the number of rounds. Raises Restless."""
        for count in range(1, most + 1):
            before = self.store.version
            if not self.round(count) and self.store.version == before:
                return count
        raise Restless(self._restless(before))

    def round(self, count: int = 1) -> int:
        """Reconcile what has something new to read, then let the clusters answer. Returns how many were reconciled."""
        waiting = self._due()
        for index, ref in enumerate(waiting):
            self.progress(count, len(waiting) - index)
            self._seen[ref] = self.store.version  # ahead of what it writes: Crossplane wakes it for that too
            self.reconciler(ref)
        self.answer(self.store)
        self._clean_up()
        return len(waiting)

    def _clean_up(self) -> None:
        """Usages and garbage, where anything changed that is their business."""
        news, self._tended = self.store.since(self._tended), self.store.version
        if usages.concern(self.store, news):
            usages.tend(self.store)
        news, self._collected = self.store.since(self._collected), self.store.version
        if garbage.concern(self.store, news):
            garbage.collect(self.store)

    def _due(self) -> list[Ref]:
        waiting = [ref for ref in self._composites() if self._has_news(ref)]
        if self.seed is not None:
            self._random.shuffle(waiting)
            return waiting
        lowest = min((self._level(ref) for ref in waiting), default=0)
        return [ref for ref in waiting if self._level(ref) == lowest]

    def _level(self, ref: Ref) -> int:
        return self.levels.get(ref.kind, 0)

    def _composites(self) -> list[Ref]:
        kinds = self.store.kinds.composites()
        return [ref for kind in kinds for ref in self.store.refs(kind.api_version, kind.kind)]

    def _has_news(self, ref: Ref) -> bool:
        seen = self._seen.get(ref)
        if seen is None:
            return True
        changed = self.store.changed
        if changed.get(ref, 0) > seen:
            return True
        xr = self.store.get(ref) or {}
        references = dig(xr, "spec", "crossplane", "resourceRefs") or ()
        composed = (
            Ref(r["apiVersion"], r["kind"], ref.namespace or r.get("namespace") or "", r["name"]) for r in references
        )
        asked = self.reconciler.asked.get(ref, ())
        return any(changed.get(c, 0) > seen for c in composed) or any(self.store.answer_changed(a, seen) for a in asked)

    def _restless(self, before: int) -> str:
        moving = [ref for ref, version in sorted(self.store.changed.items()) if version > before]
        shown = ", ".join(map(str, moving[:_SHOWN])) + (" …" if len(moving) > _SHOWN else "")
        return f"{len(moving)} objects still change after {MOST_ROUNDS} rounds: {shown}"


def _over(standing: Manifest, edited: Manifest) -> dict[str, Any]:
    """Labels and annotations of an edit, and of those that stand only Crossplane's own."""
    kept = {
        field: {k: v for k, v in (standing.get(field) or {}).items() if k.startswith(_CROSSPLANES)}
        for field in ("labels", "annotations")
    }
    merged = {field: {**(edited.get(field) or {}), **own} for field, own in kept.items()}
    return {field: values for field, values in merged.items() if values or field in standing}


def _linked(
    manifests: Sequence[dict[str, Any]], elsewhere: dict[tuple[str, str, str], str]
) -> Sequence[dict[str, Any]]:
    """Objects of a dump with owners that know them. An owner that is not in the dump is noted in `elsewhere`.

    An object from Git has no uid and no references; the dump of what it composed tells both.
    """
    by_name = {_named(m["kind"], m): m for m in manifests}
    for name in list(elsewhere):
        found = by_name.get(name) or by_name.get((name[0], "", name[2]))
        if found:
            found["metadata"].setdefault("uid", elsewhere.pop(name))
    for manifest in manifests:
        for reference in manifest["metadata"].get("ownerReferences") or ():
            reference["uid"] = reference.get("uid") or _made_up_uid(reference, manifest)
            owner = _owner(reference, manifest, by_name)
            if owner:
                _link(owner, reference, manifest)
            else:
                elsewhere[_name_of(reference, manifest)] = reference["uid"]
    return manifests


def _made_up_uid(reference: Manifest, owned: Manifest) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "\x00".join(_name_of(reference, owned))))


def _name_of(reference: Manifest, owned: Manifest) -> tuple[str, str, str]:
    """An owner's kind, namespace and name, as if it were in the namespace of what it owns."""
    namespace = owned["metadata"].get("namespace") or ""
    return str(reference.get("kind") or ""), namespace, str(reference.get("name") or "")


def _named(kind: str, manifest: Manifest) -> tuple[str, str, str]:
    return kind, manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"]


def _owner(
    owner: Manifest, owned: Manifest, by_name: dict[tuple[str, str, str], dict[str, Any]]
) -> dict[str, Any] | None:
    """An owner is in the namespace of what it owns, or in none."""
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
