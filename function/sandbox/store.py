"""The API server, in memory: objects, who owns which of their fields, finalizers, and garbage collection.

Deterministic: identities come from names, and time is a count of what was created.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, NamedTuple

from function.core import Manifest, Requirement, dig, plain
from function.sandbox import apply
from function.sandbox.indexes import LabelIndex, Sealed
from function.sandbox.schemas import ServedKind, ServedKinds
from function.sandbox.stored import IDENTITY, Intent, Stored, copied, intents_of, labels_of, managed, owned

FOREGROUND = "foregroundDeletion"
"""Finalizer of an object that waits for its dependents to be gone (kubernetes v1.36, apimachinery meta/v1)."""
_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)


class Ref(NamedTuple):
    """Which object."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"


def ref_of(manifest: Manifest) -> Ref:
    metadata = manifest["metadata"]
    return Ref(manifest["apiVersion"], manifest["kind"], metadata.get("namespace") or "", metadata["name"])


class Refused(Exception):
    """What the API server does not accept; the message says why."""


Admit = Callable[[ServedKind, dict[str, Any], Manifest | None], None]
"""Fills in defaults, and raises Refused for what the schema does not allow. Sees the object as it was before, too."""


Refuses = Callable[["Store", Ref, str], bool]
"""Whether something keeps an object from being deleted with that policy, Foreground or Background."""


