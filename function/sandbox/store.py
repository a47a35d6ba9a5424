"""The API server, in memory: objects, field ownership, finalizers, and an index of what changed.

Stored manifests are immutable: a change stores a new one. Readers therefore share them, and a copy of the store is
cheap. Look-ups by name, label, namespace or an indexed field read only what they find (table.py). Every change gets the
next `version`; `changed` remembers the last one of each object, and a `feed` gets each change as it is made.

Deterministic: uids are derived from names, and timestamps count the objects that were created.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, NamedTuple

from function.core import Manifest, Requirement, dig, dig_list, dig_texts, plain
from function.sandbox import apply, fields
from function.sandbox.errors import Refused
from function.sandbox.extensions import Admit, DeleteGuard
from function.sandbox.invented import Invented
from function.sandbox.schemas import ServedKind, ServedKinds
from function.sandbox.sealed import Sealed
from function.sandbox.stored import IDENTITY, Intent, Stored, copied, intents_of, managed, owned
from function.sandbox.table import Mark, Table
from function.vocabulary import kubernetes

_EPOCH = datetime(2024, 1, 1, tzinfo=UTC)


class Ref(NamedTuple):
    """Identifies an object. The namespace of a cluster-scoped one is empty."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"


class Change(NamedTuple):
    """An object that was created, changed or deleted, before and after; None if it did not exist."""

    ref: Ref
    before: Manifest | None
    after: Manifest | None


def ref_of(manifest: Manifest) -> Ref:
    """The identity of an object."""
    metadata = manifest["metadata"]
    return Ref(manifest["apiVersion"], manifest["kind"], metadata.get("namespace") or "", metadata["name"])


def named(asked: Requirement) -> Ref:
    """The identity of the object that a requirement asks for by its name."""
    return Ref(asked.api_version, asked.kind, asked.namespace or "", asked.match_name or "")


