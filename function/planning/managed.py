"""What the providers of clouds do: every managed resource comes up at once, and its connection Secret is written."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

from function import clouds
from function.contracts.cloud.source import Provisioner
from function.core import Manifest, dig
from function.planning import provider
from function.sandbox.store import Ref, Store
from function.vocabulary import versions


def reconcile(store: Store, news: Iterable[Ref]) -> None:
    """Give every managed resource of a cloud the status that its folder in function/clouds tells.

    Args:
        store: The control cluster.
        news: The objects that changed. If a Secret did, every resource is looked at: it may have been a connection's.
    """
    changed = set(news)
    secrets = any(ref[:2] == (versions.CORE, "Secret") for ref in changed)
    for provisioner in clouds.PROVISIONERS:
        for kind in provisioner.managed:
            of = kind.api_version, kind.kind
            for ref in store.refs(*of) if secrets else sorted(ref for ref in changed if ref[:2] == of):
                _reconcile(store, ref, provisioner)


def _reconcile(store: Store, ref: Ref, provisioner: Provisioner) -> None:
    manifest = store.get(ref)
    if manifest is not None:
        seen = provisioner.observe(manifest)
        provider.write_status(store, ref, seen.at_provider, provider.SYNCED, provider.AVAILABLE)
        _connect(store, manifest, seen.connection)


def _connect(store: Store, manifest: Manifest, connection: Mapping[str, str]) -> None:
    """Write the Secret that a managed resource asks for, in its own namespace."""
    name = dig(manifest, "spec", "writeConnectionSecretToRef", "name")
    namespace = manifest["metadata"].get("namespace") or ""
    if not name or not connection:
        return
    data = {key: base64.b64encode(value.encode()).decode() for key, value in connection.items()}
    if dig(store.get(Ref(versions.CORE, "Secret", namespace, name)), "data") != data:
        metadata = {"name": name, "namespace": namespace}
        store.load({"apiVersion": versions.CORE, "kind": "Secret", "metadata": metadata, "data": data})
