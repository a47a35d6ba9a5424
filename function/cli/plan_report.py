"""A plan as tables, and as data for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from function.cli import differences_report, infrastructure_report, report
from function.cli.shared_report import pods_that_fit
from function.core import enumerate_names, plural
from function.planning.changes import DeploymentLoss, ReplicaChange, ServiceChange
from function.planning.comparison import PlanComparison
from function.planning.outcome import PlanOutcome, PoolOutcome, ReplicaOutcome, StagedWeights
from function.planning.traffic import ShareChange
from function.planning.unchanged import Listing

REPLICAS = ("", "deployment", "replica", "cluster", "pool", "state")
SERVICES = ("", "service", "url", "endpoints", "priorities")
ENDPOINTS = ("", "endpoint", "url")
TRAFFIC = ("service", "endpoints", "each now", "each then", "priority", "model")
STAGING = ("cache", "cluster", "size")
POOLS = ("cluster", "pool", "each node", "nodes", "free")
SHARED = ("cluster", "pool", "device", "free", "pods that fit")
"""Columns of the tables, here and in Markdown."""
MOST_DIFFS = 120
"""Lines of diffs in a table, at most."""
MOST_ENDPOINTS = 2
"""Endpoints that a row names, at most."""


def data(plan: Listing) -> dict[str, Any]:
    """A plan as data: what is listed of it, and counts of the rest."""
    shown = plan.listed
    return {
        "summary": headline(plan.whole),
        "exitCode": plan.whole.exit_code,
        "unchanged": asdict(plan.unchanged),
        "edits": differences_report.edits_data(shown.differences.edits),
        "manifests": differences_report.manifests_data(differences_report.groups(shown.differences)),
        "deployments": list(_deployments_data(shown)),
        "gone": [
            {"namespace": c.deployment.namespace, "deployment": c.deployment.name, "replica": c.replica.name,
             "cluster": c.replica.cluster}
            for c in shown.changes
            if c.what == "gone"
        ],
        "lost": [{**asdict(loss), "deployment": str(loss.deployment)} for loss in shown.losses],
        "silenced": [str(service.identity) for service in shown.silenced],
        "clusters": [asdict(cluster) for cluster in shown.outcome.clusters],
        "pools": [_pool_data(pool) for pool in shown.outcome.pools],
        "infrastructure": [infrastructure_report.data(change) for change in shown.infrastructure],
        "removedPools": [asdict(pool) for pool in shown.removed_pools],
        "endpoints": [{"change": what, "name": name, "url": url} for what, name, url in shown.endpoints],
        "services": [_service_data(s) for s in shown.services],
        "staging": [asdict(weights) for weights in shown.staging],
        "troubles": [asdict(trouble) for trouble in shown.outcome.troubles],
    }  # fmt: skip


def _service_data(shown: ServiceChange) -> dict[str, Any]:
    """A service; its priorities only if there are several."""
    own = {k: v for k, v in asdict(shown.service).items() if k not in ("priority", "entries")}
    found = {"change": shown.what, **_plain(own), "traffic": [_share_data(share) for share in shown.shares]}
    if not shown.tiers:
        return found
    return {**found, "answers": shown.answers, "priorities": [asdict(tier) for tier in shown.tiers]}


def _share_data(change: ShareChange) -> dict[str, Any]:
    """What an endpoint gets of the requests of its priority, in percent."""
    sides = {"before": change.before, "after": change.after}
    own = {
        side: None if one is None else {"priority": one.priority, "percent": one.percent, "model": one.model}
        for side, one in sides.items()
    }
    return {"endpoint": change.endpoint, **own}


def _deployments_data(shown: PlanComparison) -> Iterator[dict[str, Any]]:
    """The deployments, with the replicas that are listed."""
    changes = {(c.deployment, c.replica.name): c for c in shown.changes}
    for deployment in shown.outcome.deployments:
        listed = [r for r in deployment.replicas if (deployment.identity, r.name) in changes]
        yield {
            "namespace": deployment.namespace,
            "name": deployment.name,
            "wanted": deployment.wanted,
            "serving": deployment.serving,
            "why": deployment.why,
            "replicas": [_replica_data(changes[deployment.identity, r.name], r) for r in listed],
            "rejections": [asdict(r) for r in deployment.rejections],
        }


def _replica_data(change: ReplicaChange, replica: ReplicaOutcome) -> dict[str, Any]:
    own = {"change": change.what, "replaces": change.was_name or None, "from": change.was or None}
    return {**own, **_plain(asdict(replica))}


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    return {k: list(v) if isinstance(v, tuple) else v for k, v in value.items()}


def _pool_data(pool: PoolOutcome) -> dict[str, Any]:
    own = {name: value for name, value in asdict(pool).items() if name != "shared"}
    return {**own, **shared_data(pool)}


def shared_data(pool: PoolOutcome) -> dict[str, Any]:
    """The devices of a pool whose nodes are shared; nothing for another one."""
    rows = [
        {
            "name": devices.name,
            "total": devices.total,
            "free": devices.free,
            "guaranteed": [{"count": count, "pods": pods} for count, pods in devices.guaranteed],
        }
        for devices in pool.shared
    ]
    return {"shared": rows} if rows else {}


def headline(shown: PlanComparison) -> str:
    """The plan in a sentence."""
    deployments = shown.outcome.deployments
    wanted = sum(d.wanted for d in deployments)
    serving = sum(d.serving for d in deployments)
    missing = sum(d.missing for d in deployments)
    clusters = len({r.cluster for d in deployments for r in d.replicas})
    verb = "serves" if 1 in (serving, wanted) else "serve"
    parts = [f"{serving} of {plural(wanted, 'replica')} {verb} on {plural(clusters, 'cluster')}"]
    parts += [f"{missing} not placed"] if missing else []
    parts += [_moves(shown.changes)] if any(c.what != "kept" for c in shown.changes) else ["no replica changes"]
    parts += filter(None, [infrastructure_report.headline(shown.infrastructure)])
    return "; ".join(parts) + "."


def _moves(changes: Iterable[ReplicaChange]) -> str:
    counts = Counter(c.what for c in changes)
    return ", ".join(f"{counts[what]} {what}" for what in ("new", "updated", "moved", "gone", "kept") if counts[what])


def show(plan: Listing, then: Iterable[report.Row], *, most_diffs: int | None = MOST_DIFFS) -> None:
    """Print the plan.

    Args:
        plan: The plan.
        then: Suggested next commands, and the purpose of each.
        most_diffs: The lines of diffs, at most.
    """
    shown, named = plan.listed, differences_report
    diffs = list(named.diff_lines(named.groups(shown.differences), most_diffs))
    report.show(
        [
            report.Lines("", [headline(plan.whole), *unchanged(plan)]),
            report.Lines("LOST", [*map(_loss, shown.losses), *map(_silence, shown.silenced)], "bold red"),
            report.Lines("Edits", list(named.edit_lines(shown.differences))),
            report.Table(
                "Replicas",
                (*REPLICAS, "becomes"),
                list(_replica_rows(shown.changes)),
            ),
            report.Lines("Differs from spec", list(_shortfalls(shown.outcome)), "bold yellow"),
            report.Lines("Other problems", list(_problems(shown.outcome)), "bold yellow"),
            report.Lines("Removed pools", list(infrastructure_report.removed(shown.removed_pools)), "bold yellow"),
            report.Table(
                "Infrastructure", infrastructure_report.COLUMNS, [*infrastructure_report.rows(shown.infrastructure)]
            ),
            report.Lines("Another priority answers", [*map(taken_over, shown.taken_over)], "bold yellow"),
            report.Table("Services", SERVICES, [service_row(s) for s in shown.services]),
            report.Table("Traffic", TRAFFIC, list(traffic_rows(shown.services))),
            report.Table("Endpoints", ENDPOINTS, [_endpoint_row(e) for e in shown.endpoints]),
            report.Table("Weights to stage", STAGING, staging_rows(shown.staging)),
            report.Table("Capacity", POOLS, list(pool_rows(shown.outcome))),
            report.Table("Shared nodes", SHARED, list(shared_rows(shown.outcome))),
            report.Lines("Manifests", diffs, is_code=True),
            report.Table("Next", ("", ""), list(then)),
        ]
    )


def unchanged(plan: Listing) -> Iterator[str]:
    """What is only counted, in a sentence; nothing if everything is listed."""
    counts, problems = str(plan.unchanged), plan.unchanged.problems
    if counts and plan.listed is not plan.whole:
        remark = f" ({plural(problems, 'problem')} as before)" if problems else ""
        yield f"Unchanged: {counts}{remark}; --all lists them."


def _loss(loss: DeploymentLoss) -> str:
    return f"{loss.deployment}: {loss.after} of {plural(loss.wanted, 'replica')} would serve ({loss.before} now)"


def _silence(service: ServiceChange) -> str:
    return f"ModelService {service.identity}: no endpoint would be ready ({service.was_ready} now)"


def _replica_rows(changes: Iterable[ReplicaChange]) -> Iterator[tuple[str, ...]]:
    for change in changes:
        replica = change.replica
        where = f"{replica.cluster} (was {change.was})" if change.was else replica.cluster
        pools = ", ".join(replica.pools)
        yield (
            _unless_kept(change.what),
            str(change.deployment),
            replica.name,
            where,
            pools,
            change.state,
            _becomes(replica),
        )


def _becomes(replica: ReplicaOutcome) -> str:
    counts = Counter(thing.kind for thing in replica.becomes)
    first = ("Deployment", "LeaderWorkerSet")
    kinds = sorted(counts, key=lambda kind: (kind not in first, kind))
    return ", ".join(kind if counts[kind] == 1 else f"{counts[kind]} {kind}s" for kind in kinds)


def _shortfalls(outcome: PlanOutcome) -> Iterator[str]:
    """Why deployments differ from their specs, with every cluster that was rejected."""
    for deployment in outcome.deployments:
        if deployment.why:
            yield f"{deployment.identity}: {deployment.why}"
            rows = [(r.cluster, r.reason, r.message) for r in deployment.rejections]
            yield from (f"  {line}" for line in report.aligned(("", "", ""), rows))
        for replica in deployment.troubled:
            yield f"  {replica.name} on {replica.cluster}: {replica.why}"


def _problems(outcome: PlanOutcome) -> Iterator[str]:
    return (f"{kind} {name}: {why}" for kind, name, why in outcome.problems)


def _endpoint_row(endpoint: tuple[str, str, str]) -> tuple[str, str, str]:
    what, name, url = endpoint
    return _unless_kept(what), name, url


def _unless_kept(what: str) -> str:
    return "" if what == "kept" else what


def service_row(shown: ServiceChange) -> tuple[str, str, str, str, str]:
    name, address = str(shown.identity), shown.service.address
    return _unless_kept(shown.what), name, address, shown.state, "" if shown.what == "gone" else _priorities(shown)


def _priorities(shown: ServiceChange) -> str:
    """The priorities of a service, such as `0: 3 of 3, answers; 1: 2 of 2`; nothing if it has only one."""
    marks = {shown.answers: ", answers"}
    told = (f"{t.priority}: {t.answering} of {t.matched}{marks.get(t.priority, '')}" for t in shown.tiers)
    return "; ".join(told)


def traffic_rows(services: Iterable[ServiceChange]) -> Iterator[tuple[str, ...]]:
    """A row for endpoints of a service that get something else than before, each as much as the others of the row."""
    for service in services:
        alike: dict[tuple[str, ...], list[str]] = {}
        for change in service.shares if service.is_shifted else ():
            if not change.is_kept:
                alike.setdefault(_share_cells(change), []).append(change.endpoint)
        for cells, names in alike.items():
            yield str(service.identity), enumerate_names(names, MOST_ENDPOINTS), *cells


def _share_cells(change: ShareChange) -> tuple[str, ...]:
    before, after = change.before, change.after
    percents = [f"{share.percent:g} %" if share else "none" for share in (before, after)]
    priorities = [str(share.priority) for share in (before, after) if share]
    models = [share.model for share in (before, after) if share]
    return *percents, _changed(priorities) if set(priorities) != {"0"} else "", _changed(models)


def _changed(values: Sequence[str]) -> str:
    """A value that may have changed: `0`, or `0 -> 1`."""
    return " -> ".join(value or "as asked" for value in dict.fromkeys(values)) if any(values) else ""


def taken_over(shown: ServiceChange) -> str:
    """A service that another priority answers than before, in a sentence."""
    return f"ModelService {shown.identity}: priority {shown.answers} answers ({shown.answered} now)"


def staging_rows(weights: Iterable[StagedWeights]) -> list[tuple[str, str, str]]:
    return [(str(w.identity), w.cluster, f"{w.gib} GiB") for w in weights]


def pool_rows(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for pool in outcome.pools:
        yield pool.cluster, pool.name, pool.devices, str(pool.nodes), free(pool)


def free(pool: PoolOutcome) -> str:
    """What is free of a pool: nodes, or devices of shared nodes."""
    return ", ".join(f"{d.free} of {d.total} {d.name}" for d in pool.shared) if pool.shared else str(pool.free)


def shared_rows(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for pool in outcome.pools:
        for devices in pool.shared:
            free_of_all = f"{devices.free} of {devices.total}"
            yield pool.cluster, pool.name, devices.name, free_of_all, pods_that_fit(devices.guaranteed)
