"""What the server counts of its answers, read as Prometheus reads it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families as parsed

from function import registry
from function.core import Manifest, Request, Result
from function.probes import Question
from function.sandbox import remote
from function.sandbox.settle import settle
from function.server import metrics, process_metrics
from function.server.health import Health
from function.server.runner import Runner
from function.server.workers import Workers
from tests.support.cases import ROOT, load

RUNNER = Runner(workers=1)
ALERTS = ROOT.parents[1] / "package/monitoring/alerts.yaml"


def reconciled(case: str, status: Manifest | None = None) -> list[Request]:
    """The requests of a golden case's reconcile; the last is answered with what is carried out."""
    request, objects = load(ROOT / case)
    if status is not None:
        request = replace(request, xr={**request.xr, "status": status})
    calls: list[Request] = []

    def compose(call: Request) -> Result:
        calls.append(call)
        return registry.compose(call)

    settle(compose, request, objects)
    return calls


def read() -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = metrics.page(Question({}, "")).body.decode()
    samples = [sample for family in parsed(text) for sample in family.samples]
    return {(s.name, frozenset(s.labels.items())): s.value for s in samples if s.name.startswith("modelplane_")}


def counted(calls: list[Request], name: str) -> Counter[tuple[str, ...]]:
    """What the answers add to a metric, by the values of its labels in the order of their names."""
    before = read()
    for call in calls:
        RUNNER.answer(remote.encode(call).SerializeToString())
    grown = {key: value - before.get(key, 0) for key, value in read().items() if key[0] == name}
    return Counter({tuple(v for _, v in sorted(labels)): int(n) for (_, labels), n in grown.items() if n})


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ("replicas-spread-over-regions", "settled"),
        ("more-replicas-than-fit", "waiting"),
        ("a-malformed-selector-keeps-what-runs", "refused"),
        ("no-cluster-keeps-what-runs", "held"),
    ],
)
def test_a_reconcile_asks_and_ends_with_one_outcome(case: str, outcome: str) -> None:
    calls = reconciled(f"modeldeployment/{case}")

    got = counted(calls, "modelplane_calls_total")

    asking = {("ModelDeployment", "asking"): len(calls) - 1} if len(calls) > 1 else {}
    assert got == Counter({("ModelDeployment", outcome): 1, **asking})


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("a-malformed-selector-keeps-what-runs", "InvalidNodeSelector"),
        ("no-cluster-keeps-what-runs", "NoClusters"),
        ("replicas-spread-over-regions", None),
    ],
)
def test_a_hold_is_counted_by_its_reason_once_in_a_reconcile(case: str, reason: str | None) -> None:
    """While it asks, it holds too, and Crossplane does not carry that out."""
    got = counted(reconciled(f"modeldeployment/{case}"), "modelplane_holds_total")

    assert got == (Counter({("ModelDeployment", reason): 1}) if reason else Counter())


def test_a_rejection_is_counted_when_it_begins() -> None:
    case = "modeldeployment/a-cordoned-node-is-not-counted"
    calls = reconciled(case)
    rejections = registry.compose(calls[-1]).status["rejections"]
    assert [r["reason"] for r in rejections] == ["Cordoned"]

    assert counted(calls, "modelplane_rejections_total") == Counter({("Cordoned",): 1})
    assert counted(reconciled(case, {"rejections": rejections}), "modelplane_rejections_total") == Counter()
    other = [{**rejections[0], "reason": "Full"}]
    assert counted(reconciled(case, {"rejections": other}), "modelplane_rejections_total") == Counter(
        {("Cordoned",): 1}
    )


@pytest.mark.parametrize(
    "status", [{"rejections": None}, {"rejections": ["x"]}, {"conditions": "x"}, {"rejections": {}}]
)
def test_a_status_of_any_shape_is_read(status: Manifest) -> None:
    got = counted(reconciled("modeldeployment/a-cordoned-node-is-not-counted", status), "modelplane_rejections_total")

    assert got == Counter({("Cordoned",): 1})


def test_a_condition_is_counted_when_it_changes() -> None:
    case = "modeldeployment/more-replicas-than-fit"
    name = "modelplane_condition_transitions_total"
    conditions = registry.compose(reconciled(case)[-1]).conditions
    known = [{"type": c.type, "status": c.status, "reason": c.reason} for c in conditions]
    want = Counter({(c.type, "ModelDeployment", c.reason, c.status): 1 for c in conditions})

    assert counted(reconciled(case, {"conditions": []}), name) == want
    assert counted(reconciled(case, {"conditions": known}), name) == Counter()


@pytest.mark.parametrize(
    ("case", "reasons"),
    [
        ("a-lost-cluster-is-replaced-at-once", {"Lost": 1, "Placed": 1}),
        ("the-younger-of-two-gives-way", {"Yielded": 1, "Placed": 1}),
        ("the-younger-of-two-that-grew-goes-back", {"Retreated": 1}),
    ],
)
def test_events_are_counted(case: str, reasons: dict[str, int]) -> None:
    got = counted(placed(f"modeldeployment/{case}"), "modelplane_events_total")

    assert {reason: got["ModelDeployment", reason] for reason in reasons} == reasons


def placed(case: str) -> list[Request]:
    """The requests of a reconcile of a deployment whose status has the replicas that are observed."""
    request, _ = load(ROOT / case)
    replicas = [m["metadata"]["name"] for m in request.observed.values() if m["kind"] == "ModelReplica"]
    return reconciled(case, {"placements": [{"replica": name, "ready": True} for name in replicas]})


def test_the_alert_about_lost_replicas_asks_for_an_event_that_is_counted() -> None:
    (asked,) = re.findall(r'modelplane_events_total{reason="(\w+)"}', ALERTS.read_text())

    got = counted(placed("modeldeployment/a-lost-cluster-is-replaced-at-once"), "modelplane_events_total")

    assert got["ModelDeployment", asked] == 1


def test_evaluations_and_look_ups_are_counted() -> None:
    calls = reconciled("modeldeployment/replicas-spread-over-regions")
    with process_metrics.shown(Health(Workers(1))):
        evaluated = counted(calls, "modelplane_selector_evaluations_total")
        found = counted(calls, "modelplane_cache_requests_total")

    assert evaluated.keys() <= {("match",), ("no_match",), ("error",)}
    assert sum(evaluated.values()) > 0
    assert found["cluster_statuses", "hit"] > 0
    assert found["cluster_statuses", "miss"] == 0


def test_every_cache_has_a_name_of_its_own() -> None:
    names = [cache.name for cache in process_metrics.declared()]

    assert "" not in names
    assert len(names) == len(set(names))
    assert {"cluster_statuses", "selector_programs"} <= set(names)


def test_a_process_without_certificates_shows_none_and_leaves_nothing_behind() -> None:
    with process_metrics.shown(Health(Workers(3))):
        assert REGISTRY.get_sample_value("modelplane_workers") == 3
        assert not any("certificate" in name for name, _ in read())
    assert REGISTRY.get_sample_value("modelplane_workers") is None


def test_a_call_without_an_answer_is_counted_as_what_it_was() -> None:
    metrics.refused("late")
    before = REGISTRY.get_sample_value("modelplane_calls_total", {"kind": "unknown", "outcome": "late"})
    metrics.refused("late")

    after = REGISTRY.get_sample_value("modelplane_calls_total", {"kind": "unknown", "outcome": "late"})
    assert after == before + 1
