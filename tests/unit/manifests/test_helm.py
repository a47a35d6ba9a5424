"""A Release names a chart in the way that its registry has it."""

from __future__ import annotations

from typing import Any

import pytest

from function.manifests import helm
from function.vocabulary import charts
from tests.support import foreign

DRANET = "oci://registry.k8s.io/networking/charts/dranet"


def release(chart: charts.Chart, version: str | None = None) -> dict[str, Any]:
    return helm.release(name="a", namespace="b", provider_config="c", chart=chart, version=version, values={})


@pytest.mark.parametrize(
    ("asked", "tag", "version"),
    [(None, "v1.4.0", "1.4.0"), ("1.5.0", "v1.5.0", "1.5.0"), ("v1.5.0", "v1.5.0", "1.5.0")],
)
def test_a_tag_that_is_not_the_version_of_the_chart_is_in_a_url(asked: str | None, tag: str, version: str) -> None:
    """Helm pulls the tag that it is told, and provider-helm compares the version with that in Chart.yaml."""
    written = release(charts.DRANET, asked)

    chart = written["spec"]["forProvider"]["chart"]
    assert chart == {"name": "dranet", "url": f"{DRANET}:{tag}", "version": version}
    assert foreign.problems(written) == []


def test_other_charts_are_pulled_by_their_version() -> None:
    assert release(charts.LEADERWORKERSET)["spec"]["forProvider"]["chart"] == {
        "name": "lws",
        "repository": "oci://registry.k8s.io/lws/charts",
        "version": "v0.10.0",
    }
