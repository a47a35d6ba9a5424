"""Every derived name. It begins readably and ends in a hash of the whole identity, namespace included.

An identity is all that tells a thing from its like: two tenants, two clusters, two engines never share a name.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from function.core import NamespacedName

DNS_LABEL = 63
"""Longest DNS label, label value, and name of an XR."""
DNS_SUBDOMAIN = 253
"""Longest DNS name, and name of most objects."""
LEADERWORKERSET = 49
"""Longest LeaderWorkerSet. Its worker StatefulSets are `<lws>-<group>`, and their pods carry a revision label that must
stay within 63: with a longer name the workers never come, and nothing refuses it (lws v0.8, tried)."""
SYSTEM_NAMESPACE = "modelplane-system"
"""Where cluster-scoped kinds keep what has a namespace: Secrets, composed infrastructure, the gateways."""
CLUSTER_GATEWAY = "inference-gateway"
"""The Gateway on every inference cluster, in SYSTEM_NAMESPACE."""
CONTROL_GATEWAY = "modelplane"
"""The Gateway on the control cluster, in SYSTEM_NAMESPACE."""
CONTROL_CONFIG = "modelplane-control"
"""The ClusterProviderConfig, of either provider, for the control cluster itself."""
_HASH = 8


def replica(deployment: NamespacedName, cluster: str, index: int) -> str:
    """A ModelReplica, and the ModelEndpoint of the same name."""
    return derived(deployment.name, *deployment, cluster, str(index))


def replica_key(cluster: str, index: int) -> str:
    """Where a replica stands among the composed resources of its deployment."""
    return f"replica-{cluster}-{index}"


def endpoint_key(cluster: str, index: int) -> str:
    return f"endpoint-{cluster}-{index}"


def remote_object(cluster: str, kind: str, namespace: str, name: str) -> str:
    """The Object that holds one remote thing: one thing, one Object, whoever composes it and whenever."""
    return derived(name, cluster, kind, namespace, name)


def part(replica: NamespacedName, *parts: str, content: Any = None, longest: int = DNS_LABEL) -> str:
    """One of the things that a ModelReplica becomes on its cluster. What is immutable is told apart by its content."""
    identity = ("ModelReplica", *replica, *parts, *([content_hash(content)] if content is not None else []))
    return derived("-".join((replica.name, *parts)), *identity, longest=longest)


def workload(replica: NamespacedName, engine: str, *, longest: int = DNS_LABEL) -> str:
    """The workload of an engine. An engine may be called like another part: it is told apart by being an engine."""
    return derived(f"{replica.name}-{engine}", "ModelReplica", *replica, "engine", engine, longest=longest)


def cache_claim(cache: NamespacedName, cluster: str) -> str:
    """The PersistentVolumeClaim of a ModelCache on a cluster, in the cache's namespace there."""
    return derived(cache.name, "ModelCache", *cache, cluster)


def staged(repo: str, revision: str) -> str:
    """The directory, at the root of a cache's claim, that holds exactly one commit of a revision, or is not there."""
    return derived(revision, content_hash([repo, revision]))


def provider_config(cluster: str) -> str:
    """The ClusterProviderConfig, of either provider, that reaches a cluster."""
    return derived(cluster, "provider-config", cluster)


def probe(cluster: str) -> str:
    """The Observe-only Object, in SYSTEM_NAMESPACE, of a cluster's CLUSTER_GATEWAY: it tells whether a cluster answers.

    Not the name of a remote_object: the serving stack's own Object of the same Gateway has that.
    """
    return derived(cluster, "probe", cluster)


def backend(endpoint: NamespacedName) -> str:
    """The Service by which the control gateway reaches a ModelEndpoint's address."""
    return derived(endpoint.name, "ModelEndpoint", *endpoint)


def egress(endpoint: NamespacedName) -> str:
    """The egress proxy of a ModelEndpoint, and its Service: another one, since slices outlive a Service's selector."""
    return derived(f"{endpoint.name}-egress", "ModelEndpoint", *endpoint, "egress")


def address_slice(endpoint: NamespacedName, address_type: str) -> str:
    """The EndpointSlice of a ModelEndpoint's address, told apart by its type: that is immutable."""
    return derived(f"{endpoint.name}-{address_type}", "ModelEndpoint", *endpoint, address_type)


def route(service: NamespacedName) -> str:
    """The HTTPRoute of a ModelService, and the placeholder to which it leads while nothing is ready."""
    return derived(service.name, "ModelService", *service)


def label_value(name: str) -> str:
    """A name as a label may carry it: itself, or cut and hashed where it is too long."""
    return name if len(name) <= DNS_LABEL else derived(name, name)


def content_hash(value: Any) -> str:
    """Eight hex digits of a JSON value, the same whatever the order of its keys."""
    return _digest(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def derived(readable: str, *identity: str, longest: int = DNS_LABEL) -> str:
    """A DNS label as the strictest kind wants it (RFC 1035): a letter first, no dots, bounded."""
    dashed = re.sub("[^a-z0-9-]", "-", readable.lower()).strip("-")
    prefix = dashed if dashed[:1].isalpha() else f"x{dashed}"
    return f"{prefix[: longest - _HASH - 1].rstrip('-')}-{_digest('/'.join(identity))}"  # no part has a slash in it


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH]
