"""How all tests run, and the numbers that they print at the end."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2000)
os.environ.pop("FORCE_COLOR", None)  # the output of a command is compared as a pipe gets it
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the sum of every number that tests recorded under one name, wherever they ran."""
    counts: Counter[str] = Counter()
    for report in _reports(terminalreporter):
        counts.update({name: value for name, value in report.user_properties if isinstance(value, int)})
    for name, count in sorted(counts.items()):
        terminalreporter.write_line(f"{name}: {count}")


def _reports(terminalreporter: pytest.TerminalReporter) -> list[Any]:
    return [
        r for r in terminalreporter.getreports("passed") + terminalreporter.getreports("failed") if r.when == "call"
    ]
