"""One look of a cloud's provider at one managed resource: what it reads, and how it writes."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from function.contracts.cloud.managedkind import ManagedKind
from function.contracts.cloud.provisioner import Observation, Provisioner
from function.core import Manifest, dig, dig_fields
from function.manifests import managed
from function.planning import provider, upjet
from function.planning.faults import Faults
from function.sandbox.composed import owner_reference
from function.sandbox.store import Ref, Store
from function.vocabulary import crossplane, versions


class Known(NamedTuple):
    """A kind of managed resource, and the cloud that has it."""

    kind: ManagedKind
    cloud: Provisioner


Kinds = Mapping[tuple[str, str], Known]
"""By apiVersion and kind."""


def kinds(provisioners: Iterable[Provisioner]) -> Kinds:
    """Return the kinds of managed resources of some clouds."""
    return {(kind.api_version, kind.kind): Known(kind, cloud) for cloud in provisioners for kind in cloud.managed}


@dataclass(frozen=True, slots=True)
class Look:
    """A managed resource that its provider looks at."""

    store: Store
    ref: Ref
    manifest: Manifest
    known: Known
    faults: Faults

    @property
    def wanted(self) -> Manifest:
        """What the cloud is to have."""
        return dig_fields(self.manifest, "spec", "forProvider")

    @property
    def config(self) -> Ref:
        """Its provider config."""
        reference = dig(self.manifest, "spec", "providerConfigRef")
        kind = str(dig(reference, "kind") or "ClusterProviderConfig")
        namespace = self.ref.namespace if kind == "ProviderConfig" else ""
        return Ref(self.known.cloud.provider, kind, namespace, str(dig(reference, "name") or "default"))

    def references(self) -> Iterator[tuple[str, Ref]]:
        """Each reference by the path of its field, with the object that it names."""
        api_versions = {kind.kind: kind.api_version for kind in self.known.cloud.managed}
        for path, name in managed.reference_paths(self.manifest):
            kind = self.known.kind.referred(path)
            yield path, Ref(api_versions.get(kind, versions.CORE), kind, self.ref.namespace, name)

    def uses(self) -> frozenset[Ref]:
        """The managed resources that it refers to."""
        return frozenset(used for _, used in self.references() if used.api_version != versions.CORE)

    def observe(self) -> Observation:
        """What the cloud tells of it, once it is made."""
        return self.known.cloud.observe(self.manifest)

    def report(self, conditions: upjet.Report, at_provider: Mapping[str, Any] | None = None) -> None:
        """Write its status."""
        provider.write_status(self.store, self.ref, at_provider, *conditions)

    def name(self, name: str) -> None:
        """Write its external name."""

        def write(manifest: dict[str, Any]) -> None:
            manifest["metadata"].setdefault("annotations", {})[crossplane.EXTERNAL_NAME] = name

        self.store.update(self.ref, write, status=True)

    def connect(self, connection: Mapping[str, str]) -> Ref | None:
        """Write the connection Secret into its own namespace. It is deleted with the managed resource.

        Returns:
            The Secret; None if the manifest asks for none, or there is nothing to write.
        """
        name = dig(self.manifest, "spec", "writeConnectionSecretToRef", "name")
        if not name or not connection:
            return None
        ref = Ref(versions.CORE, "Secret", self.ref.namespace, str(name))
        data = {key: base64.b64encode(value.encode()).decode() for key, value in connection.items()}
        if dig(self.store.get(ref), "data") != data:
            self.store.load(_secret(ref, self.manifest, data))
        return ref


def _secret(ref: Ref, owner: Manifest, data: Mapping[str, str]) -> dict[str, Any]:
    metadata = {"name": ref.name, "namespace": ref.namespace, "ownerReferences": [owner_reference(owner)]}
    kind = {"apiVersion": versions.CORE, "kind": "Secret", "type": "connection.crossplane.io/v1alpha1"}
    return {**kind, "metadata": metadata, "data": dict(data)}
