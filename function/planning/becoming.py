"""What the objects of a fleet become: the manifests on each inference cluster, on the control cluster and in clouds.

Terms. The *origin* of a manifest is the object that somebody wrote and that it is a part of: of a replica's Deployment,
the ModelDeployment. Composites of ours between the two are left out, and so are Usages, which order deletions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from function.core import Manifest, controller
from function.planning import differences, sensitive
from function.sandbox.store import Ref, Store, ref_of


@dataclass(frozen=True, slots=True)
class Becomes:
    """A manifest that an object becomes."""

    where: str
    """The inference cluster, or differences.CONTROL_CLUSTER."""
    origin: Ref
    composite: Ref
    """The composite that composes it: the origin, or one of ours between the two."""
    manifest: Manifest
    """Without secrets. What is known after apply is marked."""


def read(store: Store) -> list[Becomes]:
    """Everything that the objects of a store become, by cluster, origin, composite, kind and name."""
    owners = _Owners({str(manifest["metadata"]["uid"]): manifest for manifest in store.all()})
    clusters = differences.clusters(store)
    found = (
        _becomes(store, manifest, owner, differences.where(manifest, clusters), owners)
        for manifest in store.all()
        if differences.is_manifest(store, manifest) and (owner := owners.of(manifest)) is not None
    )
    return sorted(found, key=lambda one: (one.where == differences.CONTROL_CLUSTER, one.where, *_order(one)))


def _order(one: Becomes) -> tuple[Ref, Ref, Ref]:
    return one.origin, one.composite, ref_of(one.manifest)


def _becomes(store: Store, manifest: Manifest, owner: Manifest, where: str, owners: _Owners) -> Becomes:
    shown = store.invented.marked_in(sensitive.masked(differences.content(manifest)))
    return Becomes(where, ref_of(owners.origin(owner)), ref_of(owner), shown)


@dataclass(frozen=True, slots=True)
class _Owners:
    """Objects by uid."""

    by_uid: Mapping[str, Manifest]

    def of(self, manifest: Manifest) -> Manifest | None:
        """The composite that composed an object; None if nobody did, or it is not there."""
        owner = controller(manifest["metadata"])
        return self.by_uid.get(str(owner["uid"])) if owner else None

    def origin(self, composite: Manifest) -> Manifest:
        """The object at the top. Owner references have no cycles: an owner is older."""
        *_, top = self._above(composite)
        return top

    def _above(self, composite: Manifest) -> Iterator[Manifest]:
        seen: set[str] = set()
        found: Manifest | None = composite
        while found is not None and found["metadata"]["uid"] not in seen:
            seen.add(found["metadata"]["uid"])
            yield found
            found = self.of(found)
