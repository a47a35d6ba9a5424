"""A what-if, or the N-1 report, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from function.cli import n_minus_1, whatif_report
from function.cli.markdown import MarkdownTable, alert, code, codes, document, words
from function.cli.plan_markdown import REASONS, infrastructure, rejections, staging
from function.planning.exit_codes import SOMETHING_IS_LOST
from function.planning.impact import Impact, ReplicaMove
from function.planning.what_if import NMinusOne


def text(shown: Impact) -> str:
    lead = f"### What if\n\n{words(whatif_report.headline(shown))}\n{_caution(shown)}"
    return document(lead, list(_tables(shown)))


def text_of_losses(lost: NMinusOne) -> str:
    first = f"\nFirst: {words(whatif_report.headline(lost.first))}\n" if lost.first else ""
    lead = f"### What if any one cluster is lost\n\n{words(n_minus_1.headline(lost))}\n{first}"
    rows = [_row(cluster, shown) for cluster, shown in lost.each]
    why = [
        (code(cluster), code(str(short.deployment)), str(short.after), str(short.wanted), code(short.why))
        for cluster, shown in lost.each
        for short in shown.shorts
    ]
    columns = ("without", "deployment", "serves then", "of", "why")
    return document(
        lead,
        [MarkdownTable("Clusters", n_minus_1.COLUMNS, rows), MarkdownTable("Below spec", columns, why, folded=True)],
    )


def _caution(shown: Impact) -> str:
    if shown.code == SOMETHING_IS_LOST:
        return f"\n{alert('CAUTION', 'Something that serves would be lost.')}"
    return f"\n{alert('CAUTION', 'Something that serves cannot leave.')}" if shown.stuck else ""


def _tables(shown: Impact) -> Iterator[MarkdownTable]:
    yield MarkdownTable("Replicas", whatif_report.MOVES, [_move(m) for m in whatif_report.ordered(shown.moves)])
    shorts = [(code(name), *counts) for name, *counts in map(whatif_report.short_row, shown.shorts)]
    yield MarkdownTable("Below spec", whatif_report.SHORTS, shorts)
    services = [(code(name), *rest) for name, *rest in map(whatif_report.service_row, shown.services)]
    yield MarkdownTable("Services", whatif_report.SERVICES, services)
    yield infrastructure(shown.infrastructure)
    yield staging(shown.staging)
    reasons = [(code(str(s.deployment)), code(s.why)) for s in shown.shorts if s.why]
    yield MarkdownTable("Why", ("deployment", "why"), reasons)
    each = [row for s in shown.shorts for row in rejections(s.deployment, s.rejections)]
    yield MarkdownTable("Cluster by cluster", REASONS, each, folded=True)
    rooms = [(*map(code, row[:3]), *row[3:]) for row in map(whatif_report.room_row, shown.rooms)]
    yield MarkdownTable("Capacity", whatif_report.ROOMS, rooms, folded=True)


def _move(move: ReplicaMove) -> tuple[str, ...]:
    what, deployment, replica, source, target, _, why = whatif_report.move_row(move)
    pools = codes(move.pools) if target else ""
    return what, code(deployment), code(replica), code(source), code(target), pools, code(why)


def _row(cluster: str, shown: Impact) -> tuple[str, ...]:
    name, holds, moves, lost, *names = n_minus_1.row(cluster, shown)
    return code(name), holds, moves, lost, *map(code, names)
