"""What the objects of a fleet become: the manifests on each inference cluster, on the control cluster and in clouds.

Terms. The *origin* of a manifest is the object that somebody wrote and that it is a part of: of a replica's Deployment,
the ModelDeployment. Composites of ours between the two are left out, and so are Usages, which order deletions.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    return sorted(_read(store), key=lambda one: (one.where == differences.CONTROL_CLUSTER, one.where, *_order(one)))


def _order(one: Becomes) -> tuple[Ref, Ref, Ref]:
    return one.origin, one.composite, ref_of(one.manifest)


def _read(store: Store) -> Iterator[Becomes]:
    clusters = differences.clusters(store)
    for manifest in store.all():
        owner = controller(manifest["metadata"])
        if owner is None or not differences.is_manifest(store, manifest):
            continue
        composite = differences.reference(store, owner, manifest["metadata"].get("namespace") or "")
        yield Becomes(
            where=differences.where(manifest, clusters),
            origin=differences.origin(store, composite),
            composite=composite,
            manifest=store.invented.marked_in(sensitive.masked(differences.content(manifest))),
        )
