"""What lies beyond the control cluster: the providers, and the clusters that they reach.

Objects become synced, their manifests stand on their clusters, workloads run where their pods fit, gateways accept
routes. Faults can be switched on; without them everything that can come up is up at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from function.core import Condition, Manifest, dig, plain
from function.planning import control_cluster, controllers, managed, preinstalled, provider
from function.planning.controllers import Faults, Remote
from function.planning.nodes import NodeReader
from function.sandbox.store import Ref, Store, ref_of
from function.vocabulary import names, versions

FINALIZER = "finalizer.managedresource.crossplane.io"
IN_USE = "in-use.crossplane.io"
"""Finalizer of a provider config while something is reached through it (crossplane-runtime v2, providerconfig)."""
_ALWAYS = ("default", "kube-system", names.SYSTEM_NAMESPACE)
"""Namespaces that are on every cluster."""


@dataclass(slots=True)
class Clusters:
    """All inference clusters, each by the name of the provider config that reaches it."""

    faults: Faults = field(default_factory=Faults)
    things: dict[str, dict[Ref, Remote]] = field(default_factory=dict)
    shared: set[tuple[str, Ref]] = field(default_factory=set)
    """Things that two Objects claim at once. Namespaces may be; anything else is a fault of ours."""
    _reader: NodeReader = field(default_factory=NodeReader)
    _seen: tuple[int, str] = (-1, "")
    _carried: dict[Ref, int] = field(default_factory=dict)
    """The version of each Object that was last carried to its cluster."""
    _reported: dict[Ref, tuple[int, int, str]] = field(default_factory=dict)
    """What each Object's status was last written from: its own version, its thing's, and what the provider said."""
    _ran: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """What each cluster's controllers last saw: the InferenceCluster, the things on it, and the faults."""
    _touched: dict[str, int] = field(default_factory=dict)
    """Counts what was written to each cluster."""
    _answered: dict[str, int] = field(default_factory=dict)
    """Counts how often each cluster's controllers wrote a status."""
    _current: dict[str, int] = field(default_factory=dict)
    """The numbers of those that were looked at, as long as nothing is written to them."""
    _states: dict[str, tuple[int, tuple[object, ...]]] = field(default_factory=dict)
    """What each cluster last looked like to the provider, numbered."""
    _provided: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    """The version of each Object, and the number of its cluster's state, when it was last carried or withdrawn."""
    _told: dict[Ref, tuple[int, int]] = field(default_factory=dict)
    """The same when its status was last told."""
    _installed: dict[Ref, int] = field(default_factory=dict)
    """The version of each Release that was last found installed."""

    def copied(self) -> Clusters:
        """The same clusters once more. What was written to one is never changed in place."""
        return replace(
            self,
            faults=deepcopy(self.faults),
            things={c: {ref: replace(r) for ref, r in there.items()} for c, there in self.things.items()},
            shared=set(self.shared),
            _carried=dict(self._carried),
            _reported=dict(self._reported),
            _ran=dict(self._ran),
            _touched=dict(self._touched),
            _answered=dict(self._answered),
            _current={},
            _states=dict(self._states),
            _provided=dict(self._provided),
            _told=dict(self._told),
            _installed=dict(self._installed),
        )

    def __call__(self, store: Store) -> None:
        """Answer for everything that was composed. Nothing to do where nothing was written since."""
        sight = (store.version, repr(self.faults))
        if sight == self._seen:
            return
        self._seen = sight  # ahead of what is written here: that may be news to the next Object
        by_config = self._clusters(store)
        self._current.clear()
        objects = store.refs(versions.PROVIDER_KUBERNETES, "Object")
        for ref in self._news(store, objects, by_config, self._provided):
            self._provide(store, ref, by_config)
        for config, things in sorted(self.things.items()):
            self._run_if_changed(store, config, things, by_config.get(config))
        self._current.clear()
        for ref in self._news(store, objects, by_config, self._told):
            self._report(store, ref, by_config)
        for ref in store.refs(versions.PROVIDER_HELM, "Release"):
            self._install(store, ref)
        for api_version, kind in ((versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release")):
            _guard_configs(store, api_version, kind)
        control_cluster.tend(store)
        managed.tend(store)

    def _news(
        self,
        store: Store,
        objects: Iterable[Ref],
        by_config: Mapping[str, Manifest],
        looked_at: dict[Ref, tuple[int, int]],
    ) -> Iterator[Ref]:
        """The Objects that are, or whose clusters are, other than when they were last looked at."""
        for ref in objects:
            found = store.get(ref)
            if found is None:
                continue
            config = provider.config(found)
            state = self._current.get(config)
            if state is None:
                state = self._current[config] = self._state(store, config, by_config)
            sight = store.changed[ref], state
            if looked_at.get(ref) != sight:
                looked_at[ref] = sight
                yield ref

    def _state(self, store: Store, config: str, by_config: Mapping[str, Manifest]) -> int:
        """A number for what a cluster looks like to the provider: another one as soon as anything is other."""
        seen = (
            store.changed.get(Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", config)),
            dig(by_config.get(config), "metadata", "name"),
            len(self.things.get(config, ())),
            self._touched.get(config),
            self._answered.get(config),
            self._seen[1],
        )
        number, last = self._states.get(config, (0, ()))
        if last != seen:
            self._states[config] = number + 1, seen
            return number + 1
        return number

    def _install(self, store: Store, ref: Ref) -> None:
        if self._installed.get(ref) != store.changed[ref]:
            provider.say(store, ref, {"state": "deployed"}, provider.SYNCED, provider.AVAILABLE)
            self._installed[ref] = store.changed[ref]

    # The provider

    def _provide(self, store: Store, ref: Ref, by_config: Mapping[str, Manifest]) -> None:
        """Carry an Object's manifest to its cluster, or take it away."""
        found = store.get(ref)
        assert found is not None
        config = provider.config(found)
        if dig(found, "metadata", "deletionTimestamp"):
            self._withdraw(store, ref, found, self._refusal(store, found, by_config))
            return
        if self._carried.get(ref) == store.changed.get(ref) and self._has_thing(config, found):
            return
        store.add_finalizer(ref, FINALIZER)
        if provider.observes_only(found) or self._refusal(store, found, by_config):
            return
        self._carry(config, ref, dig(found, "spec", "forProvider", "manifest"))
        self._carried[ref] = store.changed[ref]

    def _has_thing(self, config: str, manifest: Manifest) -> bool:
        return ref_of(dig(manifest, "spec", "forProvider", "manifest")) in self.things.get(config, {})

    def _withdraw(self, store: Store, ref: Ref, manifest: Manifest, refusal: str) -> None:
        """An Object whose cluster does not answer cannot go, unless it leaves its thing behind."""
        keeps = not provider.may_delete(manifest)
        if refusal and not keeps:
            return
        there = self.things.get(provider.config(manifest), {})
        target = ref_of(dig(manifest, "spec", "forProvider", "manifest"))
        if not keeps and target in there and there[target].owner == ref:
            del there[target]
            self._touch(provider.config(manifest))
        store.remove_finalizer(ref, FINALIZER)

    def _carry(self, config: str, owner: Ref, wanted: Manifest) -> None:
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
            there[ref] = Remote(manifest, owner, old.version + 1 if old else 0, old.runs if old else None)
            self._touch(config)

    def _touch(self, config: str) -> None:
        self._current.pop(config, None)
        self._touched[config] = self._touched.get(config, 0) + 1

    def _refusal(self, store: Store, manifest: Manifest, by_config: Mapping[str, Manifest]) -> str:
        """Why the provider cannot do what an Object asks; empty where it can."""
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
        """What the provider writes into an Object's status."""
        found = store.get(ref)
        if found is None or dig(found, "metadata", "deletionTimestamp"):
            return
        refusal = self._refusal(store, found, by_config)
        target = ref_of(dig(found, "spec", "forProvider", "manifest"))
        remote = self.things.get(provider.config(found), {}).get(target)
        written_from = (store.changed[ref], remote.version if remote else -1, refusal)
        if self._reported.get(ref) == written_from:
            return
        if refusal or remote is None:
            refusal = refusal or f"cannot observe: {target} not found"
            provider.say(store, ref, None, Condition("Synced", "False", "ReconcileError", refusal))
        else:
            ready = provider.AVAILABLE if provider.is_ready(found, remote.manifest) else provider.UNAVAILABLE
            provider.say(store, ref, {"manifest": remote.manifest}, provider.SYNCED, ready)
        self._reported[ref] = (store.changed[ref], *written_from[1:])

    # The clusters

    def _clusters(self, store: Store) -> dict[str, Manifest]:
        """InferenceClusters by the provider config that reaches them."""
        found = {
            names.provider_config(m["metadata"]["name"]): m
            for m in store.of_kind(versions.MODELPLANE, "InferenceCluster")
        }
        for config, cluster in found.items():
            there = self.things.setdefault(config, {})
            for manifest in preinstalled.things(cluster):
                there.setdefault(ref_of(manifest), Remote(manifest))
        return found

    def _run_if_changed(self, store: Store, config: str, things: dict[Ref, Remote], cluster: Manifest | None) -> None:
        version = store.changed.get(ref_of(cluster), 0) if cluster else -1
        sight = (version, self._touched.get(config, 0), self._seen[1])
        if self._ran.get(config) != sight and (cluster or config == names.CONTROL_CONFIG):
            self._answered[config] = self._answered.get(config, 0) + controllers.run(
                things, cluster, self.faults, self._reader
            )
            self._ran[config] = sight


def _guard_configs(store: Store, api_version: str, kind: str) -> None:
    """A provider config outlives everything that is reached through it."""
    used = {provider.config(m) for m in store.of_kind(api_version, kind)}
    for ref in store.refs(api_version, "ClusterProviderConfig"):
        if ref.name in used:
            store.add_finalizer(ref, IN_USE)
        else:
            store.remove_finalizer(ref, IN_USE)


def _spec(manifest: Manifest) -> dict[str, Any]:
    return {k: v for k, v in manifest.items() if k not in ("metadata", "status")}
