"""The meter of an evaluation: one place of its frame holds the cost so far, and the next one the limit."""

from __future__ import annotations

from function.cel.language.errors import Abort
from function.cel.language.limits import COST
from function.cel.language.program.code import Frame


def charge(frame: Frame, meter: int, cost: int) -> None:
    """Add to the cost. Abort where it exceeds the limit."""
    spent = frame[meter] = (frame[meter] + cost) % 2**64
    limit = frame[meter + 1]
    if spent > limit:
        whose = "Kubernetes" if limit == COST else "this server"
        raise Abort(f"the evaluation costs more than the {limit:,} units that {whose} allows")
