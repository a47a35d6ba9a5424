"""Every Release that golden cases compose: which chart is installed, in which version, with which values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from function.core import Manifest, plain
from function.gateways.traefik import charts as traefik
from function.vocabulary import charts, crossplane
from function.vocabulary.charts import Chart
from tests.support import stacks
from tests.support.cases import CASES, answer

INSTALLED: Mapping[str, Chart] = {
    one.name: one for module in (charts, traefik) for one in vars(module).values() if isinstance(one, Chart)
}
"""Every chart that Modelplane installs, by its name."""
_HELD = "a-bad-edit-changes-nothing"
"""A golden case that repeats a Release of an earlier Modelplane, with the values of then."""


@dataclass(frozen=True, slots=True)
class Release:
    """A chart with values, as we compose it."""

    title: str
    """Where it was composed."""
    name: str
    chart: str
    version: str
    namespace: str
    values: Mapping[str, Any]


@cache
def releases() -> tuple[Release, ...]:
    """All Releases of charts in the versions that we install, one for each set of values."""
    found: dict[str, Release] = {}
    for title, manifest in _composed():
        one = _parsed(title, manifest)
        if one.version == INSTALLED[one.chart].version:
            found.setdefault(json.dumps([one.chart, one.values], sort_keys=True), one)
    return tuple(found.values())


def _composed() -> Iterator[tuple[str, Manifest]]:
    """Of golden cases, and of a stack without AI gateway. An observed Release need not be a whole one."""
    without = stacks.answer({"aiGateway": {"enabled": False}}, {"inferencepools": stacks.READY})
    results = {case.name: answer(case) for case in CASES if case.name != _HELD and _has_releases(case)}
    for title, result in {"without-the-ai-gateway": without, **results}.items():
        for one in result.resources.values():
            if one.manifest["kind"] == "Release" and "spec" in one.manifest:
                yield title, one.manifest


def _has_releases(case: Path) -> bool:
    return any("kind: Release" in path.read_text() for path in case.glob("*.yaml"))


def _parsed(title: str, manifest: Manifest) -> Release:
    asked = manifest["spec"]["forProvider"]
    chart, name = asked["chart"], manifest["metadata"]["annotations"][crossplane.EXTERNAL_NAME]
    return Release(title, name, chart["name"], chart["version"], asked["namespace"], plain(asked.get("values") or {}))
