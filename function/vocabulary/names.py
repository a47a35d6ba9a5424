"""Derived names. Each starts with a readable part and ends with a hash of the whole identity, namespace included.

The identity includes everything that distinguishes two objects, so two tenants, clusters or engines never share a name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from function.core import NamespacedName, plain
from function.vocabulary import charts

DNS_LABEL = 63
"""Longest DNS label, label value, and name of an XR."""
DNS_SUBDOMAIN = 253
"""Longest DNS name, and longest name of most objects."""
LEADERWORKERSET = 49
"""Longest name of a LeaderWorkerSet. Its worker StatefulSets are `<lws>-<group>`, and their pods carry a revision label
of at most 63 characters. With a longer name the workers never start, and nothing reports it (lws v0.8, tested)."""
SYSTEM_NAMESPACE = "modelplane-system"
"""Namespace for the namespaced objects of cluster-scoped kinds: Secrets, composed infrastructure, the gateways."""
CLUSTER_GATEWAY = "inference-gateway"
"""The Gateway on every inference cluster, in SYSTEM_NAMESPACE."""
CONTROL_GATEWAY = "modelplane"
"""The Gateway on the control cluster, in SYSTEM_NAMESPACE."""
OBSERVER = "modelplane-observer"
"""The observer's Deployment on an inference cluster, in SYSTEM_NAMESPACE, and its ServiceAccount and roles."""
CONTROL_CONFIG = "modelplane-control"
"""The ClusterProviderConfig of either provider for the control cluster itself."""
_HASH = 8


def replica(deployment: NamespacedName, cluster: str, index: int) -> str:
    """Return the name of a ModelReplica and of its ModelEndpoint."""
    return derived(deployment.name, *deployment, cluster, str(index))


def replica_key(cluster: str, index: int) -> str:
    """Return a replica's key among the composed resources of its deployment."""
    return f"replica-{cluster}-{index}"


def endpoint_key(cluster: str, index: int) -> str:
    return f"endpoint-{cluster}-{index}"


def remote_object(cluster: str, kind: str, namespace: str, name: str) -> str:
    """Return the name of the Object for a remote object.

    It depends on the remote object alone, so each has only one Object.
    """
    return derived(name, cluster, kind, namespace, name)


def part(replica: NamespacedName, *parts: str, content: Any = None, longest: int = DNS_LABEL) -> str:
    """Return the name of one of a ModelReplica's objects on its cluster.

    Immutable objects have their content in the hash.
    """
    identity = ("ModelReplica", *replica, *parts, *([content_hash(content)] if content is not None else []))
    return derived("-".join((replica.name, *parts)), *identity, longest=longest)


def workload(replica: NamespacedName, engine: str, *, is_gang: bool) -> str:
    """Return the name of an engine's workload: a LeaderWorkerSet for a gang, otherwise a Deployment.

    The hash marks it as an engine, since an engine may be named like a part.
    """
    longest = LEADERWORKERSET if is_gang else DNS_LABEL
    return derived(f"{replica.name}-{engine}", "ModelReplica", *replica, "engine", engine, longest=longest)


def cache_claim(cache: NamespacedName, cluster: str) -> str:
    """Return the name of a ModelCache's PersistentVolumeClaim on a cluster, in the cache's namespace there."""
    return derived(cache.name, "ModelCache", *cache, cluster)


def staged(place: Any, version: str, more: Mapping[str, Any] | None = None) -> str:
    """Return the directory for what a place holds of a version, at the root of a cache's claim.

    If it exists, it is complete. `place` is a repository of the hub, or another JSON value; `more` is what else decides
    which files are staged.
    """
    return derived(version, content_hash([place, version, *([more] if more else [])]))


def provider_config(cluster: str) -> str:
    """Return the name of a cluster's ClusterProviderConfig, for either provider."""
    return derived(cluster, "provider-config", cluster)


