"""What clouds make for the InferenceClusters of a fleet, as plain data: part of the outcome of a plan.

Terms. An *infrastructure* is a composite by which a cloud makes a cluster, such as an EKSCluster, with what that
composed: managed resources of the cloud, and Objects and Releases on the cluster. Usages order deletions and are
nothing in the cloud, so they are only counted.

`Reader` reads only what changed since the last time. An object belongs to the infrastructure whose uid its controller
reference names, which may be read before or after it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from function import clouds
from function.core import Manifest, controller, dig, dig_list, identity, is_ready, plain
from function.sandbox.store import Ref, Store
from function.vocabulary import versions

_COMPOSITES = frozenset((model.API_VERSION, model.KIND) for model in clouds.kinds())
_OBJECT, _RELEASE = (versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release")
_USAGE = (versions.PROTECTION, "Usage")
_PARTS = frozenset(
    (*((kind.api_version, kind.kind) for kind in clouds.managed_kinds()), _OBJECT, _RELEASE, _USAGE),
)
"""Kinds that composites compose."""


@dataclass(frozen=True, slots=True, order=True)
class MadeResource:
    """Something that a cloud's composite composed."""

    kind: str
    """Its kind; of an Object, the kind of what it holds."""
    name: str
    on_cluster: bool
    """Whether it is on the cluster, rather than in the cloud."""
    ready: bool
    revision: str
    """A digest of its spec."""


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """What a cloud makes for an InferenceCluster."""

    cluster: str
    kind: str
    """Kind of the composite, such as EKSCluster."""
    name: str
    ready: bool
    pools: tuple[str, ...]
    """Node pools that the cloud is asked for."""
    resources: tuple[MadeResource, ...]
    """In order of kinds and names."""
    usages: int


def read(store: Store) -> tuple[Infrastructure, ...]:
    """Return the infrastructures of a store, in order of their names."""
    composites = [ref for kind in sorted(_COMPOSITES) for ref in store.refs(*kind)]
    if not composites:
        return ()
    parts = [ref for kind in sorted(_PARTS) for ref in store.refs(*kind)]
    return Reader().read(store, [*composites, *parts])


@dataclass(slots=True)
class Reader:
    """Reads the infrastructures of one store again and again."""

    _found: dict[Ref, Infrastructure] = field(default_factory=dict)
    _composites: dict[str, Ref] = field(default_factory=dict)
    """The composite with each uid."""
    _parts: dict[str, dict[Ref, MadeResource | None]] = field(default_factory=dict)
    """By the uid of their composite, what was composed; None for a Usage."""
    _owners: dict[Ref, str] = field(default_factory=dict)
    """The uid of the composite that composed each object."""

    def copied(self) -> Reader:
        """A reader at the same point, for a copy of the store."""
        return replace(
            self,
            _found=dict(self._found),
            _composites=dict(self._composites),
            _parts={uid: dict(parts) for uid, parts in self._parts.items()},
            _owners=dict(self._owners),
        )

    def read(self, store: Store, news: Iterable[Ref]) -> tuple[Infrastructure, ...]:
        """Return all infrastructures, given the objects that changed since the last call."""
        uids: set[str] = set()
        for ref in news:
            if ref[:2] in _COMPOSITES:
                uids |= self._note_composite(store, ref)
            elif ref[:2] in _PARTS:
                uids |= self._note_part(store, ref)
        for uid in uids & self._composites.keys():
            self._read(store, self._composites[uid], self._parts.get(uid, {}))
        return tuple(self._found[ref] for ref in sorted(self._found))

    def _note_composite(self, store: Store, ref: Ref) -> set[str]:
        found = store.get(ref)
        if found is None:
            self._found.pop(ref, None)
            self._composites = {uid: other for uid, other in self._composites.items() if other != ref}
            return set()
        uid = str(dig(found, "metadata", "uid"))
        self._composites[uid] = ref
        return {uid}

    def _note_part(self, store: Store, ref: Ref) -> set[str]:
        """Note an object. Returns the uids of the composites that composed it before, and that do now."""
        before = self._owners.pop(ref, None)
        if before is not None:
            self._parts[before].pop(ref)
        found = store.get(ref)
        now = _owner(found) if found is not None else None
        if found is not None and now is not None:
            self._owners[ref] = now
            self._parts.setdefault(now, {})[ref] = None if ref[:2] == _USAGE else _part(found)
        return {uid for uid in (before, now) if uid is not None}

    def _read(self, store: Store, ref: Ref, parts: Mapping[Ref, MadeResource | None]) -> None:
        """Make an infrastructure anew, unless it is equal to the one before."""
        manifest = store.get(ref)
        assert manifest is not None, ref
        made = _infrastructure(manifest, parts.values())
        if self._found.get(ref) != made:
            self._found[ref] = made


def _owner(manifest: Manifest) -> str | None:
    """The uid of the composite that composed an object; None for one that something else composed."""
    owner = controller(manifest["metadata"])
    if owner is None or (owner.get("apiVersion"), owner.get("kind")) not in _COMPOSITES:
        return None
    return str(owner.get("uid"))


def _infrastructure(manifest: Manifest, parts: Iterable[MadeResource | None]) -> Infrastructure:
    listed = list(parts)
    return Infrastructure(
        cluster=str(dig(manifest, "spec", "clusterName") or ""),
        kind=manifest["kind"],
        name=identity(manifest).name,
        ready=is_ready(manifest),
        pools=tuple(str(dig(pool, "name")) for pool in dig_list(manifest, "spec", "nodePools")),
        resources=tuple(sorted(part for part in listed if part is not None)),
        usages=listed.count(None),
    )


def _part(manifest: Manifest) -> MadeResource:
    kind = manifest["kind"]
    if (manifest["apiVersion"], kind) == _OBJECT:
        kind = str(dig(manifest, "spec", "forProvider", "manifest", "kind"))
    return MadeResource(
        kind=kind,
        name=identity(manifest).name,
        on_cluster=(manifest["apiVersion"], manifest["kind"]) in (_OBJECT, _RELEASE),
        ready=is_ready(manifest),
        revision=_digest(manifest.get("spec")),
    )


def _digest(spec: Any) -> str:
    return hashlib.sha256(json.dumps(plain(spec), sort_keys=True).encode()).hexdigest()[:8]
