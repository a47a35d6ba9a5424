"""A what-if as sentences, tables, and data for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from function.cli import infrastructure_report, plan_report, report
from function.core import NamespacedName, enumerate_names
from function.planning.changes import DeploymentShortfall
from function.planning.impact import IN_PLACE, Impact, PoolImpact, ReplicaMove, ServiceImpact
from function.planning.outcome import PoolOutcome

_WHATS = ("lost", "stops", "stays", "moved", "updated", "new", "removed")
"""The worst first."""
MOST_NAMED = 3


def headline(shown: Impact) -> str:
    """The edits and their effect, in a sentence."""
    return f"{'; then '.join(shown.edits)}: {consequences(shown)}."


def consequences(shown: Impact) -> str:
    """The effect of the edits, as a clause."""
    short = [str(s.deployment) for s in shown.shorts]
    silent = [str(s.service) for s in shown.services if s.is_silent]
    dark = [str(s.service) for s in shown.services if s.is_dark]
    parts = [
        _counted(shown.moves) or "no replica changes",
        f"{enumerate_names(short, MOST_NAMED)} {'falls' if len(short) == 1 else 'fall'} short" if short else "",
        f"{enumerate_names(silent, MOST_NAMED)} {'has' if len(silent) == 1 else 'have'} no endpoint left"
        if silent
        else "",
        f"{enumerate_names(dark, MOST_NAMED)} {'has' if len(dark) == 1 else 'have'} no endpoint until replicas moved"
        if dark
        else "",
        _taken_over(shown.services),
    ]
    return "; ".join(part for part in parts if part)


def _taken_over(changes: Iterable[ServiceImpact]) -> str:
    told = [words for change in changes if (words := taken_over(change))]
    more = [f"{len(told) - MOST_NAMED} more services change their priority"] if len(told) > MOST_NAMED else []
    return "; ".join([*told[:MOST_NAMED], *more])


def taken_over(change: ServiceImpact) -> str:
    """Which priority of a service answers, if it is another than before, as a clause."""
    before, meanwhile, after = change.answers
    if change.is_taken_over:
        return f"{change.service}: priority {after} answers instead of {before}"
    return f"{change.service}: priority {meanwhile} answers until replicas moved" if change.is_bridged else ""


def tally(moves: Iterable[ReplicaMove]) -> str:
    """Counts of moves, such as `2 moved, 1 lost`."""
    counts = Counter(m.what for m in moves)
    return ", ".join(f"{counts[what]} {_VERBS[what][0]}" for what in _WHATS if counts[what])


def _counted(moves: Iterable[ReplicaMove]) -> str:
    """Counts of moves as a sentence, such as `2 replicas move, 1 is lost`."""
    counts = Counter(m.what for m in moves)
    parts = [(counts[what], _VERBS[what][1 if counts[what] == 1 else 2]) for what in _WHATS if counts[what]]
    nouns = [f" {'replica' if parts[0][0] == 1 else 'replicas'}", *[""] * len(parts)] if parts else []
    return ", ".join(f"{count}{noun} {verb}" for (count, verb), noun in zip(parts, nouns, strict=False))


_VERBS = {
    "lost": ("lost", "is lost", "are lost"),
    "stops": ("stopped", "stops", "stop"),
    "stays": ("cannot leave", "cannot leave", "cannot leave"),
    "moved": ("moved", "moves", "move"),
    "updated": ("updated", "is updated", "are updated"),
    "new": ("new", "is new", "are new"),
    "removed": ("removed", "is removed", "are removed"),
}


# For machines


def data(shown: Impact) -> dict[str, Any]:
    """The complete impact as data."""
    return {
        "summary": headline(shown),
        "exitCode": shown.exit_code,
        "holds": shown.holds,
        "edits": list(shown.edits),
        "replicas": [_move_data(m) for m in shown.moves],
        "kept": shown.kept,
        "short": [_short_data(s) for s in shown.shorts],
        "services": [_service_data(s) for s in shown.services],
        "staging": [asdict(w) for w in shown.staging],
        "infrastructure": [infrastructure_report.data(change) for change in shown.infrastructure],
        "pools": [_room_data(r) for r in shown.rooms],
        "free": shown.free,
    }


def _named(name: NamespacedName) -> dict[str, str]:
    return {"namespace": name.namespace, "name": name.name}


def _short_data(short: DeploymentShortfall) -> dict[str, Any]:
    counts = {"wanted": short.wanted, "serving": {"before": short.before, "after": short.after}}
    rejections = [asdict(r) for r in short.rejections]
    return {**_named(short.deployment), **counts, "why": short.why, "rejections": rejections}


def _move_data(move: ReplicaMove) -> dict[str, Any]:
    return {
        "change": move.what,
        "namespace": move.deployment.namespace,
        "deployment": move.deployment.name,
        "name": move.replica,
        "from": move.source or None,
        "to": move.target or None,
        "pools": list(move.pools),
        "serving": move.serving,
        "replaces": move.predecessor or None,
        "why": move.why,
    }


def _service_data(change: ServiceImpact) -> dict[str, Any]:
    endpoints = {"before": change.before, "meanwhile": change.meanwhile, "after": change.after}
    answers = dict(zip(endpoints, change.answers, strict=True)) if _has_priorities(change) else None
    return {**_named(change.service), "endpoints": endpoints, **({"priorities": answers} if answers else {})}


def _has_priorities(change: ServiceImpact) -> bool:
    """Whether a service has several priorities, and one of them answers at some time."""
    return any(priority is not None for priority in change.answers)


def _room_data(room: PoolImpact) -> dict[str, Any]:
    def left(pool: PoolOutcome | None) -> dict[str, Any] | None:
        return {"nodes": pool.nodes, "free": pool.free, **plan_report.shared_data(pool)} if pool else None

    where = {"cluster": room.cluster, "name": room.pool, "devices": room.devices}
    return {**where, "before": left(room.before), "after": left(room.after)}


# For people


def parts(shown: Impact) -> list[report.Part]:
    return [
        report.Lines("", [headline(shown)]),
        report.Table("Replicas", MOVES, [move_row(m) for m in ordered(shown.moves)]),
        report.Table("Below spec", SHORTS, [short_row(s) for s in shown.shorts], "bold red"),
        report.Lines("Why", list(_reasons(shown.shorts)), "bold yellow"),
        report.Table("Services", SERVICES, [service_row(s) for s in shown.services]),
        report.Table(
            "Infrastructure", infrastructure_report.COLUMNS, [*infrastructure_report.rows(shown.infrastructure)]
        ),
        report.Table("Weights to stage", plan_report.STAGING, plan_report.staging_rows(shown.staging)),
        report.Table("Capacity", ROOMS, [room_row(r) for r in shown.rooms]),
    ]


MOVES = ("", "deployment", "replica", "from", "to", "pool", "why")
SHORTS = ("deployment", "wanted", "served", "serves then")
SERVICES = ("service", "endpoints", "meanwhile", "then", "priority", "")
ROOMS = ("cluster", "pool", "each node", "nodes", "free", "nodes then", "free then")


def ordered(moves: Iterable[ReplicaMove]) -> list[ReplicaMove]:
    """The moves, the worst first."""
    return sorted(moves, key=lambda m: _WHATS.index(m.what))


def move_row(move: ReplicaMove) -> tuple[str, ...]:
    target = "" if move.what in IN_PLACE else move.target
    pools = ", ".join(move.pools) if target else ""
    return move.what, str(move.deployment), move.replica, move.source, target, pools, move.why


def short_row(short: DeploymentShortfall) -> tuple[str, ...]:
    return str(short.deployment), str(short.wanted), str(short.before), str(short.after)


def service_row(change: ServiceImpact) -> tuple[str, ...]:
    """A row. The count in between is shown only if it is lower than before and after."""
    dip = change.meanwhile < min(change.before, change.after)
    what = "no endpoint left" if change.after == 0 else "falls short" if change.falls_short else ""
    what = what or ("no endpoint meanwhile" if change.is_dark else "")
    counts = str(change.before), str(change.meanwhile) if dip else "", str(change.after)
    return str(change.service), *counts, _priority(change), what


def _priority(change: ServiceImpact) -> str:
    """The priority that answers, as it changes."""
    before, meanwhile, after = change.answers
    if change.is_taken_over:
        return f"{after} (was {before})"
    return f"{after} ({meanwhile} meanwhile)" if change.is_bridged else "" if after is None else str(after)


def room_row(room: PoolImpact) -> tuple[str, ...]:
    def left(pool: PoolOutcome | None) -> tuple[str, str]:
        return (str(pool.nodes), plan_report.free(pool)) if pool else ("gone", "")

    return room.cluster, room.pool, room.devices, *left(room.before), *left(room.after)


def _reasons(shorts: Iterable[DeploymentShortfall]) -> Iterator[str]:
    for short in shorts:
        yield f"{short.deployment}: {short.why or 'replicas are starting'}"
        rows = [(r.cluster, r.reason, r.message) for r in short.rejections]
        yield from (f"  {line}" for line in report.aligned(("", "", ""), rows))
