"""The common part of the clouds' composites: the pools of their spec, and the status that an InferenceCluster reads.

A cloud's `Pool` and `Status` are subclasses of those here, and its SOURCE takes `access` and `storage_class` from here
unless it must do otherwise.
"""

from __future__ import annotations

from typing import Annotated, Any

from annotated_types import MaxLen

from function import schema
from function.contracts.cloud.nodepool import NodePool
from function.contracts.cloud.source import KEY, Access, SecretKey
from function.core import Manifest, Request, condition, dig, dig_list, quote_condition
from function.vocabulary import conditions as c
from function.vocabulary import names

KUBECONFIG = "Kubeconfig"
"""Type of the Secret that holds the kubeconfig. Any other type is one of an identity."""


MOST_POOLS = 16
"""Node pools of a composite: those of an InferenceCluster, and as many that replicas have not left."""


class Pool(NodePool):
    """A node pool of a cloud's composite. A cloud adds `machine`: the block of its class."""

    drivers: Annotated[tuple[schema.DnsSubdomain, ...], MaxLen(16)] = ()
    """DRA drivers of the devices of a node, sorted."""


class SecretRef(schema.Api):
    type: str
    """Kubeconfig, or the type of an identity, as provider-kubernetes names it."""
    name: str
    """Name of a Secret."""
    key: str
    """Key of the Secret."""
    namespace: schema.DnsLabel | None = None
    """Namespace of the Secret. Defaults to the one of the composite."""


class CacheStatus(schema.Api):
    storageClassName: str
    """StorageClass whose volumes can be mounted read-write by many nodes."""


class Status(schema.Status):
    secrets: Annotated[tuple[SecretRef, ...], MaxLen(4)] = ()
    """Secrets by which the cluster is reached. Published once they exist."""
    cache: CacheStatus | None = None
    """Storage for ModelCaches. Published once the StorageClass exists."""
    pools: Annotated[tuple[str, ...], MaxLen(MOST_POOLS)] = ()
    """Names of the node pools that the cloud has made. Replicas are placed on no other pool."""


def access(_block: Any, request: Request) -> Access:
    """Return access by the Secrets that the observed composite publishes; until it does, what it waits for."""
    composite = request.observed.get(KEY)
    if composite is None:
        return Access(None, missing=("The cluster is about to be made",))
    found = {str(dig(entry, "type")): _secret_key(entry) for entry in dig_list(composite, "status", "secrets")}
    kubeconfig = found.pop(KUBECONFIG, None)
    if kubeconfig is None:
        return Access(None, missing=(pending(composite),))
    return Access(kubeconfig, identity=min(found.items(), default=None))


def _secret_key(entry: Any) -> SecretKey:
    namespace = str(dig(entry, "namespace") or names.SYSTEM_NAMESPACE)
    return SecretKey(str(dig(entry, "name")), str(dig(entry, "key")), namespace)


def pending(composite: Manifest) -> str:
    """Return the sentence that a composite is not ready, with what it waits for in its own words."""
    state = condition(composite, c.CLUSTER_READY.type) or condition(composite, "Ready")
    message = quote_condition(state) or "nothing is heard of it yet"
    return f"{composite['kind']} {composite['metadata']['name']} is not ready: {message}"


def storage_class(_block: Any, request: Request) -> str | None:
    """Return the StorageClass that the observed composite publishes, else the one that the InferenceCluster does."""
    for manifest in (request.observed.get(KEY), request.xr):
        name = dig(manifest, "status", "cache", "storageClassName")
        if isinstance(name, str) and name:
            return name
    return None
