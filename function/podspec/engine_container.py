"""Which container of a pod is the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from function.engines import reading

ENGINE = "engine"
"""Name of the engine's container. A container that is the engine under another name is renamed."""


def engine_index(containers: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the engine's container, or None if that is unclear.

    It is the container named `engine`, else the only container, else the only one that runs a known engine.
    """
    for at, container in enumerate(containers):
        if container.get("name") == ENGINE:
            return at
    if len(containers) == 1:
        return 0
    known = [at for at, container in enumerate(containers) if reading.read(container).engine is not None]
    return known[0] if len(known) == 1 else None
