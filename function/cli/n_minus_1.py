"""The N-1 report, as text and data: whether the other clusters can replace each one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from function.cli import report, whatif_report
from function.cli.whatif_report import MOST_NAMED
from function.core import enumerate_names, plural
from function.planning.impact import Impact, ServiceImpact
from function.planning.what_if import NMinusOne

COLUMNS = (
    "cluster", "n-1", "replicas", "lost", "fall short", "no endpoint left", "no endpoint meanwhile", "another priority"
)  # fmt: skip
_MOST_FAILING = 8


def headline(losses: NMinusOne) -> str:
    """Whether the fleet survives the loss of any one cluster, in a sentence."""
    clusters = plural(len(losses.each), "cluster")
    if losses.holds:
        return f"N-1 holds: if any one of {clusters} is lost, everything that serves is placed again."
    failing = losses.failing
    return f"N-1 does not hold for {len(failing)} of {clusters}: {enumerate_names(failing, _MOST_FAILING)}."


def data(losses: NMinusOne) -> dict[str, Any]:
    """The complete report as data. A cluster has the same data as with `--lose` for that cluster."""
    first = {"first": whatif_report.data(losses.first)} if losses.first else {}
    return {
        "summary": headline(losses),
        "exitCode": losses.exit_code,
        "holds": losses.holds,
        "failing": list(losses.failing),
        **first,
        "clusters": [{"cluster": cluster, **whatif_report.data(shown)} for cluster, shown in losses.each],
    }


def parts(losses: NMinusOne) -> list[report.Part]:
    first = [report.Lines("First", [whatif_report.headline(losses.first)])] if losses.first else []
    return [
        report.Lines("", [headline(losses)]),
        *first,
        report.Table("Each cluster lost", COLUMNS, [row(cluster, shown) for cluster, shown in losses.each]),
        report.Lines("Why", list(_reasons(losses)), "bold yellow"),
    ]


def row(cluster: str, shown: Impact) -> tuple[str, ...]:
    lost = sum(m.what == "lost" for m in shown.moves)
    others = whatif_report.tally(m for m in shown.moves if m.what != "lost")
    short = enumerate_names([f"{s.deployment} ({s.after} of {s.wanted})" for s in shown.shorts], MOST_NAMED)
    silent = enumerate_names([str(s.service) for s in shown.services if s.is_silent], MOST_NAMED)
    dark = enumerate_names([str(s.service) for s in shown.services if s.is_dark], MOST_NAMED)
    taken = enumerate_names([over for s in shown.services if (over := _taken_over(s))], MOST_NAMED)
    return cluster, "holds" if shown.holds else "fails", others, str(lost) if lost else "", short, silent, dark, taken


def _taken_over(change: ServiceImpact) -> str:
    """The service and the priority that takes over, such as `ml-team/chat (1)`."""
    priority = change.answers[2 if change.is_taken_over else 1]
    return f"{change.service} ({priority})" if change.is_taken_over or change.is_bridged else ""


def _reasons(losses: NMinusOne) -> Iterator[str]:
    """The first deployment below spec for each cluster, as an example; `--lose` shows the others."""
    for cluster, shown in losses.each:
        for short in shown.shorts[:1]:
            yield f"without {cluster}, {short.deployment}: {short.why}"
