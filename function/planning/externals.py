"""What clouds have of managed resources, and who uses what.

Terms. The *external* of a managed resource is what the cloud has of it. One *uses* another if its manifest refers to
that by name, or holds that one's id as a value: what it is called in the cloud, where it has no other id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import Manifest, condition_true, controller, dig, plain
from function.core.manifest import is_list
from function.manifests import managed
from function.sandbox import fields
from function.sandbox.store import Ref, Store, ref_of


@dataclass(frozen=True, slots=True)
class External:
    """What the cloud has of one managed resource. It is *made* once it has a name in the cloud."""

    for_provider: Manifest
    """spec.forProvider as the cloud has it."""
    uses: frozenset[Ref] = frozenset()
    """The managed resources that it refers to."""
    looks: int = 0
    """How often its provider has looked since the creation was requested."""
    is_made: bool = False
    is_ready: bool = False
    is_leaving: bool = False
    """Whether its deletion was requested."""
    reported: Mapping[str, Any] = field(default_factory=dict)
    """The status.atProvider with which it was loaded: a dump knows better than we do what the cloud has."""


@dataclass(slots=True)
class Externals:
    """What all clouds have, by managed resource. That of one which was lost remains: no cloud hears of it."""

    there: dict[Ref, External] = field(default_factory=dict)
    _users: dict[Ref, set[Ref]] = field(default_factory=dict)
    """By managed resource, those whose external refers to it."""

    def copied(self) -> Externals:
        """An independent copy."""
        return Externals(dict(self.there), {ref: set(users) for ref, users in self._users.items()})

    def get(self, ref: Ref) -> External | None:
        """What the cloud has of a managed resource; None if it has nothing."""
        return self.there.get(ref)

    def is_made(self, ref: Ref) -> bool:
        """Whether the cloud has made it."""
        found = self.there.get(ref)
        return found is not None and found.is_made

    def put(self, ref: Ref, external: External) -> None:
        """Keep what the cloud has of a managed resource now."""
        self._unlink(ref)
        self.there[ref] = external
        for used in external.uses:
            self._users.setdefault(used, set()).add(ref)

    def change(self, ref: Ref, **changed: Any) -> None:
        """Change something that the cloud has, other than what it uses."""
        self.there[ref] = replace(self.there[ref], **changed)

    def remove(self, ref: Ref) -> None:
        """Forget what the cloud has deleted."""
        self._unlink(ref)
        del self.there[ref]

    def _unlink(self, ref: Ref) -> None:
        before = self.there.get(ref)
        for used in before.uses if before else ():
            self._users[used].discard(ref)

    def users(self, store: Store, manifest: Manifest) -> list[Ref]:
        """The managed resources that use one in the cloud: those that refer to it, and siblings that hold its id."""
        ref = ref_of(manifest)
        found = {user for user in self._users.get(ref, ()) if user in self.there}
        id_ = dig(manifest, "status", "atProvider", "id") or managed.external_name(manifest)
        for sibling in _siblings(store, manifest):
            external = self.there.get(sibling)
            if external and sibling != ref and any(text == id_ for text in texts(external.for_provider)):
                found.add(sibling)
        return sorted(found)


def adopted(manifest: Manifest, uses: frozenset[Ref]) -> External | None:
    """Return what the cloud has of a managed resource that was loaded as it was found; None if it has nothing."""
    reported = dig(manifest, "status", "atProvider")
    if not reported and not condition_true(manifest, "Ready"):
        return None
    is_ready = condition_true(manifest, "Ready")
    wanted = plain(dig(manifest, "spec", "forProvider") or {})
    return External(wanted, uses, is_made=True, is_ready=is_ready, reported=plain(reported or {}))


def _siblings(store: Store, manifest: Manifest) -> Iterator[Ref]:
    """The objects of the same controller: values that are read from one resource are written into these only."""
    owner = controller(manifest["metadata"])
    if owner:
        yield from (ref_of(m) for m in store.having(fields.OWNER, str(owner["uid"])))


def texts(value: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for child in value.values():
            yield from texts(child)
    elif is_list(value):
        for child in value:
            yield from texts(child)
