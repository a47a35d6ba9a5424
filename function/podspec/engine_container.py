"""Which container of a pod is the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ENGINE = "engine"
"""Name of the engine's container. An only container needs no special name, and is renamed."""


def engine_index(containers: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the engine's container, or None if that is unclear.

    It is the container named `engine`, else the only container.
    """
    named = [i for i, container in enumerate(containers) if container.get("name") == ENGINE]
    if named:
        return named[0]
    return 0 if len(containers) == 1 else None
