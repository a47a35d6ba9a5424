"""From a changed object to the XRs that it concerns: an index of what each XR composed and asked for.

Crossplane's dependency tracker is such an index (crossplane v2.4,
internal/controller/apiextensions/composite/dependency/tracker.go), and this one answers the same.

Terms. An XR *composes* the objects in its `resourceRefs`, and *asked for* what its last reconcile required. A
requirement is one *reference*: to an object by name, or to those with labels, or to all of a kind, each of them in one
namespace or in every one. An object *concerns* the XRs that refer to it; nothing else that they read counts.

A reference by name is one look-up. References by labels are indexed by one of their labels, the first in alphabetical
order, so that a changed object is compared only with selectors that share this label. Crossplane compares it with every
selector of the kind and namespace; the answer is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from function.core import Requirement
from function.sandbox.store import Ref, named

K = TypeVar("K")
_Labels = frozenset[tuple[str, str]]
_Scope = tuple[str, str, str | None, tuple[str, str] | None]
"""A kind, a namespace (None: any) and the label that selectors are indexed by (None: they have no labels)."""


@dataclass(frozen=True, slots=True)
class _Tracked:
    composed: Sequence[Ref]
    required: tuple[Requirement, ...]


_NOTHING = _Tracked((), ())


@dataclass(slots=True)
class Dependencies:
    """What each XR composed and asked for, and the way back."""

    _tracked: dict[Ref, _Tracked] = field(default_factory=dict)
    _composers: dict[Ref, set[Ref]] = field(default_factory=dict)
    _by_name: dict[Ref, set[Ref]] = field(default_factory=dict)
    _by_labels: dict[_Scope, dict[_Labels, set[Ref]]] = field(default_factory=dict)
    _selected: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By kind, how many references by labels there are: of most kinds, none."""

    def copied(self) -> Dependencies:
        """An independent copy."""
        return Dependencies(
            dict(self._tracked),
            {ref: set(xrs) for ref, xrs in self._composers.items()},
            {ref: set(xrs) for ref, xrs in self._by_name.items()},
            {s: {labels: set(xrs) for labels, xrs in found.items()} for s, found in self._by_labels.items()},
            Counter(self._selected),
        )

    def track(self, xr: Ref, composed: Sequence[Ref], required: tuple[Requirement, ...]) -> None:
        """Record what an XR depends on. Replaces what was recorded before."""
        before, now = self._tracked.get(xr, _NOTHING), _Tracked(composed, required)
        if before == now:
            return
        self.forget(xr)
        self._tracked[xr] = now
        for ref in composed:
            self._composers.setdefault(ref, set()).add(xr)
        for asked in required:
            if asked.match_name is not None:
                self._by_name.setdefault(named(asked), set()).add(xr)
            else:
                selectors = self._by_labels.setdefault(_scope(asked), {})
                selectors.setdefault(_labels(asked.match_labels), set()).add(xr)
                self._selected[asked.api_version, asked.kind] += 1

    def forget(self, xr: Ref) -> None:
        """Drop everything that an XR depends on."""
        tracked = self._tracked.pop(xr, _NOTHING)
        for ref in tracked.composed:
            _discard(self._composers, ref, xr)
        for asked in tracked.required:
            if asked.match_name is not None:
                _discard(self._by_name, named(asked), xr)
                continue
            self._let_go((asked.api_version, asked.kind))
            scope = _scope(asked)
            selectors = self._by_labels.get(scope, {})
            _discard(selectors, _labels(asked.match_labels), xr)
            if not selectors:
                self._by_labels.pop(scope, None)

    def _let_go(self, kind: tuple[str, str]) -> None:
        self._selected[kind] -= 1
        if not self._selected[kind]:
            del self._selected[kind]

    def composers(self, ref: Ref) -> set[Ref]:
        """The XRs that composed an object."""
        return self._composers.get(ref, set())

    def askers(self, ref: Ref, *labels: Mapping[str, str]) -> set[Ref]:
        """The XRs that asked for an object.

        Args:
            ref: The object.
            labels: Its labels; before and after a change.
        """
        found = set(self._by_name.get(ref, ()))
        if ref[:2] in self._selected:
            for had in {_labels(each) for each in labels}:
                found.update(*self._selecting(ref, had))
        return found

    def _selecting(self, ref: Ref, has: _Labels) -> Iterator[set[Ref]]:
        for namespace in {ref.namespace or None, None}:
            for label in chain((None,), has):
                selectors = self._by_labels.get((ref.api_version, ref.kind, namespace, label), {})
                yield from (xrs for wanted, xrs in selectors.items() if wanted <= has)


def _scope(asked: Requirement) -> _Scope:
    return asked.api_version, asked.kind, asked.namespace or None, min(asked.match_labels.items(), default=None)


def _labels(labels: Mapping[str, str]) -> _Labels:
    return frozenset(labels.items())


def _discard(index: dict[K, set[Ref]], key: K, xr: Ref) -> None:
    """Remove an XR from an entry of an index, and the entry with its last one."""
    found = index.get(key)
    if found is not None:
        found.discard(xr)
        if not found:
            del index[key]
