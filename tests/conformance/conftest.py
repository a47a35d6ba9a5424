"""Says at the end how many cases were compared, wherever they ran."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: Counter[str] = Counter()
    for report in _reports(terminalreporter):
        counts.update({name: value for name, value in report.user_properties if isinstance(value, int)})
    for name, count in sorted(counts.items()):
        terminalreporter.write_line(f"{name}: {count}")


def _reports(terminalreporter: pytest.TerminalReporter) -> list[Any]:
    return [
        r for r in terminalreporter.getreports("passed") + terminalreporter.getreports("failed") if r.when == "call"
    ]
