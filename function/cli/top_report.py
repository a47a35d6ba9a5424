"""A fleet at a glance, as tables and as data for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from function.cli import report
from function.core import plural
from function.planning.outcome import PoolOutcome
from function.planning.overview import ClusterRow, DegradedRow, Overview, WaitingRow, Why

MOST_CLUSTERS = 20
"""Clusters that a screen lists. More are counted by region, unless each is asked for."""
_CLUSTERS = ("cluster", "region", "ready", "nodes", "free", "pools", "why")
_REGIONS = ("region", "clusters", "ready", "nodes", "free")
_WAITING = ("deployment", "placed", "serving", "since", "why")
_DEGRADED = ("kind", "name", "since", "why")
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def headline(shown: Overview) -> str:
    """The fleet in a sentence."""
    nodes, free = (sum(getattr(one, name) for one in shown.clusters) for name in ("nodes", "free"))
    told = [
        _share(shown.serving, shown.wanted, "replica", ("serves", "serve")),
        _share(sum(one.ready for one in shown.clusters), len(shown.clusters), "cluster", ("is ready", "are ready")),
        _share(free, nodes, "node", ("is free", "are free")),
        *([_count(len(shown.waiting), "deployment", ("waits", "wait"))] if shown.waiting else ()),
        *([_count(len(shown.degraded), "object", ("is degraded", "are degraded"))] if shown.degraded else ()),
    ]
    return f"{'; '.join(told)}."


def _share(some: int, of: int, noun: str, verbs: tuple[str, str]) -> str:
    return f"{some} of {plural(of, noun)} {verbs[of != 1]}"


def _count(number: int, noun: str, verbs: tuple[str, str]) -> str:
    return f"{plural(number, noun)} {verbs[number != 1]}"


def tables(shown: Overview, *, wide: bool, now: datetime) -> list[report.Part]:
    """The screen. `wide` lists each cluster, and whole messages."""
    listed = wide or len(shown.clusters) <= MOST_CLUSTERS
    return [
        report.Lines("", [headline(shown)], "bold"),
        report.Table("Waiting", _WAITING, [_waiting(one, now) for one in shown.waiting], "bold yellow"),
        report.Table("Degraded", _DEGRADED, [_degraded(one, now) for one in shown.degraded], "bold yellow"),
        report.Table("Clusters", _CLUSTERS, [_cluster(one) for one in shown.clusters])
        if listed
        else report.Table("Clusters by region", _REGIONS, list(_regions(shown.clusters))),
    ]


def data(shown: Overview) -> dict[str, Any]:
    """The same as data: times instead of ages."""
    return {
        "summary": headline(shown),
        "replicas": {"wanted": shown.wanted, "serving": shown.serving},
        "clusters": [_cluster_data(one) for one in shown.clusters],
        "waiting": [_named(one.name, one.why, wanted=one.wanted, placed=one.placed, serving=one.serving)
                    for one in shown.waiting],
        "degraded": [_named(one.name, one.why, kind=one.kind) for one in shown.degraded],
    }  # fmt: skip


def _waiting(one: WaitingRow, now: datetime) -> report.Row:
    placed, serving = (f"{number}/{one.wanted}" for number in (one.placed, one.serving))
    return str(one.name), placed, serving, age(one.why, now), str(one.why)


def _degraded(one: DegradedRow, now: datetime) -> report.Row:
    return one.kind, str(one.name), age(one.why, now), str(one.why)


def _cluster(one: ClusterRow) -> report.Row:
    pools = ", ".join(map(_pool, one.pools))
    why = one.why.reason if one.why else ""
    return one.name, one.region, "yes" if one.ready else "no", str(one.nodes), str(one.free), pools, why


def _pool(pool: PoolOutcome) -> str:
    """Such as `l4 1/2`; of a pool whose nodes are shared, with the devices that are free."""
    shared = ", ".join(f"{one.free}/{one.total} {one.name}" for one in pool.shared)
    return f"{pool.name} {pool.free}/{pool.nodes}{f' ({shared})' if shared else ''}"


def _regions(clusters: Iterable[ClusterRow]) -> Iterator[report.Row]:
    by_region: dict[str, list[ClusterRow]] = {}
    for one in clusters:
        by_region.setdefault(one.region, []).append(one)
    for region, some in sorted(by_region.items()):
        counts = (len(some), sum(one.ready for one in some), sum(one.nodes for one in some))
        yield region or "(none)", *map(str, counts), str(sum(one.free for one in some))


def _cluster_data(one: ClusterRow) -> dict[str, Any]:
    return {
        "name": one.name,
        "region": one.region,
        "ready": one.ready,
        "nodes": one.nodes,
        "free": one.free,
        "pools": [{key: value for key, value in asdict(pool).items() if key != "cluster"} for pool in one.pools],
        "why": asdict(one.why) if one.why else None,
    }


def _named(name: Sequence[str], why: Why, **more: Any) -> dict[str, Any]:
    return {"namespace": name[0], "name": name[1], **more, "why": asdict(why)}


def age(why: Why, now: datetime) -> str:
    """How long something has been so, in its largest unit, such as `3h`; empty if it is not known."""
    try:
        then = datetime.fromisoformat(why.since)
    except ValueError:
        return ""
    seconds = max(0, int((now - then.replace(tzinfo=then.tzinfo or UTC)).total_seconds()))
    return next((f"{seconds // size}{unit}" for size, unit in _UNITS if seconds >= size), "0s")