def probe(cluster: str) -> str:
    """Return the name of the observe-only Object for a cluster's CLUSTER_GATEWAY, in SYSTEM_NAMESPACE.

    It tells whether the cluster answers. It is not a `remote_object` name, which the serving stack's own Object for the
    same Gateway has.
    """
    return derived(cluster, "probe", cluster)


def declared(cluster: str) -> str:
    """Return the name of the ConfigMap that tells the observer what an InferenceCluster declares of its pools."""
    return derived(cluster, "declared", cluster)


def observed(cluster: str) -> str:
    """Return the name of the ConfigMap in which the observer tells what the pools of an InferenceCluster have."""
    return derived(cluster, "observed", cluster)


def capacity_object(cluster: str) -> str:
    """Return the name of the observe-only Object for `observed`, in SYSTEM_NAMESPACE of the control cluster."""
    return derived(cluster, "capacity", cluster)


def observer(cluster: str) -> str:
    """Return the name of the observe-only Object for the observer's Deployment on a cluster, in SYSTEM_NAMESPACE.

    It is not a `remote_object` name, which the serving stack's own Object for the same Deployment has.
    """
    return derived(cluster, "observer", cluster)


def pod_reasons(namespace: str) -> str:
    """Return the name of the ConfigMap in which the observer tells why pods of a namespace wait or fail."""
    return derived(namespace, "pod-reasons", namespace)


def gateway_service(cluster: str) -> str:
    """Return the name of the Object, in SYSTEM_NAMESPACE, for the Service of the load balancer of a cluster's gateway.

    The Service is named like the gateway. The Object exists on clusters that a cloud makes.
    """
    return remote_object(cluster, "Service", charts.ENVOY_GATEWAY.namespace, CLUSTER_GATEWAY)


def backend(endpoint: NamespacedName) -> str:
    """Return the name of the Service by which the control gateway reaches a ModelEndpoint's address."""
    return derived(endpoint.name, "ModelEndpoint", *endpoint)


def egress(endpoint: NamespacedName) -> str:
    """Return the name of a ModelEndpoint's egress proxy and its Service.

    It differs from `backend`, because slices outlive a Service's selector.
    """
    return derived(f"{endpoint.name}-egress", "ModelEndpoint", *endpoint, "egress")


def address_slice(endpoint: NamespacedName, address_type: str) -> str:
    """Return the name of the EndpointSlice for a ModelEndpoint's address.

    Its address type is immutable, hence in the name.
    """
    return derived(f"{endpoint.name}-{address_type}", "ModelEndpoint", *endpoint, address_type)


def route(service: NamespacedName) -> str:
    """Return the name of a ModelService's HTTPRoute, and of the placeholder for when no endpoint is ready."""
    return derived(service.name, "ModelService", *service)


def proxy(service: NamespacedName) -> str:
    """Return the name of the proxy of a ModelService, and of its Service and ConfigMap."""
    return derived(f"{service.name}-proxy", "ModelService", *service, "proxy")


def label_value(name: str) -> str:
    """Return a name as a label value: unchanged, or shortened and hashed if it is too long."""
    return name if len(name) <= DNS_LABEL else derived(name, name)


def content_hash(value: Any) -> str:
    """Return eight hex digits that identify a JSON value, whatever the order of its keys."""
    return _digest(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=plain))


@lru_cache(maxsize=65_536)  # each reconcile asks for the same names again
def derived(readable: str, *identity: str, longest: int = DNS_LABEL) -> str:
    """Return a DNS label that even the strictest kind accepts (RFC 1035): a letter first, no dots, bounded length."""
    dashed = re.sub("[^a-z0-9-]", "-", readable.lower()).strip("-")
    prefix = dashed if dashed[:1].isalpha() else f"x{dashed}"
    return f"{prefix[: longest - _HASH - 1].rstrip('-')}-{_digest('/'.join(identity))}"  # no part contains a slash


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]
