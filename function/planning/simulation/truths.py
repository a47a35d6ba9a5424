"""What the statuses of caches, gateways and endpoints of a settled world must agree with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from function.core import Manifest, dig, dig_fields, dig_list, dig_objects, identity, serves
from function.planning import preinstalled
from function.planning.control_plane import ControlPlane
from function.sandbox.store import Ref
from function.vocabulary import names, versions


class Truth(NamedTuple):
    """A field of a status, and what it should be."""

    manifest: Manifest
    what: str
    told: Any
    true: Any


def of_cache(control: ControlPlane, cache: Manifest) -> Iterator[Truth]:
    """The summary counts the clusters. Where weights are Ready, there is a claim in the cache's namespace."""
    clusters = list(dig_objects(cache, "status", "clusters"))
    ready = [cluster for cluster in clusters if cluster.get("phase") == "Ready"]
    told = dig(cache, "status", "summary", "ready")
    if told is not None:
        yield Truth(cache, "status.summary.ready", told, f"{len(ready)}/{len(clusters)}")
    for cluster in ready:
        name = str(cluster["name"])
        config = names.provider_config(name)
        is_there = control.store.get(Ref(versions.MODELPLANE, "InferenceCluster", "", name)) is not None
        if is_there and config in control.clusters.things and not control.faults.cut_off(name):
            namespace = identity(cache).namespace
            there = {(ref.kind, ref.namespace) for ref in control.clusters.things[config]}
            claims = sum(kind == "PersistentVolumeClaim" and at == namespace for kind, at in there)
            yield Truth(cache, f"claims on {cluster['name']}", min(claims, 1), 1)


def of_gateway(control: ControlPlane, gateway: Manifest) -> Iterator[Truth]:
    """Its address is that of a Gateway on the control cluster."""
    told = dig(gateway, "status", "address")
    gateways = (m for m in control.store.all() if m["kind"] == "Gateway")
    there = [str(dig(one, "value")) for m in gateways for one in dig_list(m, "status", "addresses")]
    if told is not None and there:
        yield Truth(gateway, "status.address", told, told if told in there else there[0])


def of_cluster(cluster: Manifest) -> Iterator[Truth]:
    """The address of its gateway is the one that it has."""
    told = dig(cluster, "status", "gateway", "address")
    if told is not None:
        yield Truth(cluster, "status.gateway.address", told, preinstalled.address(cluster))


def of_service(service: Manifest, matched: list[Manifest]) -> Iterator[Truth]:
    """Its numbers of endpoints are those that its selectors match, and of them those that serve."""
    told = dig_fields(service, "status", "endpoints")
    yield Truth(service, "status.endpoints.matched", told.get("matched"), len(matched))
    ready = sum(serves(endpoint, "Ready") for endpoint in matched)
    yield Truth(service, "status.endpoints.ready", told.get("ready"), ready)
