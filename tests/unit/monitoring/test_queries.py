"""Alerts and dashboards ask for what there is: every metric and label of every query."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser as promql
import pytest
import yaml

from tests.support import exported

ROOT = Path(__file__).parents[3]
MONITORING = ROOT / "package/monitoring"
RULES = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["spec"]["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [
    *((rule["alert"], rule["expr"]) for rule in RULES),
    *((panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]),
]
SERVED_BY_GRAFANA = {"$__rate_interval": "5m", "$namespace": ".*"}
COUNTED = ("_total", "_bucket", "_count", "_sum")


def parsed(query: str) -> promql.Expr:
    for name, value in SERVED_BY_GRAFANA.items():
        query = query.replace(name, value)
    return promql.parse(query)


def nodes(found: Any) -> Iterator[Any]:
    """Every expression inside an expression."""
    yield found
    for name in ("lhs", "rhs", "expr", "vector_selector"):
        if (inner := getattr(found, name, None)) is not None:
            yield from nodes(inner)
    for argument in getattr(found, "args", ()):
        yield from nodes(argument)


def selectors(query: str) -> list[promql.VectorSelector]:
    return [node for node in nodes(parsed(query)) if isinstance(node, promql.VectorSelector)]


def grouped(query: str) -> set[str]:
    """Labels by which a query groups or joins."""
    found: set[str] = set()
    for node in nodes(parsed(query)):
        modifier = getattr(node, "modifier", None)
        for part in (modifier, getattr(modifier, "matching", None)):
            found |= set(getattr(part, "labels", None) or ())
    return found


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_every_query_asks_for_metrics_and_labels_that_there_are(title: str, query: str) -> None:
    there = exported.labels()
    asked = selectors(query)

    assert asked
    assert {s.name for s in asked} - there.keys() == set()
    wrong = [(s.name, m.name) for s in asked for m in s.matchers.matchers if m.name not in there[s.name]]
    assert wrong == []
    assert grouped(query) - set.intersection(*(there[s.name] for s in asked)) == set()


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_counters_are_only_used_by_their_growth(title: str, query: str) -> None:
    growing = {
        inner.vector_selector.name
        for node in nodes(parsed(query))
        if isinstance(node, promql.Call) and node.func.name in {"rate", "increase"}
        for inner in node.args
    }

    assert {s.name for s in selectors(query) if s.name.endswith(COUNTED)} == growing


def kept(query: str) -> set[str]:
    """Labels that the result of a query can have."""
    return kept_by(parsed(query))


def kept_by(found: Any) -> set[str]:
    if isinstance(found, promql.AggregateExpr):
        return set(found.modifier.labels) if found.modifier else set()
    if isinstance(found, promql.Call):
        return set().union(*(kept_by(argument) for argument in found.args)) - (
            {"le"} if found.func.name == "histogram_quantile" else set()
        )
    if isinstance(found, promql.VectorSelector):
        return exported.labels()[found.name]
    if isinstance(found, promql.MatrixSelector):
        return kept_by(found.vector_selector)
    if isinstance(found, promql.BinaryExpr):
        return kept_by(found.lhs) | kept_by(found.rhs)
    inner = getattr(found, "expr", None)
    return kept_by(inner) if inner is not None else set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_names_only_labels_that_its_query_keeps(rule: dict[str, Any]) -> None:
    used = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))

    assert used - kept(rule["expr"]) == set()


LEGENDS = [(panel["title"], t["expr"], t["legendFormat"]) for panel in PANELS for t in panel["targets"]]


@pytest.mark.parametrize(("title", "query", "legend"), LEGENDS)
def test_a_legend_names_only_labels_that_its_query_keeps(title: str, query: str, legend: str) -> None:
    assert set(re.findall(r"{{(\w+)}}", legend)) - kept(query) == set()


def test_variables_of_the_dashboard_ask_for_what_there_is() -> None:
    asked = [
        re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["definition"])
        for variable in DASHBOARD["templating"]["list"]
        if variable["type"] == "query"
    ]

    assert asked
    assert all(found and found[2] in exported.labels()[found[1]] for found in asked)


def test_panels_do_not_overlap_and_have_numbers_of_their_own() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]

    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len(numbers) == len(set(numbers))


def test_every_metric_of_ours_is_asked_for_somewhere() -> None:
    """One that nobody looks at is not worth its series. Pages can be about it instead."""
    asked = {s.name for _, query in QUERIES for s in selectors(query)}
    there = {name for name in exported.labels() if name.startswith("modelplane_")}
    whole = {name for name in there if not name.endswith(("_count", "_sum"))}

    assert whole - asked == {
        "modelplane_event_loop_idle_seconds",  # the liveness probe is about it
        "modelplane_workers",
        "modelplane_cache_entries",
        "modelplane_serving",
        "modelplane_modelservice_endpoints_matched",
        "modelplane_modeldeployment_placement_ready",
        "modelplane_inferencecluster_nodes",
        "modelplane_inferencecluster_pool_nodes_ready",
    }