@dataclass(slots=True)
class Store:
    """All objects of the control cluster."""

    kinds: ServedKinds
    admit: Admit = lambda _kind, _manifest, _old: None
    blocks_delete: DeleteGuard = lambda _store, _ref, _policy: False
    default_namespace: str = "default"
    """The namespace of a namespaced object that names none. kubectl would take it from the user's context."""
    _tables: dict[tuple[str, str], Table] = field(default_factory=dict)
    """By kind."""
    version: int = 0
    """Grows with every change."""
    _uids: set[str] = field(default_factory=set)
    """Of all objects."""
    _created: int = 0
    elsewhere: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The uids of owners that were not loaded, by kind, namespace and name. They count as existing, because files need
    not contain a whole fleet."""
    changed: dict[Ref, int] = field(default_factory=dict)
    """The version of each object's last change, in order of versions. Deleted objects stay in it."""
    invented: Invented = field(default_factory=Invented)
    """The values that only a real cluster gives: uids here, and what controllers make up. Copies share it."""
    _feeds: list[list[Change]] = field(default_factory=list)
    before_write: Callable[[Change], None] = lambda _change: None
    """Called with each change before it is made. What it raises stops the writer between two of its writes."""
    skew: int = 0
    """Seconds that the clock is fast, or slow if negative. The clocks of API servers differ."""

    # Reading

    def get(self, ref: Ref) -> Manifest | None:
        """An object; None if it does not exist."""
        stored = self._stored(ref)
        return stored.manifest if stored else None

    def of_kind(self, api_version: str, kind: str) -> tuple[Manifest, ...]:
        """All objects of a kind, by namespace and name."""
        table = self._tables.get((api_version, kind))
        return table.manifests() if table else ()

    def refs(self, api_version: str, kind: str) -> tuple[Ref, ...]:
        """The identities of all objects of a kind, by namespace and name."""
        table = self._tables.get((api_version, kind))
        return tuple([Ref(api_version, kind, *key) for key in table.order()]) if table else ()

    def find(self, asked: Requirement) -> tuple[Manifest, ...]:
        """The objects that a requirement matches, by namespace and name. Reads no others."""
        if asked.match_name is not None:
            one = self.get(named(asked))
            return (one,) if one is not None else ()
        table = self._tables.get((asked.api_version, asked.kind))
        return table.having(_marks(asked)) if table else ()

    def having(self, field: str, value: str) -> list[Manifest]:
        """The objects of any kind that have a value in an indexed field (fields.py), by kind, namespace and name."""
        return [m for kind in sorted(self._tables) for m in self._tables[kind].having([(field, value)])]

    def of_kind_having(self, api_version: str, kind: str, field: str, value: str) -> tuple[Manifest, ...]:
        """The objects of a kind that have a value in an indexed field, by namespace and name."""
        table = self._tables.get((api_version, kind))
        return table.having([(field, value)]) if table else ()

    def has_uid(self, uid: str) -> bool:
        """Whether an object with a uid exists."""
        return uid in self._uids

    def all(self) -> Iterator[Manifest]:
        """Every object, by kind, namespace and name."""
        for kind in sorted(self._tables):
            yield from self.of_kind(*kind)

    def since(self, version: int) -> list[Ref]:
        """The objects that were changed or deleted after a version, latest first."""
        return [ref for ref, _ in takewhile(lambda change: change[1] > version, reversed(self.changed.items()))]

    def feed(self) -> list[Change]:
        """A list to which every later change is appended. The caller empties it."""
        self._feeds.append([])
        return self._feeds[-1]

    # Writing

    def load(self, manifest: Manifest) -> None:
        """Store an object with its status and server-set metadata, as a restored dump. Raises Refused."""
        loaded = plain(manifest)
        ref = self.located(loaded)
        loaded["metadata"].pop("namespace", None)
        loaded["metadata"] |= {"namespace": ref.namespace} if ref.namespace else {}
        self.admit(self._kind(loaded), loaded, self.get(ref))
        self.invented.give(loaded)
        self._put(ref, Stored(self._with_identity(loaded), intents_of(loaded)))

    def located(self, manifest: Manifest) -> Ref:
        """The identity of an object, with the default namespace if it needs one and has none."""
        api_version, kind, namespace, name = ref_of(manifest)
        namespaced = self._kind(manifest).namespaced
        return Ref(api_version, kind, (namespace or self.default_namespace) if namespaced else "", name)

    def apply(self, manifest: Manifest, manager: str, *, subresource: str = "") -> Manifest:
        """Server-side apply, with force.

        Args:
            manifest: The fields that the manager wants. Fields of its last apply that are missing are removed.
            manager: The field manager.
            subresource: `status`, or empty for the object itself.

        Returns:
            The stored object. Nothing is written if it already has the fields.

        Raises:
            Refused: Admission refuses the merged object.
        """
        ref = ref_of(manifest)
        owner = f"{manager}/{subresource}" if subresource else manager
        stored = self._stored(ref)
        intent = stored.intents.get(owner) if stored else None
        if stored and intent and intent.manifest == manifest and self._is_current(stored, intent):
            return stored.manifest
        return self._applied(ref, plain(manifest), owner, stored, intent)

    def update(self, ref: Ref, change: Callable[[dict[str, Any]], None], *, status: bool = False) -> None:
        """Update an object, like a controller's read-modify-write. Does nothing if it does not exist.

        Args:
            ref: The object.
            change: Changes a copy in place. If the copy is equal afterwards, nothing is written.
            status: Whether the change is limited to status and metadata. Then admission does not run, and the
                generation stays.

        Raises:
            Refused: Admission refuses the changed object.
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
        """Request deletion in the foreground or in the background. The object stays as long as it has finalizers.

        A later request does not make a deletion a foreground one. On an API server it does, and the garbage collector
        undoes that at once where there is no dependent: an XR that repeats its deletes would never come to rest here.

        Returns:
            False if the delete guard blocks the request.
        """
        stored = self._stored(ref)
        if stored is None:
            return True
        if self.blocks_delete(self, ref, "Foreground" if foreground else "Background"):
            return False

        def mark(manifest: dict[str, Any]) -> None:
            metadata = manifest["metadata"]
            if "deletionTimestamp" not in metadata:
                others = [f for f in metadata.pop("finalizers", ()) if f != kubernetes.FOREGROUND]
                finalizers = [*others, *([kubernetes.FOREGROUND] if foreground else ())]
                metadata |= {"finalizers": finalizers} if finalizers else {}
            metadata.setdefault("deletionTimestamp", self._now())

        self.update(ref, mark, status=True)
        self._finish(ref)
        return True

    def lose(self, ref: Ref) -> None:
        """Remove an object at once, regardless of finalizers and the delete guard, as an accident does."""
        if self._stored(ref) is not None:
            self._replace(ref, None)

    def copied(self) -> Store:
        """An independent store with the same objects."""
        return replace(
            self,
            _tables={kind: table.copied() for kind, table in self._tables.items()},
            _uids=set(self._uids),
            elsewhere=dict(self.elsewhere),
            changed=dict(self.changed),
            _feeds=[],
            before_write=lambda _change: None,
        )

    def add_finalizer(self, ref: Ref, finalizer: str) -> None:
        """Add a finalizer, unless the object has it."""

        def add(manifest: dict[str, Any]) -> None:
            manifest["metadata"]["finalizers"] = [*manifest["metadata"].get("finalizers", []), finalizer]

        if finalizer not in dig_list(self.get(ref), "metadata", "finalizers"):
            self.update(ref, add, status=True)

    def remove_finalizer(self, ref: Ref, finalizer: str) -> None:
        """Remove a finalizer. A deleted object without finalizers is removed."""

        def remove(manifest: dict[str, Any]) -> None:
            left = [f for f in manifest["metadata"].get("finalizers", []) if f != finalizer]
            manifest["metadata"]["finalizers"] = left
            if not left:
                del manifest["metadata"]["finalizers"]

        self.update(ref, remove, status=True)
        self._finish(ref)

    # Below

    def _stored(self, ref: Ref) -> Stored | None:
        table = self._tables.get(ref[:2])
        return table.get(ref[2:]) if table else None

    def _kind(self, manifest: Manifest) -> ServedKind:
        return self.kinds.of(manifest["apiVersion"], manifest["kind"])

    def _applied(
        self, ref: Ref, wanted: dict[str, Any], owner: str, stored: Stored | None, last: Intent | None
    ) -> Manifest:
        kind = self._kind(wanted)
        fields = apply.fields(owned(wanted), kind.schema)
        intents = dict(stored.intents) if stored else {}
        others = [i.fields for manager, i in intents.items() if manager != owner]
        live = stored.manifest if stored else self._with_identity(wanted)
        if last:
            live = apply.without(live, last.fields, [fields, *others, IDENTITY], kind.schema)
        changed = apply.merge(live, wanted, kind.schema) if stored else live
        if stored:
            _check_finalizers(stored.manifest, changed)
        self.admit(kind, changed, stored.manifest if stored else None)
        edits = stored.edits + 1 if stored else 0
        intents[owner] = Intent(wanted, fields, edits)
        if stored:
            self._count_generation(stored.manifest, changed)
        if not stored or changed != stored.manifest or not last or last.fields != fields:
            self._put(ref, Stored(changed, intents, edits))
        else:
            stored.intents[owner] = intents[owner]
        found = self.get(ref)
        assert found is not None
        return found

    def _is_current(self, stored: Stored, intent: Intent) -> bool:
        """Whether the object still has the applied fields."""
        kind = self._kind(intent.manifest)
        return intent.edits == stored.edits or apply.covers(stored.manifest, intent.manifest, kind.schema)

    def _with_identity(self, manifest: dict[str, Any]) -> dict[str, Any]:
        self._created += 1
        ref = ref_of(manifest)
        name = "\x00".join((*ref, str(self._created)))
        identity = {
            "uid": str(uuid.uuid5(uuid.NAMESPACE_URL, name)),
            "generation": 1,
            "creationTimestamp": self._now(),
        }
        if "uid" not in manifest["metadata"]:
            self.invented.note(str(identity["uid"]))
        return {**manifest, "metadata": {**identity, **manifest["metadata"]}}

    def _now(self) -> str:
        return (_EPOCH + timedelta(seconds=self._created + self.skew)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _count_generation(self, old: Manifest, new: dict[str, Any]) -> None:
        ignored = ("metadata", "status")
        if {k: v for k, v in old.items() if k not in ignored} != {k: v for k, v in new.items() if k not in ignored}:
            new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1

    def _put(self, ref: Ref, stored: Stored) -> None:
        metadata = stored.manifest["metadata"]
        metadata["resourceVersion"] = str(self.version + 1)
        metadata["managedFields"] = managed(ref.api_version, stored.intents)
        if not metadata["managedFields"]:
            del metadata["managedFields"]
        self._replace(ref, Stored(Sealed(stored.manifest), stored.intents, stored.edits))

    def _replace(self, ref: Ref, stored: Stored | None) -> None:
        """Replace a stored object; None removes it."""
        before, after = self.get(ref), stored.manifest if stored else None
        change = Change(ref, before, after)
        self.before_write(change)
        self.version += 1
        self.changed.pop(ref, None)
        self.changed[ref] = self.version
        self._tables.setdefault(ref[:2], Table()).put(ref[2:], stored)
        if before is None or after is None or before["metadata"]["uid"] != after["metadata"]["uid"]:
            self._uids -= _uid(before)
            self._uids |= _uid(after)
        for feed in self._feeds:
            feed.append(change)

    def _finish(self, ref: Ref) -> None:
        """Remove an object that was deleted and has no finalizers."""
        manifest = self.get(ref)
        if manifest and dig(manifest, "metadata", "deletionTimestamp") and not dig(manifest, "metadata", "finalizers"):
            self._replace(ref, None)


def _check_finalizers(before: Manifest, after: Manifest) -> None:
    """Raise Refused for a finalizer that an object gets while it is deleted (apimachinery, ValidateNoNewFinalizers)."""
    added = {*dig_texts(after, "metadata", "finalizers")} - {*dig_texts(before, "metadata", "finalizers")}
    if added and dig(before, "metadata", "deletionTimestamp"):
        problem = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted"
        raise Refused(f"{before['kind']} {before['metadata']['name']}: {problem}, found new finalizers {sorted(added)}")


def _marks(asked: Requirement) -> list[Mark]:
    namespaces = [(fields.NAMESPACE, asked.namespace)] if asked.namespace else []
    return [*asked.match_labels.items(), *namespaces]


def _uid(manifest: Manifest | None) -> set[str]:
    return {manifest["metadata"]["uid"]} if manifest else set()
