"""Simulated providers, and the clusters that they reach: the controller that plans run beside Crossplane.

Terms. An *Object* (provider-kubernetes) holds the manifest of a *remote object*, which exists on the cluster that the
Object's provider config names. A *cluster* here is the set of its remote objects. What changed, or may be answered in
another way since it was looked at, is *pending* (seen.py); nothing else is looked at, so a call costs what is new.

Phases of a call, in order:

1. `_news`: find what is pending from what changed in the store.
2. `_provide`: apply the manifest of each Object to its cluster, or delete the remote object.
3. `controllers.run`: the controllers of each cluster write the statuses of remote objects, and its observer what was
   given as observed (observed.py).
4. `_report`: write each Object's conditions, and the remote object that the provider observed, into the Object.
5. `_install`: mark each Release (provider-helm) as deployed.
6. `_guard`: keep provider configs that are in use from being deleted.
7. `control_cluster.reconcile`: write the statuses of objects on the control cluster itself.
8. `managed.Providers`: the providers of clouds make, change and delete managed resources.

Deliberately coarse. Everything that can become ready is ready at once: a plan shows the state that a fleet converges
to, not the way there. A chart installs nothing; what it would install is assumed to be there (preinstalled.py). Faults
can be switched on (faults.Faults).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from function import clouds
from function.core import Condition, Manifest, dig, dig_fields, dig_text, plain
from function.planning import control_cluster, controllers, observed, preinstalled, provider
from function.planning.controllers import RemoteObject
from function.planning.faults import Faults
from function.planning.managed import Providers
from function.planning.seen import Seen
from function.sandbox.conditions import PAUSED
from function.sandbox.store import Ref, Store, ref_of
from function.scheduling import Matcher
from function.vocabulary import names, versions

_OBJECT, _RELEASE = (versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release")
_CLUSTER, _CONFIG = (versions.MODELPLANE, "InferenceCluster"), "ClusterProviderConfig"
_MADE = frozenset((model.API_VERSION, model.KIND) for model in clouds.kinds())
"""Kinds by which clouds make clusters."""
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
    observations: dict[str, Manifest] = field(default_factory=dict)
    """The ConfigMaps of observations that were given, by their names."""
    seen: Seen = field(default_factory=Seen)
    clouds: Providers = field(default_factory=Providers)
    _same: dict[str, set[str]] = field(default_factory=dict)
    """The provider configs that reach the same cluster as another, by that one."""
    _matcher: Matcher = field(default_factory=Matcher)

    def copied(self) -> Clusters:
        """A copy that changes independently. Manifests are shared, because nothing changes them in place."""
        return replace(
            self,
            faults=deepcopy(self.faults),
            things={c: {ref: replace(r) for ref, r in there.items()} for c, there in self.things.items()},
            shared=set(self.shared),
            observations=dict(self.observations),
            seen=self.seen.copied(),
            clouds=self.clouds.copied(),
        )

    def lose(self, config: str) -> None:
        """Remove everything on the cluster that a provider config reaches, at once."""
        self.things.pop(config, None)
        for ref in self.seen.objects.get(config, ()):
            self.seen.reported.pop(ref, None)  # what is made there again counts its versions anew
        self._changed(config)

    def redirect(self, config: str, other: str) -> None:
        """Let a provider config reach the cluster of another, as an edited kubeconfig does."""
        there = self.things[config] = self.things[other]
        there.update({ref: replace(remote, version=remote.version + 1) for ref, remote in there.items()})
        self._same[config] = self._same[other] = {config, other}
        self._changed(config)

    def __call__(self, store: Store) -> bool:
        """Act on everything that was composed since the last call. Returns whether a cloud is at work."""
        if self._has_work(store):
            self._work(store)
        return bool(self.clouds.again)

    def _has_work(self, store: Store) -> bool:
        seen = self.seen
        is_known = (store.version, repr(self.faults)) == (seen.store, seen.faults)
        return not is_known or bool(seen.provide or seen.observe or seen.run or self.clouds.again)

    def _work(self, store: Store) -> None:
        seen, faults = self.seen, repr(self.faults)
        news = self._news(store, faults)
        for ref in seen.provide.take(seen.objects):
            self._provide(store, ref)
        self._run(store)
        for ref in seen.observe.take(seen.objects):
            self._report(store, ref)
        for ref in sorted(ref for ref in news if ref[:2] == _RELEASE):
            provider.write_status(store, ref, {"state": "deployed"}, provider.SYNCED, provider.AVAILABLE)
        for ref in sorted(seen.guard):
            self._guard(store, ref)
        seen.guard.clear()
        control_cluster.reconcile(store, news)
        self.clouds(store, news, self.faults)

    def _news(self, store: Store, faults: str) -> list[Ref]:
        """The objects that changed since the last call. Finds what they make pending."""
        news = store.since(self.seen.store)
        self.seen.store = store.version  # before it writes: its own writes can be news for another Object
        for ref in news:
            self._notice(store, ref)
        if faults != self.seen.faults:
            self.seen.faults = faults
            for config in {*self.things, *self.seen.objects}:
                self._changed(config)
        return news

    def _notice(self, store: Store, ref: Ref) -> None:
        """Find what a changed object makes pending."""
        found, seen = store.get(ref), self.seen
        if ref[:2] in (_OBJECT, _RELEASE):
            index = seen.objects if ref[:2] == _OBJECT else seen.releases
            had = seen.assign(ref, provider.config(found) if found is not None else None, index)
            seen.guard.update(Ref(ref.api_version, _CONFIG, "", config) for config in had)
            if ref[:2] == _OBJECT:
                seen.provide.objects.add(ref)
                seen.observe.objects.add(ref)
                remote: Manifest = dig_fields(found, "status", "atProvider", "manifest")
                if observed.is_observation(remote):  # of a dump; what the observer writes here is known already
                    self.observations.setdefault(remote["metadata"]["name"], remote)
        elif ref.kind == "ConfigMap":
            self._notice_observation(ref, found)
        elif ref.kind == _CONFIG:
            seen.guard.add(ref)
            self._answers_anew(ref.name)
        elif ref[:2] == _CLUSTER:
            self._notice_cluster(store, ref, found)
        elif ref[:2] in _MADE:
            self._notice_made(ref, found)

    def _notice_cluster(self, store: Store, ref: Ref, cluster: Manifest | None) -> None:
        config = names.provider_config(ref.name)
        if (cluster is None) is (config in self.seen.clusters):
            self._answers_anew(config)
        if cluster is None:
            self.seen.clusters.pop(config, None)
            return
        self.seen.clusters[config] = ref
        store.invented.note(*preinstalled.invented(cluster))
        self._preinstall(config, cluster)
        self.seen.run.add(config)

    def _notice_observation(self, ref: Ref, config_map: Manifest | None) -> None:
        """Note an observation that is given as the observer writes it."""
        if config_map is not None and observed.is_observation(config_map):
            self.observations[ref.name] = config_map
            self.seen.run.update(c for c, one in self.seen.clusters.items() if names.observed(one.name) == ref.name)

    def _notice_made(self, ref: Ref, composite: Manifest | None) -> None:
        """Note the composite by which a cloud makes a cluster: the nodes on which pods run are its."""
        before = self.seen.configs.pop(ref, None)
        if before is not None:
            self.seen.made.pop(before, None)
            self.seen.run.add(before)
        if composite is not None:
            config = names.provider_config(str(dig(composite, "spec", "clusterName")))
            self.seen.configs[ref] = config
            self.seen.made[config] = ref
            self.seen.run.add(config)

    def _preinstall(self, config: str, cluster: Manifest) -> None:
        there = self.things.setdefault(config, {})
        for manifest in preinstalled.things(cluster):
            if ref_of(manifest) not in there:
                there[ref_of(manifest)] = RemoteObject(manifest)
                self._changed(config)

    def _restore(self, store: Store, config: str) -> None:
        """After something was deleted from a cluster: what is preinstalled there comes back."""
        self._changed(config)
        cluster = self.seen.clusters.get(config)
        found = store.get(cluster) if cluster else None
        if found is not None:
            self._preinstall(config, found)

    def _changed(self, config: str) -> None:
        """Something on a cluster changed."""
        for name in self._same.get(config, {config}):
            self._answers_anew(name)
            self.seen.run.add(name)

    def _answers_anew(self, config: str) -> None:
        """The provider may answer in another way for each Object of a config."""
        self.seen.provide.configs.add(config)
        self.seen.observe.configs.add(config)

    # The provider

    def _provide(self, store: Store, ref: Ref) -> None:
        """Apply an Object's manifest to its cluster, or delete the remote object if the Object is deleted."""
        found = store.get(ref)
        if found is None or provider.is_paused(found):
            return
        config = provider.config(found)
        if dig(found, "metadata", "deletionTimestamp"):
            self._withdraw(store, ref, found, self._error(store, found) or _lost_secret(store, config))
            return
        if self.seen.applied.get(ref) == store.changed.get(ref) and self._has_thing(config, found):
            return
        store.add_finalizer(ref, provider.FINALIZER)
        if self._error(store, found):
            return
        if not provider.may_create(found):
            self._assume(config, provider.carried(found))
            return
        self._apply(config, ref, provider.carried(found))
        self.seen.applied[ref] = store.changed[ref]

    def _assume(self, config: str, observed: Manifest) -> None:
        """Add an object that someone else made and that an Object observes, unless it is there."""
        there = self.things.setdefault(config, {})
        if preinstalled.is_assumed(observed) and ref_of(observed) not in there:
            there[ref_of(observed)] = RemoteObject(plain(observed))
            self._changed(config)

    def _has_thing(self, config: str, manifest: Manifest) -> bool:
        return ref_of(provider.carried(manifest)) in self.things.get(config, {})

    def _withdraw(self, store: Store, ref: Ref, manifest: Manifest, error: str) -> None:
        """Delete the remote object. Without an answer of its cluster, an Object that must delete it stays."""
        keeps = not provider.may_delete(manifest)
        if error and not keeps:
            return
        there = self.things.get(provider.config(manifest), {})
        target = ref_of(provider.carried(manifest))
        if not keeps and target in there and there[target].owner in (ref, None):
            gone = there.pop(target).manifest
            there.pop(observed.owned_by(gone) or target, None)
            self._restore(store, provider.config(manifest))
        elif keeps and target in there and there[target].owner == ref:
            there[target].owner = None  # another Object may take it over
        store.remove_finalizer(ref, provider.FINALIZER)

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
            self._changed(config)

    def _error(self, store: Store, manifest: Manifest) -> str:
        """Why the provider cannot reconcile an Object; empty if it can."""
        config = provider.config(manifest)
        if store.get(Ref(versions.PROVIDER_KUBERNETES, "ClusterProviderConfig", "", config)) is None:
            return f'cannot get provider config: ClusterProviderConfig.kubernetes.m.crossplane.io "{config}" not found'
        name = self.seen.clusters[config].name if config in self.seen.clusters else ""
        if config in map(names.provider_config, self.faults.unreachable):  # also once its InferenceCluster is gone
            return "cannot get object: dial tcp: connect: connection refused"
        if name in self.faults.unauthorized:
            return "cannot get object: Unauthorized"
        if (failure := self.faults.object_errors.get(manifest["metadata"]["name"])) and provider.may_create(manifest):
            return failure
        if name in self.faults.provider_errors and provider.may_create(manifest):
            return self.faults.provider_errors[name]
        namespace = dig_text(provider.carried(manifest), "metadata", "namespace") or ""
        if namespace and provider.may_create(manifest) and not self._has_namespace(config, namespace):
            return f'cannot create object: namespaces "{namespace}" not found'
        return ""

    def _has_namespace(self, config: str, namespace: str) -> bool:
        return namespace in _ALWAYS or Ref("v1", "Namespace", "", namespace) in self.things.get(config, {})

    def _report(self, store: Store, ref: Ref) -> None:
        """Write an Object's status: the remote object, whether it is in sync, and whether it is ready."""
        found = store.get(ref)
        if found is not None and provider.is_paused(found):
            provider.write_status(store, ref, None, PAUSED)
            return
        if found is None or dig(found, "metadata", "deletionTimestamp"):
            return
        error = self._error(store, found)
        target = ref_of(provider.carried(found))
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

    def _run(self, store: Store) -> None:
        """Run the controllers of the clusters on which something changed."""
        for config in sorted(self.seen.run):
            ref, things = self.seen.clusters.get(config), self.things.get(config)
            if things is None or (ref is None and config != names.CONTROL_CONFIG):
                continue
            cluster = store.get(ref) if ref else None
            made = store.get(self.seen.made[config]) if config in self.seen.made else None
            changed = controllers.run(things, cluster, self.faults, self._matcher, made=made)
            if cluster is not None and cluster["metadata"]["name"] not in self.faults.unreachable:
                changed += observed.write(things, cluster, self.observations)
            if changed:
                self.seen.observe.configs.update(self._same.get(config, {config}))
        self.seen.run.clear()

    def _guard(self, store: Store, ref: Ref) -> None:
        """Keep a provider config as long as something uses it."""
        index = self.seen.objects if ref.api_version == versions.PROVIDER_KUBERNETES else self.seen.releases
        if index.get(ref.name):
            store.add_finalizer(ref, provider.IN_USE)
        else:
            store.remove_finalizer(ref, provider.IN_USE)


def _lost_secret(store: Store, config: str) -> str:
    """Why nothing can be deleted on a cluster whose kubeconfig is gone; empty where it is there, or was never named."""
    found = store.get(Ref(versions.PROVIDER_KUBERNETES, _CONFIG, "", config))
    reference = dig(found, "spec", "credentials", "secretRef")
    name, namespace = dig(reference, "name"), str(dig(reference, "namespace") or "")
    if not name or store.get(Ref(versions.CORE, "Secret", namespace, str(name))) is not None:
        return ""
    return f'cannot get credentials: cannot get credentials secret: Secret "{name}" not found'


def _spec(manifest: Manifest) -> dict[str, Any]:
    return {k: v for k, v in manifest.items() if k not in ("metadata", "status")}
