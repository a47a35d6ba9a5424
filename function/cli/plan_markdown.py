"""A plan as Markdown, for a comment on the pull request that makes the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from function.cli import infrastructure_report, plan_report
from function.cli.differences_report import NO_MANIFESTS, Group, diff, groups, values
from function.cli.infrastructure_report import removed
from function.cli.markdown import MarkdownDiffs, MarkdownTable, alert, code, codes, document, words
from function.cli.plan_report import traffic_rows
from function.core import NamespacedName
from function.planning.changes import DeploymentLoss, ReplicaChange, ServiceChange
from function.planning.differences import Differences
from function.planning.exit_codes import SOMETHING_IS_LOST
from function.planning.infrastructure_changes import InfrastructureChange
from function.planning.outcome import ClusterRejection, PlanOutcome, StagedWeights
from function.planning.unchanged import Listing

EDITS = ("object", "field", "now", "then", "")
REASONS = ("deployment", "cluster", "reason", "message")


def text(plan: Listing) -> str:
    shown = plan.listed
    changed = [c for c in shown.changes if c.what != "kept"]
    endpoints = [(what, code(name), code(url)) for what, name, url in shown.endpoints if what != "kept"]
    silenced = [(code(str(s.identity)), code(s.service.address)) for s in shown.silenced]
    return document(
        _lead(plan),
        [
            MarkdownTable("Lost", ("deployment", "serves now", "would", "of"), [_loss(loss) for loss in shown.losses]),
            MarkdownTable("Without an endpoint", ("service", "url"), silenced),
            MarkdownTable(
                "Another priority answers", ("service", "now", "then"), [*map(_taken_over, shown.taken_over)]
            ),
            MarkdownTable("Edits", EDITS, list(_edits(shown.differences))),
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
            MarkdownTable("Traffic", plan_report.TRAFFIC, [_traffic(row) for row in traffic_rows(shown.services)]),
            MarkdownTable("Why", REASONS, list(_rejections(shown.outcome)), folded=True),
            MarkdownTable("Services", plan_report.SERVICES, [_service(s) for s in shown.services], folded=True),
            MarkdownTable("Endpoints", plan_report.ENDPOINTS, endpoints, folded=True),
            MarkdownTable("Capacity", plan_report.POOLS, _pools(shown.outcome), folded=True),
            MarkdownTable("Shared nodes", plan_report.SHARED, _shared(shown.outcome), folded=True),
        ],
        diffs=MarkdownDiffs("Manifests", [_diff(group) for group in groups(shown.differences)]),
    )


def _lead(plan: Listing) -> str:
    """The headline, a warning if something is lost, and what is only counted."""
    is_lost = plan.whole.exit_code == SOMETHING_IS_LOST
    paragraphs = [
        "### Plan\n",
        f"{words(plan_report.headline(plan.whole))}\n",
        *([alert("CAUTION", "Something that serves would be lost.")] if is_lost else []),
        *(f"{words(line)}\n" for line in plan_report.unchanged(plan)),
    ]
    return "\n".join(paragraphs)


def _edits(differences: Differences) -> Iterator[tuple[str, ...]]:
    """A row for each field, or one for an object that comes or goes."""
    remark = "" if differences.manifests else NO_MANIFESTS
    for edit in differences.edits:
        what = f"{edit.kind} {code(str(edit.name))}"
        if edit.what != "changed":
            yield what, "", "", "", edit.what
        for field in edit.fields:
            before, after = values(field)
            first, then = "" if field.what == "added" else before, "" if field.what == "removed" else after
            yield what, code(field.path), code(first), code(then), remark


def _diff(group: Group) -> tuple[str, list[str]]:
    return words(group.title), diff(group.first) if group.first.what == "changed" else []


def _traffic(row: tuple[str, ...]) -> tuple[str, ...]:
    service, endpoints, now, then, priority, model = row
    return code(service), code(endpoints), now, then, words(priority), code(model)


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