@dataclass(slots=True)
class Store:
    """All objects of the control cluster."""

    kinds: ServedKinds
    admit: Admit = lambda _kind, _manifest, _old: None
    refuses: Refuses = lambda _store, _ref, _policy: False
    default_namespace: str = "default"
    """The namespace of a namespaced object that names none. kubectl would take it from the user's context."""
    _objects: dict[tuple[str, str], dict[tuple[str, str], Stored]] = field(default_factory=dict)
    _refs: dict[tuple[str, str], tuple[Ref, ...]] = field(default_factory=dict)
    """Of each kind, who there is by namespace and name, as long as nobody comes or goes."""
    _sorted: dict[tuple[str, str], tuple[Manifest, ...]] = field(default_factory=dict)
    version: int = 0
    """Grows with every change: as long as it stands still, nothing happened."""
    _labelled: dict[tuple[str, str], LabelIndex] = field(default_factory=dict)
    _created: int = 0
    elsewhere: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The uids of owners that loaded objects name and nobody loaded, by kind, namespace and name. They exist: the files
    of a fleet need not hold all of it."""
    changed: dict[Ref, int] = field(default_factory=dict)
    """The version at which each object, existing or gone, was last changed; in that order."""
    kind_changed: dict[tuple[str, str], int] = field(default_factory=dict)
    """The version at which any object of a kind was last changed."""
    _mark_changed: dict[tuple[str, str], dict[tuple[str, str], int]] = field(default_factory=dict)
    """By kind, the version at which any object with a label, or in a namespace, was last changed."""

    # Reading

    def get(self, ref: Ref) -> Manifest | None:
        stored = self._stored(ref)
        return stored.manifest if stored else None

    def of_kind(self, api_version: str, kind: str) -> tuple[Manifest, ...]:
        """All objects of a kind, by namespace and name."""
        found = self._sorted.get((api_version, kind))
        if found is None:
            objects = self._objects.get((api_version, kind), {})
            order = self.refs(api_version, kind)
            found = self._sorted[api_version, kind] = tuple([objects[ref[2:]].manifest for ref in order])
        return found

    def refs(self, api_version: str, kind: str) -> tuple[Ref, ...]:
        """The same by what they are called."""
        found = self._refs.get((api_version, kind))
        if found is None:
            objects = self._objects.get((api_version, kind), {})
            found = self._refs[api_version, kind] = tuple(Ref(api_version, kind, *key) for key in sorted(objects))
        return found

    def labelled(self, api_version: str, kind: str, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
        """All objects of a kind that have some labels, by namespace and name."""
        index = self._labelled.get((api_version, kind))
        found = index.having(labels) if index else []
        objects = self._objects.get((api_version, kind), {})
        return tuple(objects[key].manifest for key in found)

    def all(self) -> Iterator[Manifest]:
        """Every object, by kind, namespace and name."""
        for kind in sorted(self._objects):
            yield from self.of_kind(*kind)

    def since(self, version: int) -> list[Ref]:
        """What was changed after a version, existing or gone."""
        return [ref for ref, _ in takewhile(lambda change: change[1] > version, reversed(self.changed.items()))]

    def answer_changed(self, asked: Requirement, version: int) -> bool:
        """Whether what a requirement finds may have changed after a version: a no is certain."""
        if asked.match_name is not None:
            named = Ref(asked.api_version, asked.kind, asked.namespace or "", asked.match_name)
            return self.changed.get(named, 0) > version
        kind = asked.api_version, asked.kind
        marks = self._mark_changed.get(kind, {})
        asked_marks = [*asked.match_labels.items(), *([_in(asked.namespace)] if asked.namespace else ())]
        return self.kind_changed.get(kind, 0) > version and all(marks.get(m, 0) > version for m in asked_marks)

    # Writing

    def load(self, manifest: Manifest) -> None:
        """Take an object as it is, with its status and what a server once set on it."""
        loaded = plain(manifest)
        ref = self.located(loaded)
        loaded["metadata"].pop("namespace", None)
        loaded["metadata"] |= {"namespace": ref.namespace} if ref.namespace else {}
        self.admit(self._kind(loaded), loaded, self.get(ref))
        self._put(ref, Stored(self._with_identity(loaded), intents_of(loaded)))

    def located(self, manifest: Manifest) -> Ref:
        """Where an object belongs: its namespace, or a stand-in where it names none and needs one."""
        api_version, kind, namespace, name = ref_of(manifest)
        namespaced = self._kind(manifest).namespaced
        return Ref(api_version, kind, (namespace or self.default_namespace) if namespaced else "", name)

    def apply(self, manifest: Manifest, manager: str, *, subresource: str = "") -> Manifest:
        """Server-side apply, with force. Returns the object as it stands. Raises Refused."""
        ref = ref_of(manifest)
        owner = f"{manager}/{subresource}" if subresource else manager
        stored = self._stored(ref)
        said = stored.intents.get(owner) if stored else None
        if stored and said and said.manifest == manifest and self._stands(stored, said):
            return stored.manifest
        return self._applied(ref, plain(manifest), owner, stored, said)

    def update(self, ref: Ref, change: Callable[[dict[str, Any]], None], *, status: bool = False) -> None:
        """Change an object in place, as a controller's update does. Nothing happens when nothing differs.

        With `status`, only status and metadata may be changed, and generations stay.
        """
        stored = self._stored(ref)
        if stored is None:
            return
        changed = copied(stored.manifest, whole=not status)
        change(changed)
        if changed == stored.manifest:
            return
        if not status:
            self.admit(self._kind(changed), changed, stored.manifest)
            self._count_generation(stored.manifest, changed)
        self._put(ref, Stored(changed, stored.intents, stored.edits + (not status)))

    def delete(self, ref: Ref, *, foreground: bool = False) -> bool:
        """Ask for an object's end. It stays while it has finalizers. Returns whether nobody refuses it."""
        stored = self._stored(ref)
        if stored is None:
            return True
        if self.refuses(self, ref, "Foreground" if foreground else "Background"):
            return False

        def mark(manifest: dict[str, Any]) -> None:
            metadata = manifest["metadata"]
            metadata.setdefault("deletionTimestamp", self._now())
            if foreground and FOREGROUND not in metadata.get("finalizers", ()):
                metadata["finalizers"] = [*metadata.get("finalizers", ()), FOREGROUND]

        self.update(ref, mark, status=True)
        self._finish(ref)
        return True

    def lose(self, ref: Ref) -> None:
        """An object is gone at once, whatever would have kept it: an accident, no request."""
        if self._stored(ref) is not None:
            self._count(ref)
            self._keep(ref, None)

    def copied(self) -> Store:
        """Another store with the same objects. What is stored is never changed in place, so that the two share it."""
        objects = {
            kind: {key: Stored(s.manifest, dict(s.intents), s.edits) for key, s in stored.items()}
            for kind, stored in self._objects.items()
        }
        return replace(
            self,
            _objects=objects,
            _refs=dict(self._refs),
            _sorted=dict(self._sorted),
            _labelled={kind: index.copied() for kind, index in self._labelled.items()},
            elsewhere=dict(self.elsewhere),
            changed=dict(self.changed),
            kind_changed=dict(self.kind_changed),
            _mark_changed={kind: dict(marks) for kind, marks in self._mark_changed.items()},
        )

    def add_finalizer(self, ref: Ref, finalizer: str) -> None:
        def add(manifest: dict[str, Any]) -> None:
            manifest["metadata"]["finalizers"] = [*manifest["metadata"].get("finalizers", []), finalizer]

        if finalizer not in (dig(self.get(ref), "metadata", "finalizers") or ()):
            self.update(ref, add, status=True)

    def remove_finalizer(self, ref: Ref, finalizer: str) -> None:
        def remove(manifest: dict[str, Any]) -> None:
            left = [f for f in manifest["metadata"].get("finalizers", []) if f != finalizer]
            manifest["metadata"]["finalizers"] = left
            if not left:
                del manifest["metadata"]["finalizers"]

        self.update(ref, remove, status=True)
        self._finish(ref)

    # Below

    def _stored(self, ref: Ref) -> Stored | None:
        return self._objects.get((ref.api_version, ref.kind), {}).get((ref.namespace, ref.name))

    def _kind(self, manifest: Manifest) -> ServedKind:
        return self.kinds.of(manifest["apiVersion"], manifest["kind"])

    def _applied(
        self, ref: Ref, intent: dict[str, Any], owner: str, stored: Stored | None, said: Intent | None
    ) -> Manifest:
        kind = self._kind(intent)
        fields = apply.fields(owned(intent), kind.schema)
        intents = dict(stored.intents) if stored else {}
        others = [i.fields for manager, i in intents.items() if manager != owner]
        live = stored.manifest if stored else self._with_identity(intent)
        if said:
            live = apply.without(live, said.fields, [fields, *others, IDENTITY], kind.schema)
        changed = apply.merge(live, intent, kind.schema) if stored else live
        self.admit(kind, changed, stored.manifest if stored else None)
        edits = stored.edits + 1 if stored else 0
        intents[owner] = Intent(intent, fields, edits)
        if stored:
            self._count_generation(stored.manifest, changed)
        if not stored or changed != stored.manifest or not said or said.fields != fields:
            self._put(ref, Stored(changed, intents, edits))
        else:
            stored.intents[owner] = intents[owner]
        found = self.get(ref)
        assert found is not None
        return found

    def _stands(self, stored: Stored, said: Intent) -> bool:
        """Whether what was applied is still there: nobody else has written since, or not that."""
        kind = self._kind(said.manifest)
        return said.edits == stored.edits or apply.covers(stored.manifest, said.manifest, kind.schema)

    def _with_identity(self, manifest: dict[str, Any]) -> dict[str, Any]:
        self._created += 1
        ref = ref_of(manifest)
        name = "\x00".join((*ref, str(self._created)))
        identity = {
            "uid": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
            "generation": 1,
            "creationTimestamp": self._now(),
        }
        return {**manifest, "metadata": {**identity, **manifest["metadata"]}}

    def _now(self) -> str:
        return (_EPOCH + timedelta(seconds=self._created)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _count_generation(self, old: Manifest, new: dict[str, Any]) -> None:
        ignored = ("metadata", "status")
        if {k: v for k, v in old.items() if k not in ignored} != {k: v for k, v in new.items() if k not in ignored}:
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def _put(self, ref: Ref, stored: Stored) -> None:
        self._count(ref)
        stored.manifest["metadata"]["resourceVersion"] = str(self.version)
        stored.manifest["metadata"]["managedFields"] = managed(ref.api_version, stored.intents)
        if not stored.manifest["metadata"]["managedFields"]:
            del stored.manifest["metadata"]["managedFields"]
        self._keep(ref, Stored(Sealed(stored.manifest), stored.intents, stored.edits))

    def _keep(self, ref: Ref, stored: Stored | None) -> None:
        """None forgets it."""
        objects, key = self._objects.setdefault(ref[:2], {}), ref[2:]
        before = objects.pop(key, None) if stored is None else objects.get(key)
        if stored is not None:
            objects[key] = stored
        if before is None or stored is None:
            self._refs.pop(ref[:2], None)
        index = self._labelled.setdefault(ref[:2], LabelIndex())
        index.note(key, labels_of(before), labels_of(stored))
        marks = self._mark_changed.setdefault(ref[:2], {})
        for mark in (*labels_of(before).items(), *labels_of(stored).items(), _in(ref.namespace)):
            marks[mark] = self.version

    def _count(self, ref: Ref) -> None:
        self.version += 1
        self.changed.pop(ref, None)
        self.changed[ref] = self.kind_changed[ref[:2]] = self.version
        self._sorted.pop(ref[:2], None)

    def _finish(self, ref: Ref) -> None:
        """Forget an object that was deleted and that no finalizer holds."""
        manifest = self.get(ref)
        if manifest and dig(manifest, "metadata", "deletionTimestamp") and not dig(manifest, "metadata", "finalizers"):
            self._count(ref)
            self._keep(ref, None)


def _in(namespace: str) -> tuple[str, str]:
    """Being in a namespace, as if it were a label: no label has an empty key."""
    return "", namespace
