"""The count of what an evaluation costs: in one place of its frame, and in the next what it may come to."""

from __future__ import annotations

from function.cel.costs.estimate import LIMIT
from function.cel.problem import Abort
from function.cel.program.code import Frame


def charge(frame: Frame, meter: int, cost: int) -> None:
    """Abort where it becomes more than it may."""
    spent = frame[meter] = (frame[meter] + cost) % 2**64
    limit = frame[meter + 1]
    if spent > limit:
        whose = "Kubernetes" if limit == LIMIT else "this server"
        raise Abort(f"the evaluation costs more than the {limit:,} units that {whose} allows")
