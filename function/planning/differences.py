"""The differences between two states of a control plane: what was edited, and which manifests that changes.

Terms. An *edit* is a difference in an object that nobody composed: one that somebody wrote. A *manifest* is what a
composite becomes in the end: an object on an inference cluster, on the control cluster or in a cloud. Composites of
ours between the two, such as ModelReplicas, are neither, and nor are Usages, which order deletions.

Phases of `read`:

1. Of the objects that changed in the store between the states, take the two versions. Nothing else is read.
2. Sort them into edits and manifests, without what a server or a controller adds, and with stand-ins for what is
   sensitive (sensitive.py).
3. Compare the fields (field_changes.py). Objects without a difference are left out.

A manifest that is replaced by another under the same composition key is one that changed, whatever its name. Those of
a composite that comes or goes are left out: `modelplane manifests` shows them, and other parts of a plan list the
composite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from function.core import Manifest, NamespacedName, controller, dig, dig_fields
from function.planning import field_changes, provider
from function.planning.applying import LAST_APPLIED
from function.planning.field_changes import FieldChange
from function.planning.sensitive import Tokens, masked
from function.sandbox import fields as indexed
from function.sandbox.store import Ref, Store
from function.vocabulary import crossplane, labels, names, versions

CONTROL_CLUSTER = "the control cluster"
_ADDED = {
    "labels": (crossplane.COMPOSITE,),
    "annotations": (
        crossplane.COMPOSITION_KEY,
        crossplane.EXTERNAL_NAME,
        crossplane.DELETION_ATTEMPT,
        labels.MANIFEST_HASH,
        LAST_APPLIED,
    ),
}
"""Labels and annotations that nobody wrote, or that follow from the rest."""
_KEPT = ("name", "namespace", "labels", "annotations")
_OBJECT, _RELEASE = (versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release")


@dataclass(frozen=True, slots=True)
class Edit:
    """An object that somebody wrote, and that differs. `what` is new, changed or gone."""

    what: str
    kind: str
    name: NamespacedName
    fields: tuple[FieldChange, ...]
    composes: bool
    """Whether it composes anything itself, as a ModelDeployment does and an InferenceClass does not."""


@dataclass(frozen=True, slots=True)
class ManifestChange:
    """A manifest that differs. `what` is new, changed or gone."""

    what: str
    where: str
    """The inference cluster, or CONTROL_CLUSTER."""
    kind: str
    name: NamespacedName
    owner: Ref
    """The composite that it belongs to."""
    origin: Ref
    """What somebody wrote: the owner, or what that follows from."""
    before: Manifest | None
    after: Manifest | None
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """Everything that differs, in order of kinds and names."""

    edits: tuple[Edit, ...] = ()
    manifests: tuple[ManifestChange, ...] = ()

    @property
    def edited(self) -> frozenset[tuple[str, NamespacedName]]:
        """Kind and name of what was edited."""
        return frozenset((edit.kind, edit.name) for edit in self.edits)

    @property
    def direct(self) -> tuple[tuple[ManifestChange, bool], ...]:
        """The manifests, each with whether it changes because what it is a part of was edited.

        An edit of what composes nothing, such as an InferenceClass, changes parts of others: then all count as direct.
        """
        edited, are_whole = self.edited, all(edit.composes for edit in self.edits)
        return tuple(
            (one, not are_whole or (one.origin.kind, NamespacedName(*one.origin[2:])) in edited)
            for one in self.manifests
        )


def read(before: Store, after: Store, *, is_settled: bool) -> Differences:
    """Read the differences between two states.

    Args:
        before: A copy of the store, from before.
        after: The store.
        is_settled: Whether everything was composed before, too. Otherwise, what is new says nothing.
    """
    reader = _Reader(before, after, is_settled=is_settled)
    refs = sorted(after.since(before.version))
    return Differences(tuple(reader.edits(refs)), tuple(reader.manifests(refs)))


@dataclass(slots=True)
class _Reader:
    before: Store
    after: Store
    is_settled: bool
    tokens: Tokens = field(default_factory=Tokens)
    _clusters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._clusters = clusters(self.before, self.after)

    def edits(self, refs: Iterable[Ref]) -> Iterator[Edit]:
        for ref in refs:
            was, now = self.before.get(ref), self.after.get(ref)
            known = now or was
            if known is None or controller(known["metadata"]) or not (self.is_settled or (was and now)):
                continue
            first, then = self._contents(was, now)
            if first != then:
                name = NamespacedName(ref.namespace, ref.name)
                yield Edit(_what(was, now), ref.kind, name, _fields(first, then), self._composes(known))

    def _composes(self, manifest: Manifest) -> bool:
        uid = str(manifest["metadata"]["uid"])
        return any(store.having(indexed.OWNER, uid) for store in (self.before, self.after))

    def manifests(self, refs: Iterable[Ref]) -> Iterator[ManifestChange]:
        for owner, was, now in self._paired(refs):
            first, then = self._contents(was, now)
            if first == then:
                continue
            shown = then or first or {}
            metadata = shown["metadata"]
            yield ManifestChange(
                what=_what(was, now),
                where=where(now or was or {}, self._clusters),
                kind=shown["kind"],
                name=NamespacedName(metadata.get("namespace") or "", metadata["name"]),
                owner=owner,
                origin=origin(self.after, owner),
                before=first,
                after=then,
                fields=_fields(first, then),
            )

    def _paired(self, refs: Iterable[Ref]) -> Iterator[tuple[Ref, Manifest | None, Manifest | None]]:
        """Yield the versions of what each composite composed under each of its keys.

        Some keys and names end in a digest of the content, so the key counts without it, where that is unique.
        """
        pairs: dict[tuple[str, ...], list[Manifest | None]] = {}
        owners: dict[tuple[str, ...], Ref] = {}
        for ref in refs:
            for at, version in enumerate((self.before.get(ref), self.after.get(ref))):
                owner = controller(version["metadata"]) if version is not None else None
                if version is None or owner is None or not is_manifest(self.after, version):
                    continue
                key = str(owner.get("uid")), _key(version, ref)
                pairs.setdefault(key, [None, None])[at] = version
                owners[key] = reference(self.after, owner, ref.namespace)
        for found, (was, now) in _joined(pairs).items():
            if (was and now) or (self.is_settled and self._stays(owners[found])):
                yield owners[found], was, now

    def _stays(self, owner: Ref) -> bool:
        return self.before.get(owner) is not None and self.after.get(owner) is not None

    def _contents(self, was: Manifest | None, now: Manifest | None) -> tuple[Manifest | None, Manifest | None]:
        """The content of both versions, with stand-ins for what is sensitive. Most versions differ in status alone."""
        first, then = (None if version is None else content(version) for version in (was, now))
        return (None, None) if first == then else (self._hidden(first), self._hidden(then))

    def _hidden(self, found: Manifest | None) -> Manifest | None:
        """A manifest with stand-ins for what is not shown. What was made up for either state is known later."""
        marked = self.after.invented.marked_in(masked(found, self.tokens.hide), self.tokens.later)
        return None if marked is None else dict(marked)


_CLUSTER = (versions.MODELPLANE, "InferenceCluster")


def clusters(*stores: Store) -> Mapping[str, str]:
    """The names of the inference clusters, by their provider configs."""
    return {names.provider_config(ref.name): ref.name for store in stores for ref in store.refs(*_CLUSTER)}


def where(manifest: Manifest, known: Mapping[str, str]) -> str:
    """Return where the object is that a composed resource stands for: an inference cluster, or CONTROL_CLUSTER."""
    if (manifest["apiVersion"], manifest["kind"]) not in (_OBJECT, _RELEASE):
        return CONTROL_CLUSTER
    return known.get(provider.config(manifest), CONTROL_CLUSTER)


def origin(store: Store, composite: Ref) -> Ref:
    """Return the object at the top of what composed a composite."""
    passed: set[Ref] = set()
    while composite not in passed:  # a file may contain owner references in a circle
        passed.add(composite)
        found = store.get(composite)
        owner = controller(found["metadata"]) if found is not None else None
        composite = reference(store, owner, composite.namespace) if owner else composite
    return composite


def reference(store: Store, owner: Manifest, namespace: str) -> Ref:
    """Return the composite of an owner reference in an object of a namespace. One with a namespace composes only into
    that."""
    api_version, kind = str(owner["apiVersion"]), str(owner["kind"])
    is_namespaced = store.kinds.of(api_version, kind).namespaced
    return Ref(api_version, kind, namespace if is_namespaced else "", str(owner["name"]))


def is_manifest(store: Store, manifest: Manifest) -> bool:
    """Whether a composed resource is a manifest: no composite of ours, and no Usage."""
    api_version = manifest["apiVersion"]
    return api_version != versions.PROTECTION and not store.kinds.of(api_version, manifest["kind"]).is_composite


def content(manifest: Manifest) -> dict[str, Any]:
    """Return what somebody asked for: of an Object the manifest in it, else the object without what others added."""
    if (manifest["apiVersion"], manifest["kind"]) == _OBJECT:
        manifest = dig_fields(manifest, "spec", "forProvider", "manifest") or manifest
    rest = {key: value for key, value in manifest.items() if key not in ("metadata", "status")}
    spec = rest.get("spec")
    if isinstance(spec, Mapping) and "crossplane" in spec:
        rest["spec"] = {key: value for key, value in spec.items() if key != "crossplane"}
    head = {key: rest.pop(key) for key in ("apiVersion", "kind")}
    return {**head, "metadata": _metadata(manifest["metadata"]), **rest}


def _metadata(metadata: Manifest) -> dict[str, Any]:
    kept = {key: metadata[key] for key in _KEPT if metadata.get(key)}
    for field_, added in _ADDED.items():
        if field_ in kept:
            kept[field_] = {key: value for key, value in kept[field_].items() if key not in added}
            if not kept[field_]:
                del kept[field_]
    return kept


def _joined(pairs: Mapping[tuple[str, ...], list[Manifest | None]]) -> dict[tuple[str, ...], list[Manifest | None]]:
    """Join what is gone and what is new under keys that differ in their digest alone, if there is one of each."""
    joined = {key: pair for key, pair in pairs.items() if None not in pair}
    loose: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for key in [key for key in pairs if key not in joined]:
        loose.setdefault((*key[:-1], _DIGEST.sub("", key[-1])), []).append(key)
    for keys in loose.values():
        gone, new = ([pairs[key][at] for key in keys if pairs[key][at] is not None] for at in (0, 1))
        if len(gone) == len(new) == 1:
            joined[keys[0]] = [gone[0], new[0]]
        else:
            joined |= {key: pairs[key] for key in keys}
    return {key: joined[key] for key in pairs if key in joined}


_DIGEST = re.compile(r"-[0-9a-f]{8}$")


def _key(manifest: Manifest, ref: Ref) -> str:
    return str(dig(manifest, "metadata", "annotations", crossplane.COMPOSITION_KEY) or ref)


def _fields(was: Manifest | None, now: Manifest | None) -> tuple[FieldChange, ...]:
    return () if was is None or now is None else tuple(field_changes.changes(was, now))


def _what(was: Manifest | None, now: Manifest | None) -> str:
    return "new" if was is None else "gone" if now is None else "changed"
