"""What clouds make, in words and as data: part of the reports of plans and of what-ifs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from function.core import plural
from function.planning.changes import RemovedPool
from function.planning.infrastructure import MadeResource
from function.planning.infrastructure_changes import InfrastructureChange

COLUMNS = ("", "cluster", "made by", "resources")
_VOWELS = "aeiou"


def data(change: InfrastructureChange) -> dict[str, Any]:
    """Return what a cloud makes for a cluster, by kind. Usages are counted apart: they are nothing in the cloud."""
    made = change.infrastructure
    total = () if change.what == "gone" else made.resources
    return {
        "change": change.what,
        "cluster": made.cluster,
        "kind": made.kind,
        "name": made.name,
        "ready": made.ready,
        "pools": list(made.pools),
        "inCloud": _counts_data(change, total, on_cluster=False),
        "onCluster": _counts_data(change, total, on_cluster=True),
        "usages": made.usages,
    }


def _counts_data(change: InfrastructureChange, total: Sequence[MadeResource], *, on_cluster: bool) -> dict[str, Any]:
    listed = {"total": total, "created": change.created, "changed": change.changed, "deleted": change.deleted}
    return {what: dict(sorted(_by_kind(all_, on_cluster=on_cluster).items())) for what, all_ in listed.items()}


def rows(changes: Iterable[InfrastructureChange]) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each cluster that is made, kept or gone, and one for each way in which a cluster changes."""
    for change in changes:
        made = change.infrastructure
        parts = {"": made.resources} if change.what == "kept" else change.parts
        for what, resources in parts.items():
            if resources:
                yield what, made.cluster, made.kind, words(resources)


def words(resources: Iterable[MadeResource]) -> str:
    """Return resources by kind, such as `1 VPC, 6 Subnets; on the cluster: 1 StorageClass`."""
    listed = list(resources)
    in_cloud, on_cluster = (_kinds(_by_kind(listed, on_cluster=there)) for there in (False, True))
    return "; ".join([*([in_cloud] if in_cloud else []), *([f"on the cluster: {on_cluster}"] if on_cluster else [])])


def _by_kind(resources: Iterable[MadeResource], *, on_cluster: bool) -> Counter[str]:
    return Counter(resource.kind for resource in resources if resource.on_cluster is on_cluster)


def _kinds(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind if count == 1 else _plural(kind)}" for kind, count in sorted(counts.items()))


def _plural(kind: str) -> str:
    if kind.endswith("y") and kind[-2:-1] not in _VOWELS:
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(("s", "x", "ch", "sh")) else f"{kind}s"


def headline(changes: Iterable[InfrastructureChange]) -> str:
    """Return what changes in clouds, such as `in clouds 57 new, 1 changed`; empty where nothing does."""
    counts: Counter[str] = Counter()
    for change in changes:
        for what, resources in change.parts.items():
            counts[what] += sum(not resource.on_cluster for resource in resources)
    listed = ", ".join(f"{counts[what]} {what}" for what in ("new", "changed", "gone") if counts[what])
    return f"in clouds {listed}" if listed else ""


def removed(pools: Iterable[RemovedPool]) -> Iterator[str]:
    """Yield a sentence for each pool that is removed under replicas."""
    for pool in pools:
        lead = f"{pool.cluster}: pool {pool.pool} is removed under {plural(pool.replicas, 'replica')}"
        if pool.left:
            yield f"{lead}, and stays in the cloud: {plural(pool.left, 'replica')} cannot move"
        else:
            yield f"{lead}; the cloud deletes it once they have moved"
