"""Simulated providers, and the clusters that they reach: the controller that plans run beside Crossplane.

Terms. An *Object* (provider-kubernetes) holds the manifest of a *remote object*, which exists on the cluster that the
Object's provider config names. A *cluster* here is the set of its remote objects.

Phases of a call, in order:

1. `_provide`: apply the manifest of each Object to its cluster, or delete the remote object.
2. `controllers.run`: the controllers of each cluster write the statuses of remote objects.
3. `_report`: write each Object's conditions, and the remote object that the provider observed, into the Object.
4. `_install`: mark each Release (provider-helm) as deployed.
5. `_guard_configs`: keep provider configs that are in use from being deleted.
6. `control_cluster.reconcile`: write the statuses of objects on the control cluster itself.

Deliberately coarse. Everything that can become ready is ready at once: a plan shows the state that a fleet converges
to, not the way there. A chart installs nothing; what it would install is assumed to be there (preinstalled.py). Faults
can be switched on (controllers.Faults).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import Condition, Manifest, dig, plain
from function.planning import control_cluster, controllers, managed, preinstalled, provider
from function.planning.controllers import Faults, RemoteObject
from function.planning.seen import Versions
from function.sandbox.store import Ref, Store, ref_of
from function.scheduling import Matcher
from function.vocabulary import names, versions

FINALIZER = "finalizer.managedresource.crossplane.io"
IN_USE = "in-use.crossplane.io"
"""Finalizer of a provider config that something uses (crossplane-runtime v2, providerconfig)."""
_ALWAYS = ("default", "kube-system", names.SYSTEM_NAMESPACE)
"""Namespaces that exist on every cluster."""


@dataclass(slots=True)
class Clusters:
    """All inference clusters, by the name of the provider config that reaches them. A `sandbox` Controller."""

    faults: Faults = field(default_factory=Faults)
    things: dict[str, dict[Ref, RemoteObject]] = field(default_factory=dict)
    """The remote objects of each cluster."""
    shared: set[tuple[str, Ref]] = field(default_factory=set)
    """Remote objects that two Objects claim. Namespaces may be shared; anything else is a bug of the function."""
    seen: Versions = field(default_factory=Versions)
    _matcher: Matcher = field(default_factory=Matcher)

    def copied(self) -> Clusters:
        """A copy that changes independently. Manifests are shared, because nothing changes them in place."""
        return replace(
            self,
            faults=deepcopy(self.faults),
            things={c: {ref: replace(r) for ref, r in there.items()} for c, there in self.things.items()},
            shared=set(self.shared),
            seen=self.seen.copied(),
        )

    def __call__(self, store: Store) -> None:
        """Act on everything that was composed since the last call."""
        sight = (store.version, repr(self.faults))
        if sight == self.seen.store:
            return
        self.seen.store = sight  # before it writes: its own writes can be news for another Object
        by_config = self._clusters(store)
        objects = store.refs(versions.PROVIDER_KUBERNETES, "Object")
        for ref in self._news(store, objects, by_config, self.seen.provided):
            self._provide(store, ref, by_config)
        for config, things in sorted(self.things.items()):
            self._run_if_changed(store, config, things, by_config.get(config))
        for ref in self._news(store, objects, by_config, self.seen.observed):
            self._report(store, ref, by_config)
        for ref in store.refs(versions.PROVIDER_HELM, "Release"):
            self._install(store, ref)
        for api_version, kind in ((versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release")):
            _guard_configs(store, api_version, kind)
        control_cluster.reconcile(store)
        managed.reconcile(store)

    def _news(
        self,
        store: Store,
        objects: Iterable[Ref],
        by_config: Mapping[str, Manifest],
        seen: dict[Ref, tuple[int, int]],
    ) -> Iterator[Ref]:
        """The Objects that changed, or whose clusters changed, since they were last `seen`.

        The state of a cluster is numbered once for many Objects, and again after each write to it: the caller may write
        to a cluster while it iterates.
        """
        numbers: dict[str, tuple[int | None, int]] = {}
        for ref in objects:
            found = store.get(ref)
            if found is None:
                continue
            config = provider.config(found)
            writes = self.seen.writes.get(config)
            cached = numbers.get(config)
            if cached is None or cached[0] != writes:
                cached = numbers[config] = writes, self._number(store, config, by_config)
            sight = store.changed[ref], cached[1]
            if seen.get(ref) != sight:
                seen[ref] = sight
                yield ref

    def _number(self, store: Store, config: str, by_config: Mapping[str, Manifest]) -> int:
        """A number for the state of a cluster, as far as the provider's answers depend on it."""
        return self.seen.number(
            config,
            store.changed.get(Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", config)),
            dig(by_config.get(config), "metadata", "name"),
            len(self.things.get(config, ())),
            self.seen.writes.get(config),
            self.seen.statuses.get(config),
            self.seen.store[1],
        )

    def _install(self, store: Store, ref: Ref) -> None:
        if self.seen.released.get(ref) != store.changed[ref]:
            provider.write_status(store, ref, {"state": "deployed"}, provider.SYNCED, provider.AVAILABLE)
            self.seen.released[ref] = store.changed[ref]

    # The provider

    def _provide(self, store: Store, ref: Ref, by_config: Mapping[str, Manifest]) -> None:
        """Apply an Object's manifest to its cluster, or delete the remote object if the Object is deleted."""
        found = store.get(ref)
        assert found is not None
        config = provider.config(found)
        if dig(found, "metadata", "deletionTimestamp"):
            self._withdraw(store, ref, found, self._error(store, found, by_config))
            return
        if self.seen.applied.get(ref) == store.changed.get(ref) and self._has_thing(config, found):
            return
        store.add_finalizer(ref, FINALIZER)
        if self._error(store, found, by_config):
            return
        if provider.observes_only(found):
            self._assume(config, dig(found, "spec", "forProvider", "manifest"))
            return
        self._apply(config, ref, dig(found, "spec", "forProvider", "manifest"))
        self.seen.applied[ref] = store.changed[ref]

    def _assume(self, config: str, observed: Manifest) -> None:
        """Add an object that someone else made and that an Object observes, unless it is there."""
        there = self.things.setdefault(config, {})
        if preinstalled.is_assumed(observed) and ref_of(observed) not in there:
            there[ref_of(observed)] = RemoteObject(plain(observed))
            self.seen.written(config)

    def _has_thing(self, config: str, manifest: Manifest) -> bool:
        return ref_of(dig(manifest, "spec", "forProvider", "manifest")) in self.things.get(config, {})

    def _withdraw(self, store: Store, ref: Ref, manifest: Manifest, error: str) -> None:
        """Delete the remote object. Without an answer of its cluster, an Object that must delete it stays."""
        keeps = not provider.may_delete(manifest)
        if error and not keeps:
            return
        there = self.things.get(provider.config(manifest), {})
        target = ref_of(dig(manifest, "spec", "forProvider", "manifest"))
        if not keeps and target in there and there[target].owner == ref:
            del there[target]
            self.seen.written(provider.config(manifest))
        store.remove_finalizer(ref, FINALIZER)

    def _apply(self, config: str, owner: Ref, wanted: Manifest) -> None:
        there = self.things.setdefault(config, {})
        ref = ref_of(wanted)
        old = there.get(ref)
        manifest = plain(wanted)
        generation = 1
        if old is not None:
            if old.owner not in (None, owner) and ref.kind != "Namespace":
                self.shared.add((config, ref))
            generation = old.manifest["metadata"]["generation"] + (_spec(old.manifest) != _spec(manifest))
            manifest |= {"status": old.manifest["status"]} if "status" in old.manifest else {}
        manifest["metadata"]["generation"] = generation
        if old is None or old.manifest != manifest or old.owner != owner:
            there[ref] = RemoteObject(manifest, owner, old.version + 1 if old else 0, old.runs if old else None)
            self.seen.written(config)

    def _error(self, store: Store, manifest: Manifest, by_config: Mapping[str, Manifest]) -> str:
        """Why the provider cannot reconcile an Object; empty if it can."""
        config = provider.config(manifest)
        if store.get(Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", config)) is None:
            return f'cannot get provider config: ClusterProviderConfig.kubernetes.m.crossplane.io "{config}" not found'
        name = dig(by_config.get(config), "metadata", "name") or ""
        if name in self.faults.unreachable:
            return "cannot get object: dial tcp: connect: connection refused"
        if name in self.faults.provider_errors and not provider.observes_only(manifest):
            return self.faults.provider_errors[name]
        target = dig(manifest, "spec", "forProvider", "manifest")
        namespace = dig(target, "metadata", "namespace") or ""
        if namespace and not provider.observes_only(manifest) and not self._has_namespace(config, namespace):
            return f'cannot create object: namespaces "{namespace}" not found'
        return ""

    def _has_namespace(self, config: str, namespace: str) -> bool:
        return namespace in _ALWAYS or Ref("v1", "Namespace", "", namespace) in self.things.get(config, {})

    def _report(self, store: Store, ref: Ref, by_config: Mapping[str, Manifest]) -> None:
        """Write an Object's status: the remote object, whether it is in sync, and whether it is ready."""
        found = store.get(ref)
        if found is None or dig(found, "metadata", "deletionTimestamp"):
            return
        error = self._error(store, found, by_config)
        target = ref_of(dig(found, "spec", "forProvider", "manifest"))
        remote = self.things.get(provider.config(found), {}).get(target)
        written_from = (store.changed[ref], remote.version if remote else -1, error)
        if self.seen.reported.get(ref) == written_from:
            return
        if error or remote is None:
            error = error or f"cannot observe: {target} not found"
            provider.write_status(store, ref, None, Condition("Synced", "False", "ReconcileError", error))
        else:
            ready = provider.AVAILABLE if provider.is_ready(found, remote.manifest) else provider.UNAVAILABLE
            provider.write_status(store, ref, {"manifest": remote.manifest}, provider.SYNCED, ready)
        self.seen.reported[ref] = (store.changed[ref], *written_from[1:])

    # The clusters

    def _clusters(self, store: Store) -> dict[str, Manifest]:
        """InferenceClusters by the provider config that reaches them. Adds what is preinstalled on new ones."""
        found = {
            names.provider_config(m["metadata"]["name"]): m
            for m in store.of_kind(versions.MODELPLANE, "InferenceCluster")
        }
        for config, cluster in found.items():
            there = self.things.setdefault(config, {})
            for manifest in preinstalled.things(cluster):
                there.setdefault(ref_of(manifest), RemoteObject(manifest))
        return found

    def _run_if_changed(
        self, store: Store, config: str, things: dict[Ref, RemoteObject], cluster: Manifest | None
    ) -> None:
        version = store.changed.get(ref_of(cluster), 0) if cluster else -1
        sight = (version, self.seen.writes.get(config, 0), self.seen.store[1])
        if self.seen.ran.get(config) != sight and (cluster or config == names.CONTROL_CONFIG):
            self.seen.statuses[config] = self.seen.statuses.get(config, 0) + controllers.run(
                things, cluster, self.faults, self._matcher
            )
            self.seen.ran[config] = sight


def _guard_configs(store: Store, api_version: str, kind: str) -> None:
    """Keep a provider config as long as something uses it."""
    used = {provider.config(m) for m in store.of_kind(api_version, kind)}
    for ref in store.refs(api_version, "ClusterProviderConfig"):
        if ref.name in used:
            store.add_finalizer(ref, IN_USE)
        else:
            store.remove_finalizer(ref, IN_USE)


def _spec(manifest: Manifest) -> dict[str, Any]:
    return {k: v for k, v in manifest.items() if k not in ("metadata", "status")}
