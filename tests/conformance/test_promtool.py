"""Metrics and alerts as Prometheus' own tool judges them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.conformance import promtool
from tests.support import exported

MONITORING = Path(__file__).parents[2] / "package/monitoring"
ALERTS = Path(__file__).parent / "alerts"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The rules as Prometheus' own files have them, and without annotations, for cases that are about the rest."""
    found = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["spec"]
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump(found))
    for group in found["groups"]:
        for rule in group["rules"]:
            del rule["annotations"]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(found))
    return tmp_path


def test_metrics_of_the_server_keep_the_conventions() -> None:
    got = promtool.run("check", "metrics", stdin=exported.exposition())

    assert (got.returncode, got.stdout + got.stderr) == (0, "")


def test_what_breaks_the_conventions_is_found() -> None:
    got = promtool.run("check", "metrics", stdin="# TYPE calls counter\ncalls 1\n")

    assert got.returncode != 0


def test_rules_are_valid(rules: Path) -> None:
    got = promtool.run("check", "rules", str(rules / "whole.yaml"))

    assert (got.returncode, got.stderr) == (0, "")


def cases() -> list[str]:
    return sorted(path.name for path in ALERTS.glob("*.yaml"))


@pytest.mark.parametrize("case", cases())
def test_alerts_fire_when_they_should(rules: Path, case: str) -> None:
    (rules / case).write_text((ALERTS / case).read_text())

    got = promtool.run("test", "rules", case, folder=rules)

    assert got.returncode == 0, got.stdout + got.stderr


def test_an_alert_that_does_not_fire_fails_its_case(rules: Path) -> None:
    text = (rules / "rules.yaml").read_text()
    assert text.count("_free < 0") == 1
    (rules / "rules.yaml").write_text(text.replace("_free < 0", "_free < -9"))
    (rules / "fleet.yaml").write_text((ALERTS / "fleet.yaml").read_text())

    got = promtool.run("test", "rules", "fleet.yaml", folder=rules)

    assert got.returncode != 0
    assert "ModelplanePoolOvercommitted" in got.stdout + got.stderr


def test_every_alert_is_tested() -> None:
    named = {
        name["alertname"]
        for case in cases()
        for test in yaml.safe_load((ALERTS / case).read_text())["tests"]
        for name in test["alert_rule_test"]
        if name["exp_alerts"]
    }
    there = {
        rule["alert"]
        for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["spec"]["groups"]
        for rule in group["rules"]
    }

    assert named == there
