"""The page of the charts says what is installed."""

from __future__ import annotations

import json
from pathlib import Path

from function import clouds
from function.kinds.servingstack import components
from function.vocabulary.exit_codes import ExitCode

DOCS = Path(__file__).parents[4] / "docs"


def test_every_chart_is_on_the_page_in_its_version() -> None:
    rows = [line for line in (DOCS / "clusters.md").read_text().splitlines() if line.startswith("| `")]

    charts = [(row.switch, row.chart) for row in components.RELEASES]
    for source in clouds.SOURCES:
        own = {row.driver: row.switch for row in components.RELEASES}
        charts += [(own[driver], found.chart) for driver, found in source.driver_charts.items() if found]
    missing = [
        chart.name
        for switch, chart in charts
        if not any(f"`{switch}`" in r and f"`{chart.name}`" in r and f" {chart.version} " in r for r in rows)
    ]

    assert missing == []


def test_the_crds_are_those_of_the_version_on_the_page() -> None:
    versions = {m["metadata"]["annotations"]["inference.networking.k8s.io/bundle-version"] for m in _crds()}
    (row,) = [line for line in (DOCS / "clusters.md").read_text().splitlines() if "`inferenceExtension`" in line]

    assert [f" {version} " in row for version in versions] == [True]


def test_a_crd_is_small_enough_to_be_composed() -> None:
    """A response has room for 4 MiB."""
    assert sum(len(json.dumps(m)) for m in _crds()) < 2**16


def test_every_exit_code_of_a_hydration_is_on_its_page() -> None:
    page = (DOCS / "caches.md").read_text()

    assert [int(outcome) for outcome in ExitCode if f"\n| {int(outcome)} | " not in page] == []


def _crds() -> list:
    folder = Path(components.__file__).parent / "crds"
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
