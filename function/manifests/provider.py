"""Objects of provider-kubernetes, and the providers' access to a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.vocabulary import versions

OBSERVE = ("Observe",)
"""Management policy of an Object that is only observed."""
ONLY_DELETE = ("Observe", "Delete")
"""Management policies of an Object for what others make: the remote object is deleted with its Object, which stays
until it is gone."""
KEEP_REMOTE = ("Observe", "Create", "Update", "LateInitialize")
"""Management policies without Delete: the remote object outlives its Object."""


def object_(
    *,
    name: str,
    namespace: str,
    provider_config: str,
    manifest: Mapping[str, Any],
    labels: Mapping[str, str] | None = None,
    readiness_cel: str | None = None,
    management_policies: Sequence[str] = (),
    deletion_propagation: str | None = None,
) -> dict[str, Any]:
    """Return an Object, which holds one remote object.

    It is ready once the remote object exists or, with `readiness_cel`, once that CEL expression over `object` is true.
    """
    return {
        "apiVersion": versions.PROVIDER_KUBERNETES,
        "kind": "Object",
        "metadata": {"name": name, "namespace": namespace, **({"labels": dict(labels)} if labels else {})},
        "spec": {
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": provider_config},
            "watch": True,
            **({"managementPolicies": list(management_policies)} if management_policies else {}),
            **({"readiness": {"policy": "DeriveFromCelQuery", "celQuery": readiness_cel}} if readiness_cel else {}),
            "forProvider": {
                **({"deletionPropagationPolicy": deletion_propagation} if deletion_propagation else {}),
                "manifest": dict(manifest),
            },
        },
    }


def cluster_provider_config(
    *, api_version: str, name: str, kubeconfig: Mapping[str, str], identity: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a provider's access to a cluster. `kubeconfig` is {name, key, namespace}, `identity` {type, secretRef}."""
    return {
        "apiVersion": api_version,
        "kind": "ClusterProviderConfig",
        "metadata": {"name": name},
        "spec": {
            "credentials": {"source": "Secret", "secretRef": dict(kubeconfig)},
            **({"identity": {"source": "Secret", **identity}} if identity else {}),
        },
    }
