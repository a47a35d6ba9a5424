"""Plays the clouds and the providers that reach them, on a control cluster with the real definitions of their kinds.

No provider runs: what is real is the API server, which admits each managed resource by the provider's own schema and
rules, and Crossplane, which creates, changes and deletes them. A provider is played as follows:

- A managed resource gets a finalizer when it is first seen. Once all that it refers to has been made, it is made: it
  has an external name, its status, and its connection Secret.
- The cloud keeps what another resource refers to. A resource that is deleted too early is noted in `refused`, and stays
  until nothing refers to it.
- Objects and Releases on the clusters are reported as ready. One that may delete what it holds takes a finalizer, too.
"""

import base64
import contextlib
import queue
import threading
from dataclasses import dataclass, field

from function import clouds
from function.clouds import Provisioner
from function.core import dig, plain
from function.manifests import managed
from function.vocabulary import crossplane, versions
from tests.e2e.cloud_kinds import kinds
from tests.e2e.control import Control
from tests.e2e.kube import Api, Gone, Object
from tests.e2e.played import conditions, identified
from tests.support import cloud_samples

CRD = "apiextensions.k8s.io/v1"
FINALIZER = "finalizer.managedresource.crossplane.io"  # crossplane-runtime v2.4, pkg/reconciler/managed
ON_CLUSTERS = ((versions.PROVIDER_KUBERNETES, "Object"), (versions.PROVIDER_HELM, "Release"))
Key = tuple[str, str, str]  # apiVersion, kind and name: all are in one namespace


@dataclass(slots=True)
class Clouds:
    """The clouds, and what has been made in them."""

    control: Control
    made: dict[Key, Object] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)  # deletions that a cloud would have refused
    deleted: list[Key] = field(default_factory=list)  # in the order in which they went
    news: "queue.Queue[Key]" = field(default_factory=queue.Queue)
    waiting: set[Key] = field(default_factory=set)

    @property
    def api(self) -> Api:
        return self.control.api

    def open(self) -> None:
        """Give the clouds credentials, and play until the API server ends."""
        self.api.apply(cloud_samples.credentials())
        self.api.apply(*(cloud_samples.provider_config(provisioner) for provisioner in clouds.PROVISIONERS))
        for api_version, kind in (*(each[:2] for each in kinds()), *ON_CLUSTERS):
            self.api.list(api_version, kind)  # waits until the API server has made the storage of a new kind
            threading.Thread(target=self.watch, args=(api_version, kind), daemon=True).start()
        threading.Thread(target=self.play, daemon=True).start()

    def watch(self, api_version: str, kind: str) -> None:
        for _, target in self.api.watch(api_version, kind):
            self.news.put((api_version, kind, target["metadata"]["name"]))

    def play(self) -> None:
        """Act on what changed, and again on what waits for something else."""
        api, of = self.api.as_user(self.api.token), {each[:2]: each[2] for each in kinds()}
        while True:
            self.waiting.add(self.news.get())
            for key in sorted(self.waiting):
                with contextlib.suppress(Gone):  # then there is more news of it
                    if not self.act(api, key, of.get(key[:2])):
                        continue
                self.waiting.discard(key)

    def act(self, api: Api, key: Key, provisioner: Provisioner | None) -> bool:
        """Do what the provider would do for a resource. Gives whether nothing is left to be done."""
        target = api.find(*key, namespace=NAMESPACE)
        if target is None:
            self.gone(key)
            return True
        if "deletionTimestamp" in target["metadata"]:
            return self.delete(api, key, target)
        if FINALIZER not in target["metadata"].get("finalizers", []) and holds_something(target):
            api.patch(target, {"metadata": {"finalizers": [*target["metadata"].get("finalizers", []), FINALIZER]}})
        if provisioner is None:
            report(api, target)
            return True
        return self.make(api, key, target, provisioner)

    def gone(self, key: Key) -> None:
        if self.made.pop(key, None):
            self.deleted.append(key)

    def make(self, api: Api, key: Key, target: Object, provisioner: Provisioner) -> bool:
        there = {name for _, _, name in self.made}
        if not referred(target) <= there:
            return False
        seen = provisioner.observe(target)
        if managed.external_name(target) is None:
            name = {crossplane.EXTERNAL_NAME: str(seen.at_provider.get("id") or f"id-of-{key[2]}")}
            target = api.patch(target, {"metadata": {"annotations": name}})
        secret = dig(target, "spec", "writeConnectionSecretToRef", "name")
        if secret and seen.connection:
            data = {name: base64.b64encode(value.encode()).decode() for name, value in seen.connection.items()}
            api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": named(secret), "data": data})
        api.apply_status(target, {"atProvider": plain(seen.at_provider), "conditions": conditions("Synced", "Ready")})
        self.made[key] = target
        return True

    def users(self, api: Api, key: Key) -> list[Key]:
        """What refers to a resource. What is gone already, although that is no news yet, does not."""
        found = [other for other, made in self.made.items() if key[2] in referred(made)]
        return [other for other in found if api.find(*other, namespace=NAMESPACE) is not None]

    def delete(self, api: Api, key: Key, target: Object) -> bool:
        users = [title(other) for other in self.users(api, key)]
        if users:
            self.refused.append(f"{title(key)} is used by {', '.join(users)}")
            return False
        api.patch(target, {"metadata": {"finalizers": [f for f in target["metadata"]["finalizers"] if f != FINALIZER]}})
        return True


NAMESPACE = "modelplane-system"


def referred(target: Object) -> set[str]:
    """The names of the managed resources that one refers to. Secrets are not made by a cloud."""
    return {name for field, name in managed.references(target) if not field.endswith("SecretRef")}


def named(name: str) -> Object:
    return {"name": name, "namespace": NAMESPACE}


def title(key: Key) -> str:
    return f"{key[1]} {key[2]}"


def holds_something(target: Object) -> bool:
    """Whether something outside goes with it: without Delete, a provider lets it go at once."""
    return bool({"*", "Delete"} & set(dig(target, "spec", "managementPolicies") or ("*",)))


def report(api: Api, target: Object) -> None:
    """Report an Object or a Release as its provider would."""
    cluster = dig(target, "metadata", "labels", "modelplane.ai/cluster") or ""
    manifest = dig(target, "spec", "forProvider", "manifest")
    seen: Object = {}
    if dig(manifest, "kind") == "Gateway":
        seen = {"status": {"addresses": [{"type": "IPAddress", "value": "198.18.7.1"}]}}
    elif dig(manifest, "kind") == "Namespace":
        seen = identified(cluster)
    at_provider = {"manifest": {**plain(manifest), **seen}} if manifest else {"state": "deployed"}
    api.apply_status(target, {"atProvider": at_provider, "conditions": conditions("Synced", "Ready")})
