"""A plan as Markdown, for a comment on the pull request that makes the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from function.cli import infrastructure_report, plan_report
from function.cli.infrastructure_report import removed
from function.cli.markdown import MarkdownTable, alert, code, codes, document, words
from function.core import NamespacedName
from function.planning.comparison import DeploymentLoss, PlanComparison, ReplicaChange, ServiceChange
from function.planning.exit_codes import SOMETHING_IS_LOST
from function.planning.infrastructure_changes import InfrastructureChange
from function.planning.outcome import ClusterRejection, PlanOutcome, StagedWeights

REASONS = ("deployment", "cluster", "reason", "message")


def text(shown: PlanComparison) -> str:
    lost = alert("CAUTION", "Something that serves would be lost.") if shown.exit_code == SOMETHING_IS_LOST else ""
    lead = f"### Plan\n\n{words(plan_report.headline(shown))}\n{lost and chr(10) + lost}"
    changed = [c for c in shown.changes if c.what != "kept"]
    endpoints = [(what, code(name), code(url)) for what, name, url in shown.endpoints if what != "kept"]
    silenced = [(code(str(s.identity)), code(s.service.address)) for s in shown.silenced]
    return document(
        lead,
        [
            MarkdownTable("Lost", ("deployment", "serves now", "would", "of"), [_loss(loss) for loss in shown.losses]),
            MarkdownTable("Without an endpoint", ("service", "url"), silenced),
            MarkdownTable(
                "Another priority answers", ("service", "now", "then"), [*map(_taken_over, shown.taken_over)]
            ),
            MarkdownTable("Replicas", plan_report.REPLICAS, [_change(c) for c in changed]),
            MarkdownTable("Differs from spec", ("what", "why"), list(_shortfalls(shown.outcome))),
            MarkdownTable(
                "Other problems",
                ("what", "why"),
                list(_problems(shown.outcome)),
            ),
            MarkdownTable("Removed pools", ("pool",), [(words(line),) for line in removed(shown.removed_pools)]),
            infrastructure(shown.infrastructure),
            staging(shown.staging),
            MarkdownTable("Why", REASONS, list(_rejections(shown.outcome)), folded=True),
            MarkdownTable("Services", plan_report.SERVICES, [_service(s) for s in shown.services], folded=True),
            MarkdownTable("Endpoints", plan_report.ENDPOINTS, endpoints, folded=True),
            MarkdownTable("Capacity", plan_report.POOLS, _pools(shown.outcome), folded=True),
            MarkdownTable("Shared nodes", plan_report.SHARED, _shared(shown.outcome), folded=True),
        ],
    )


def staging(weights: Iterable[StagedWeights]) -> MarkdownTable:
    rows = [(code(cache), code(cluster), size) for cache, cluster, size in plan_report.staging_rows(weights)]
    return MarkdownTable("Weights to stage", plan_report.STAGING, rows)


def infrastructure(changes: Iterable[InfrastructureChange]) -> MarkdownTable:
    changed = [change for change in changes if change.what != "kept"]
    rows = [(what, code(cluster), kind, words_) for what, cluster, kind, words_ in infrastructure_report.rows(changed)]
    return MarkdownTable("Infrastructure", infrastructure_report.COLUMNS, rows)


def rejections(deployment: NamespacedName, rejected: Iterable[ClusterRejection]) -> Iterator[tuple[str, ...]]:
    return ((code(str(deployment)), code(r.cluster), code(r.reason), code(r.message)) for r in rejected)


def _loss(loss: DeploymentLoss) -> tuple[str, ...]:
    return code(str(loss.deployment)), str(loss.before), str(loss.after), str(loss.wanted)


def _change(change: ReplicaChange) -> tuple[str, ...]:
    replica = change.replica
    where = f"{code(replica.cluster)} (was {code(change.was)})" if change.was else code(replica.cluster)
    return change.what, code(str(change.deployment)), code(replica.name), where, codes(replica.pools), change.state


def _taken_over(shown: ServiceChange) -> tuple[str, ...]:
    return code(str(shown.identity)), str(shown.answered), str(shown.answers)


def _shortfalls(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for deployment in outcome.deployments:
        if deployment.why:
            yield code(str(deployment.identity)), code(deployment.why)
        for replica in deployment.troubled:
            yield f"{code(replica.name)} on {code(replica.cluster)}", code(replica.why)


def _problems(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    return ((f"{kind} {code(name)}", code(why)) for kind, name, why in outcome.problems)


def _rejections(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for deployment in outcome.deployments:
        if deployment.why:
            yield from rejections(deployment.identity, deployment.rejections)


def _service(shown: ServiceChange) -> tuple[str, ...]:
    what, name, url, *rest = plan_report.service_row(shown)
    return what, code(name), code(url), *rest


def _pools(outcome: PlanOutcome) -> list[tuple[str, ...]]:
    return [(*map(code, row[:3]), *row[3:]) for row in plan_report.pool_rows(outcome)]


def _shared(outcome: PlanOutcome) -> list[tuple[str, ...]]:
    return [(*map(code, row[:3]), *row[3:]) for row in plan_report.shared_rows(outcome)]
