"""The providers of the clouds: they make, change and delete managed resources, step by step, as Upjet does.

Terms. A *look* is one reconcile of a managed resource by its provider. What the cloud has of it is its *external*
(externals.py); what a look reports is in upjet.py. A managed resource *awaits* an object if its next step depends on
that. A creation goes through these steps, of which a look takes one:

1. Its references are resolved, its provider config is found and kept as long as it is in use, it gets the finalizer,
   and the creation is requested.
2. The cloud has made it: it gets its external name, unless it has one already. Others can refer to it from now on.
3. It is ready: status.atProvider and the connection Secret are written.

Phases of a call, in order:

1. `_due`: a managed resource is due if it changed, awaits something that changed, or has a step ahead whatever changes.
   If faults changed, so is each that a fault held.
2. `_look` at each that is due. One that was deleted is deleted in the cloud (`_delete`). For any other, the look takes
   a step of its creation (`_create`, `_make`, `_finish`), or updates what the cloud has (`_update`).
3. What a look has changed is due again, and what awaits it is due. So everything that can become ready does so in one
   call, unless Faults.in_steps is set: then the call ends, and the rest is due in the next one.

Deliberately coarse. A reference is resolved once, for the creation, and its value is not written into the manifest.
Every name is given by the cloud, except one that the manifest carries. Every field can be changed, and is at once,
except those that ManagedKind.immutable names. What holds an external name or an id as part of a longer text does not
use that resource. There are no quotas and no permissions but those that Faults name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from function import clouds
from function.core import dig, plain
from function.manifests import managed
from function.planning import externals, faults, looks, provider, upjet
from function.planning.externals import External, Externals
from function.planning.faults import Faults
from function.planning.looks import Kinds, Look
from function.sandbox.store import Ref, Store


@dataclass(slots=True)
class Providers:
    """The providers of all clouds, and what the clouds have."""

    kinds: Kinds = field(default_factory=lambda: looks.kinds(clouds.PROVISIONERS))
    externals: Externals = field(default_factory=Externals)
    refusals: list[str] = field(default_factory=list)
    """Every delete that a cloud has refused because something still uses what was to be deleted, as a sentence."""
    again: set[Ref] = field(default_factory=set)
    """Managed resources to look at in the next call, whatever changes."""
    _held: set[Ref] = field(default_factory=set)
    """Managed resources that a fault holds."""
    _attempts: dict[Ref, int] = field(default_factory=dict)
    """Failed attempts to create them."""
    _awaits: dict[Ref, frozenset[Ref]] = field(default_factory=dict)
    """By managed resource, what it awaits."""
    _awaited: dict[Ref, set[Ref]] = field(default_factory=dict)
    """By object, the managed resources that await it."""
    _configs: dict[Ref, set[Ref]] = field(default_factory=dict)
    """By provider config, the managed resources that use it."""
    _secrets: dict[Ref, Ref] = field(default_factory=dict)
    """By connection Secret, the managed resource whose provider writes it."""
    _faults: str = ""
    """The faults of the last call."""

    def copied(self) -> Providers:
        """An independent copy."""
        return replace(
            self,
            externals=self.externals.copied(),
            refusals=list(self.refusals),
            again=set(self.again),
            _held=set(self._held),
            _attempts=dict(self._attempts),
            _awaits=dict(self._awaits),
            _awaited={ref: set(waiting) for ref, waiting in self._awaited.items()},
            _configs={config: set(users) for config, users in self._configs.items()},
            _secrets=dict(self._secrets),
        )

    def __call__(self, store: Store, news: Iterable[Ref], switched: Faults) -> None:
        """Look at every managed resource that is due.

        Args:
            store: The control cluster.
            news: The objects that changed since the last call.
            switched: The faults that are switched on.
        """
        due = self._due(news, repr(switched))
        order = deque(sorted(due))
        self.again.clear()
        while order:
            ref = order.popleft()
            due.discard(ref)
            more = self._look(store, ref, switched) - due
            if switched.in_steps:
                self.again |= more
            else:
                due |= more
                order.extend(sorted(more))

    def _due(self, news: Iterable[Ref], switched: str) -> set[Ref]:
        due = set(self.again)
        for ref in news:
            if ref[:2] in self.kinds:
                due.add(ref)
            due |= self._awaited.get(ref, set())
            if ref in self._secrets:
                due.add(self._secrets[ref])
        if switched != self._faults:
            self._faults = switched
            due |= self._held
        return due

    def _look(self, store: Store, ref: Ref, switched: Faults) -> set[Ref]:
        """Look at a managed resource. Returns what is due because of it: itself, if it took a step and has another
        ahead, and what awaits it."""
        before = store.changed.get(ref)
        has_more = self._step(store, ref, switched)
        is_news = has_more or store.changed.get(ref) != before
        return {*([ref] if has_more else []), *(self._awaited.get(ref, ()) if is_news else [])}

    def _step(self, store: Store, ref: Ref, switched: Faults) -> bool:
        """Do what is next for a managed resource. Returns whether the step after it can be taken now."""
        self._await(ref)
        self._held.discard(ref)
        manifest = store.get(ref)
        if manifest is None:
            return False
        look = Look(store, ref, manifest, self.kinds[ref[:2]], switched)
        if ref not in self.externals.there:
            self._adopt(look)
        external = self.externals.there.get(ref)
        if dig(manifest, "metadata", "deletionTimestamp"):
            return self._delete(look, external)
        if external is None:
            return self._create(look)
        if not external.is_made:
            return self._make(look, external)
        if not external.is_ready:
            return self._finish(look, external)
        return self._update(look, external)

    def _adopt(self, look: Look) -> None:
        """Take a resource that was loaded as it was found for one that the cloud has."""
        found = externals.adopted(look.manifest, look.uses())
        if found:
            self._hold(look)
            self.externals.put(look.ref, found)

    def _hold(self, look: Look) -> None:
        """Keep a managed resource until it is deleted in the cloud, and as long its provider config."""
        look.store.add_finalizer(look.ref, provider.FINALIZER)
        look.store.add_finalizer(look.config, provider.IN_USE)
        if dig(look.store.get(look.config), "spec") == look.known.cloud.assumed_config:
            look.store.invented.note(*look.known.cloud.invented)
        self._configs.setdefault(look.config, set()).add(look.ref)

    def _let_go(self, look: Look) -> None:
        self._attempts.pop(look.ref, None)
        look.store.remove_finalizer(look.ref, provider.FINALIZER)
        users = self._configs.get(look.config, set())
        users.discard(look.ref)
        if not users:
            look.store.remove_finalizer(look.config, provider.IN_USE)

    def _await(self, ref: Ref, *objects: Ref) -> None:
        """Note what a managed resource awaits from now on."""
        for awaited in self._awaits.pop(ref, frozenset()):
            self._awaited[awaited].discard(ref)
        if objects:
            self._awaits[ref] = frozenset(objects)
        for awaited in objects:
            self._awaited.setdefault(awaited, set()).add(ref)

    # Creation

    def _create(self, look: Look) -> bool:
        """Request the creation, once everything for it is there."""
        for path, used in look.references():
            problem = self._problem(look.store, used)
            if problem:
                self._await(look.ref, used)
                look.report(upjet.unresolved(path, problem))
                return False
        if look.store.get(look.config) is None:
            self._await(look.ref, look.config)
            look.report(upjet.unconnected(look.config))
            return False
        self._hold(look)
        if self._is_refused(look):
            return False
        self.externals.put(look.ref, External(plain(look.wanted), look.uses()))
        look.report(upjet.REQUESTED)
        return True

    def _problem(self, store: Store, used: Ref) -> str:
        """Why a reference to a managed resource cannot be resolved; empty where it can."""
        found = store.get(used)
        if found is None:
            return upjet.absent(used)
        return "" if managed.external_name(found) or used[:2] not in self.kinds else upjet.UNNAMED

    def _is_refused(self, look: Look) -> bool:
        """Whether the cloud refuses the creation. Reports it."""
        unmade = next((used for used in sorted(look.uses()) if not self.externals.is_made(used)), None)
        if unmade:
            self._await(look.ref, unmade)
            look.report(upjet.uncreated(f"{unmade.kind} {unmade.name} does not exist", is_async=False))
            return True
        fault, failed = faults.of(look.faults.creations, look.manifest), self._attempts.get(look.ref, 0)
        if fault is None or failed == fault.attempts:
            return False
        self._attempts[look.ref] = failed + 1
        self._held.add(look.ref)
        if fault.attempts is not None:
            self.again.add(look.ref)
        look.report(upjet.uncreated(fault.message, is_async=fault.is_async))
        return True

    def _make(self, look: Look, external: External) -> bool:
        """Give it its external name, once the cloud has made it."""
        if external.looks < (faults.of(look.faults.slow, look.manifest) or 0):
            self.externals.change(look.ref, looks=external.looks + 1)
            self.again.add(look.ref)
            return False
        self.externals.change(look.ref, is_made=True)
        if managed.external_name(look.manifest) is None:
            look.name(look.observe().external_name or look.ref.name)
        return True

    def _finish(self, look: Look, external: External) -> bool:
        if faults.has(look.faults.never_ready, look.manifest):
            self._held.add(look.ref)
            return False
        self.externals.change(look.ref, is_ready=True)
        self._attempts.pop(look.ref, None)
        self._publish(look, external)
        return False

    def _publish(self, look: Look, external: External) -> None:
        """Report what the cloud has, and write the connection Secret."""
        seen = look.observe()
        reported = _over(plain(seen.at_provider), external.reported)
        look.store.invented.note(*set(seen.invented).intersection(externals.texts(reported)))
        look.report(upjet.AVAILABLE, reported)
        secret = look.connect(seen.connection)
        if secret:
            self._secrets[secret] = look.ref

    # What exists

    def _update(self, look: Look, external: External) -> bool:
        """Let the cloud have what is wanted, unless only a new resource could have it."""
        for path in look.known.kind.immutable:
            steps = path.split(".")
            was, wanted = dig(external.for_provider, *steps), dig(look.wanted, *steps)
            if was != wanted:
                look.report(upjet.unchanged(path, was, wanted))
                return False
        if external.for_provider != look.wanted:
            self.externals.put(look.ref, replace(external, for_provider=plain(look.wanted), uses=look.uses()))
        self._publish(look, external)
        return False

    def _delete(self, look: Look, external: External | None) -> bool:
        """Delete it in the cloud, unless it is to stay there; then let go of it."""
        if external is None or not provider.may_delete(look.manifest):
            self._let_go(look)
        elif look.store.get(look.config) is None:
            self._await(look.ref, look.config)
            look.report(upjet.unconnected(look.config))
        elif users := self.externals.users(look.store, look.manifest):
            self._refuse(look, users)
        elif not external.is_leaving:
            self.externals.change(look.ref, is_leaving=True)
            look.report(upjet.GOING)
            return True
        else:
            self.externals.remove(look.ref)
            self._let_go(look)
        return False

    def _refuse(self, look: Look, users: list[Ref]) -> None:
        self._await(look.ref, *users)
        message = f"DependencyViolation: {look.ref.kind} {look.ref.name} is used by {users[0].kind} {users[0].name}"
        if message not in self.refusals:
            self.refusals.append(message)
        look.report(upjet.undeleted(message))


def _over(value: Any, other: Any) -> Any:
    """A value, with everything of another in its place."""
    if not isinstance(value, Mapping) or not isinstance(other, Mapping):
        return other
    return {**value, **{key: _over(value.get(key), child) for key, child in other.items()}}
