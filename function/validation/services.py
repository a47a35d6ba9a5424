"""Warnings about ModelServices: entries that find nothing or share endpoints, priorities that protect from nothing, and
requests that leave their region.

Terms. A *server* is a ModelEndpoint, or a ModelDeployment, which stands for the endpoints that it will have. It belongs
to the first entry that selects it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from function.api import modeldeployment, modelendpoint, modelservice
from function.core import (
    MOST_NAMED,
    Manifest,
    NamespacedName,
    dig,
    dig_text,
    dig_text_fields,
    enumerate_names,
    identity,
)
from function.gateways import Implementation
from function.kinds.modelendpoint import permission, target
from function.kinds.modelservice import need, proxy
from function.schema import Path
from function.validation import model_names
from function.validation.finding import Finding
from function.validation.model_names import Entry
from function.validation.selection import Labelled
from function.vocabulary import labels

_AT: Path = ("spec", "endpoints")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The objects among which a service is checked."""

    servers: Labelled
    clusters: Labelled
    caches: Mapping[NamespacedName, Manifest]
    gateway: Implementation


def findings(index: int, service: Manifest, around: Around) -> Iterator[Finding]:
    """Return the warnings about one valid service."""
    entries = _entries(service, around.servers)
    told = (
        *_tenancy(service, around.servers),
        *_too_many(entries),
        *_residency(entries),
        *_overlaps(service, around.servers),
        *_unprotected(entries, around.clusters),
        *model_names.problems(entries, around.caches, is_proxied=_is_proxied(service, entries, around.gateway)),
    )
    for path, problem, code in told:
        yield Finding(index, path, problem, code)


Problem = tuple[Path, str, str]
"""A field, what is wrong with it, and the code of the warning."""


def _entries(service: Manifest, servers: Labelled) -> tuple[Entry, ...]:
    specs, taken, entries = service["spec"]["endpoints"], set[int](), list[Entry]()
    for at, spec in enumerate(specs):
        selected = servers.matching(identity(service).namespace, _wanted(spec))
        entries.append(Entry(at, spec, tuple(one for one in selected if id(one) not in taken)))
        taken |= {id(one) for one in selected}
    return tuple(entries)


def _tenancy(service: Manifest, servers: Labelled) -> Iterator[Problem]:
    namespace = identity(service).namespace
    for at, entry in enumerate(service["spec"]["endpoints"]):
        is_found = servers.matching(namespace, _wanted(entry))
        if not is_found and (found := servers.namespaces(_wanted(entry))):
            where = ", ".join(found)
            problem = f"selects only endpoints of its own namespace, but those it matches are in {where}"
            yield (*_AT, at, "selector"), problem, "tenancy"


def _too_many(entries: Sequence[Entry]) -> Iterator[Problem]:
    total = _backends(entries)
    if total > proxy.MOST:
        problem = f"match {total} endpoints, but a service's proxy has room for {proxy.MOST}"
        yield _AT, f"{problem}; the others get no traffic", "endpoints"


def _residency(entries: Sequence[Entry]) -> Iterator[Problem]:
    servers = [server for entry in entries for server in entry.servers]
    regions = {_region(server) for server in servers} - {""}
    free = sorted(identity(server).name for server in servers if not _region(server))
    if regions and free:
        problem = f"mix endpoints in {', '.join(sorted(regions))} with endpoints that may be anywhere"
        yield _AT, f"{problem}: {', '.join(free)}", "residency"


def _overlaps(service: Manifest, servers: Labelled) -> Iterator[Problem]:
    """Entries all or some of whose endpoints belong to an earlier one of another priority."""
    entries = service["spec"]["endpoints"]
    selected = [_selected(service, entry, servers) for entry in entries]
    for at, entry in enumerate(entries):
        earlier = [*enumerate(entries[:at])]
        wider = next((i for i, other in earlier if _wanted(other).items() <= _wanted(entry).items()), None)
        path: Path = (*_AT, at, "selector")
        if wider is not None:
            problem = f"gets no endpoint: spec.endpoints[{wider}] selects all that it selects, and comes before it"
            yield path, problem, "overlap"
            continue
        for i, other in earlier:
            shared = [name for name, _ in sorted(selected[at] & selected[i])]
            if shared and _priority(other) != _priority(entry):
                names = enumerate_names(shared, MOST_NAMED)
                owner = f"spec.endpoints[{i}], which comes before it and has priority {_priority(other)}"
                yield path, f"selects {names} too, but endpoints of both belong to {owner}", "overlap"


def _selected(service: Manifest, entry: Manifest, servers: Labelled) -> set[tuple[str, str]]:
    """Return name and kind of the servers that an entry selects."""
    found = servers.matching(identity(service).namespace, _wanted(entry))
    return {(identity(one).name, one["kind"]) for one in found}


def _unprotected(entries: Sequence[Entry], clusters: Labelled) -> Iterator[Problem]:
    """Priorities that can only be on the one cluster on which the priority before them is."""
    there = {p: [e for e in entries if e.priority == p] for p in sorted({e.priority for e in entries})}
    homes = {priority: _homes(found, clusters) for priority, found in there.items()}
    for before, priority in pairwise(homes):
        if homes[before] == homes[priority] and len(homes[priority]) == 1:
            (cluster,) = homes[priority]
            problem = f"has priority {priority}, whose endpoints are on cluster {cluster} only, as those of priority"
            problem = f"{problem} {before}: if the cluster is lost, both are"
            yield (*_AT, there[priority][0].at), problem, "no-protection"


def _homes(entries: Sequence[Entry], clusters: Labelled) -> frozenset[str]:
    """Return the clusters on which servers can be; none if some may be elsewhere, or if nothing is known."""
    each = [_home(server, clusters) for entry in entries for server in entry.servers]
    return frozenset(name for home in each for name in home) if each and all(each) else frozenset()


def _home(server: Manifest, clusters: Labelled) -> set[str]:
    if server["kind"] == modelendpoint.KIND:
        cluster = dig(server, "metadata", "labels", labels.CLUSTER)
        return {str(cluster)} if cluster else set()
    wanted = dig_text_fields(server, "spec", "clusterSelector", "matchLabels")
    return {identity(cluster).name for cluster in clusters.matching("", wanted)}


def _is_proxied(service: Manifest, entries: Sequence[Entry], gateway: Implementation) -> bool:
    """Return whether requests will pass a proxy of the service's own."""
    servers = [server for entry in entries for server in entry.servers]
    is_asked = any(need.asked(modelservice.parse(service)))
    return is_asked or any(map(_is_outside, servers)) or _backends(entries) > gateway.most_backends


def _is_outside(server: Manifest) -> bool:
    if server["kind"] != modelendpoint.KIND:
        return False
    spec = modelendpoint.parse(server)
    return target.needs_proxy(spec, target.parse(spec), is_checked=not permission.is_replicas(server))


def _backends(entries: Sequence[Entry]) -> int:
    servers = (server for entry in entries for server in entry.servers)
    return sum(int(s["spec"].get("replicas", 1)) if s["kind"] == modeldeployment.KIND else 1 for s in servers)


def _priority(entry: Manifest) -> int:
    return int(entry.get("priority") or 0)


def _wanted(entry: Manifest) -> dict[str, str]:
    return dict(entry["selector"]["matchLabels"])


def _region(server: Manifest) -> str:
    """Return the region to which an endpoint, or a deployment's endpoints, are bound. Empty if they may be anywhere."""
    return dig_text(server, "spec", "clusterSelector", "matchLabels", labels.REGION) or ""
