"""The levels of Kubernetes' Pod Security Standards (kubernetes.io, Pod Security Standards)."""

from __future__ import annotations

from typing import Literal, get_args

Level = Literal["privileged", "baseline", "restricted"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From the level that admits every pod to the strictest one."""
PRIVILEGED, BASELINE, RESTRICTED = LEVELS
DEFAULT: Level = BASELINE
"""The level of a cluster that names none."""


def level(value: object) -> Level | None:
    """Return the level with a name; None if there is none."""
    return next((known for known in LEVELS if known == value), None)
