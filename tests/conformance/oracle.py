"""Kubernetes' own library as a program that answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.conformance import programs
from tests.conformance.programs import is_buildable

__all__ = ["answers", "is_buildable"]


def answers(questions: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """For each expression and device: the outcome, its detail, and the cost that is estimated and paid."""
    return programs.answers(
        "oracle", ({"expression": expression, "device": device} for expression, device in questions)
    )
