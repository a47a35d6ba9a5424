"""Values are sent only to charts that know them: by rendering (tests/e2e/test_charts.py), or by recorded facts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.charts import SOURCES
from tests.support.chartvalues import Place, Values, at, leaves, unknown
from tests.support.releases import INSTALLED, releases
from tests.unit.charts.facts import FACTS

each_chart = pytest.mark.parametrize("chart", sorted(FACTS))


def test_every_chart_is_rendered_or_in_the_table() -> None:
    assert {one.chart for one in releases()} == INSTALLED.keys()
    assert {*SOURCES, *FACTS} == INSTALLED.keys()
    assert not SOURCES.keys() & FACTS.keys()


@each_chart
def test_the_facts_are_those_of_the_version_that_is_installed(chart: str) -> None:
    assert FACTS[chart].version == INSTALLED[chart].version


@each_chart
def test_the_chart_knows_every_value_by_name_and_type(chart: str) -> None:
    for values in sent(chart):
        assert unknown(values, FACTS[chart].defaults) == []
        assert [path for path, ours, theirs in pairs(chart, values) if not fits(ours, theirs)] == []


@each_chart
def test_a_value_that_is_always_the_default_is_sent_for_a_reason(chart: str) -> None:
    """One that changes nothing may be misspelt, or of a time when the default was another."""
    changed = {path for values in sent(chart) for path, ours, theirs in pairs(chart, values) if ours != theirs}
    every = {path for values in sent(chart) for path, _, _ in pairs(chart, values)}

    assert every - changed == FACTS[chart].restated.keys()


@each_chart
def test_the_table_has_no_value_that_is_not_sent(chart: str) -> None:
    every = {place for values in sent(chart) for place in leaves(values)}
    flags = ("logtostderr", "stderrthreshold", "v")  # beside which we add ours

    assert [
        p for p in leaves(FACTS[chart].defaults) if p[-1] not in flags and not any(_within(p, q) for q in every)
    ] == []


def test_the_page_says_how_every_chart_is_tested() -> None:
    page = (Path(__file__).parents[3] / "docs" / "e2e.md").read_text()
    section = page.partition("\n## Charts\n")[2].partition("\n## ")[0]

    assert [name for name in INSTALLED if f"`{name}`" not in section] == []
    assert [name for name in SOURCES if f"`{name}` {INSTALLED[name].version} |" not in section] == []


@pytest.mark.parametrize(
    ("chart", "values", "want"),
    [
        ("cert-manager", {"crds": {"enable": True}}, ["crds.enable"]),
        ("dranet", {"toleration": []}, ["toleration"]),
        ("traefik", {"ports": {"web": {"expose": {"defaults": True}}}}, ["ports.web.expose.defaults"]),
    ],
)
def test_a_misspelt_value_is_noticed(chart: str, values: Values, want: list[str]) -> None:
    assert unknown(values, FACTS[chart].defaults) == want


def sent(chart: str) -> list[Values]:
    return [one.values for one in releases() if one.chart == chart]


def pairs(chart: str, values: Values) -> Iterator[tuple[str, Any, Any]]:
    """Every value that is sent, and what the chart has by default."""
    for place in leaves(values):
        yield ".".join(place), at(values, place), at(FACTS[chart].defaults, place)


def fits(ours: Any, theirs: Any) -> bool:
    """Whether a value is of the type of the default. Null says nothing of the type."""
    return theirs is None or type(ours) is type(theirs)


def _within(place: Place, other: Place) -> bool:
    """Whether a place is at another one, above it or below it."""
    depth = min(len(place), len(other))
    return place[:depth] == other[:depth]
