"""The difference between what clouds make before and after.

Resources are compared by kind and name: nothing that a cloud has made changes its name. A resource is changed if its
spec is, whether the cloud applies that in place or not. Whether it is ready yet is no change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from function.planning.infrastructure import Infrastructure, MadeResource


@dataclass(frozen=True, slots=True)
class InfrastructureChange:
    """An infrastructure before and after. `what` is new, kept, changed or gone."""

    what: str
    infrastructure: Infrastructure
    """The one afterwards, or before if it is gone."""
    created: tuple[MadeResource, ...]
    changed: tuple[MadeResource, ...]
    deleted: tuple[MadeResource, ...]

    @property
    def parts(self) -> Mapping[str, tuple[MadeResource, ...]]:
        """The resources that change, by how they do: new, changed or gone."""
        return {"new": self.created, "changed": self.changed, "gone": self.deleted}


def changes(before: Iterable[Infrastructure], after: Iterable[Infrastructure]) -> Iterator[InfrastructureChange]:
    """Yield every infrastructure of either, in order of the names of their clusters."""
    old, new = ({(made.cluster, made.kind, made.name): made for made in all_} for all_ in (before, after))
    for key in sorted({*old, *new}):
        yield _change(old.get(key), new.get(key))


def _change(old: Infrastructure | None, new: Infrastructure | None) -> InfrastructureChange:
    was, now = _resources(old), _resources(new)
    created = tuple(now[key] for key in sorted(now.keys() - was.keys()))
    deleted = tuple(was[key] for key in sorted(was.keys() - now.keys()))
    kept = sorted(was.keys() & now.keys())
    changed = tuple(now[key] for key in kept if was[key].revision != now[key].revision)
    shown = new or old
    assert shown is not None
    what = "new" if old is None else "gone" if new is None else "changed" if created or changed or deleted else "kept"
    return InfrastructureChange(what, shown, created, changed, deleted)


def _resources(made: Infrastructure | None) -> dict[tuple[str, str], MadeResource]:
    return {(resource.kind, resource.name): resource for resource in made.resources} if made else {}
