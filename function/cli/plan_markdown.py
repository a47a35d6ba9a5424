"""A plan as Markdown: what it changes, in a form for the pull request that makes the change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from function.cli import plan_report
from function.cli.markdown import MarkdownTable, alert, code, codes, document, words
from function.core import NamespacedName
from function.planning.comparison import DeploymentLoss, PlanComparison, ReplicaChange, ServiceChange
from function.planning.exit_codes import SOMETHING_IS_LOST
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
                "Replicas", ("", "deployment", "replica", "cluster", "pool", "state"), [_change(c) for c in changed]
            ),
            MarkdownTable("Not as asked", ("what", "why"), list(_shortfalls(shown.outcome))),
            MarkdownTable("Other problems", ("what", "why"), list(_troubles(shown.outcome))),
            staging(shown.staging),
            MarkdownTable("Why", REASONS, list(_rejections(shown.outcome)), folded=True),
            MarkdownTable(
                "Services", ("", "service", "url", "endpoints"), [_service(s) for s in shown.services], folded=True
            ),
            MarkdownTable("Endpoints", ("", "endpoint", "url"), endpoints, folded=True),
            MarkdownTable(
                "Capacity", ("cluster", "pool", "each node", "nodes", "free"), _pools(shown.outcome), folded=True
            ),
        ],
    )


def staging(weights: Iterable[StagedWeights]) -> MarkdownTable:
    rows = [(code(str(w.identity)), code(w.cluster), f"{w.gib} GiB") for w in weights]
    return MarkdownTable("Weights to stage", plan_report.STAGING, rows)


def rejections(deployment: NamespacedName, rejected: Iterable[ClusterRejection]) -> Iterator[tuple[str, ...]]:
    return ((code(str(deployment)), code(r.cluster), code(r.reason), code(r.message)) for r in rejected)


def _loss(loss: DeploymentLoss) -> tuple[str, ...]:
    return code(str(loss.deployment)), str(loss.before), str(loss.after), str(loss.wanted)


def _change(change: ReplicaChange) -> tuple[str, ...]:
    replica = change.replica
    where = f"{code(replica.cluster)} (was {code(change.was)})" if change.was else code(replica.cluster)
    state = "" if change.what == "gone" else "serves" if replica.serving else "starting"
    return change.what, code(str(change.deployment)), code(replica.name), where, codes(replica.pools), state


def _shortfalls(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for deployment in outcome.deployments:
        if deployment.why:
            yield code(str(deployment.identity)), code(deployment.why)
        for replica in deployment.replicas:
            if replica.why and replica.why != deployment.why:
                yield f"{code(replica.name)} on {code(replica.cluster)}", code(replica.why)


def _troubles(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for cluster in outcome.clusters:
        if cluster.why:
            yield f"InferenceCluster {code(cluster.name)}", code(cluster.why)
    for trouble in outcome.troubles:
        yield f"{trouble.kind} {code(str(trouble.identity))}", code(trouble.why)


def _rejections(outcome: PlanOutcome) -> Iterator[tuple[str, ...]]:
    for deployment in outcome.deployments:
        if deployment.why:
            yield from rejections(deployment.identity, deployment.rejections)


def _service(shown: ServiceChange) -> tuple[str, ...]:
    service = shown.service
    ready = "" if shown.what == "gone" else f"{service.ready} of {service.matched} ready"
    return "" if shown.what == "kept" else shown.what, code(str(shown.identity)), code(service.address), ready


def _pools(outcome: PlanOutcome) -> list[tuple[str, ...]]:
    return [(code(p.cluster), code(p.name), code(p.devices), str(p.nodes), str(p.free)) for p in outcome.pools]
