"""Kubernetes' own library as a program that answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from tests.conformance import programs
from tests.conformance.programs import is_buildable

__all__ = ["answers", "is_buildable", "wanted"]


def wanted() -> None:
    """Skips a test where there is no Go, unless it must run there."""
    if not is_buildable():
        assert "CI" not in os.environ, "Go is wanted where this must run"
        pytest.skip("there is no Go to build Kubernetes' library with")


def answers(questions: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """For each expression and device: the outcome, its detail, and the cost that is estimated and paid."""
    return programs.answers(
        "oracle", ({"expression": expression, "device": device} for expression, device in questions)
    )
