"""The count of what an evaluation costs, in the last place of its frame."""

from __future__ import annotations

from function.cel.code import Frame
from function.cel.cost import LIMIT
from function.cel.problem import Abort


def charge(frame: Frame, meter: int, cost: int) -> None:
    """Abort where it becomes more than Kubernetes allows."""
    frame[meter] = ((frame[meter] or 0) + cost) % 2**64
    if frame[meter] > LIMIT:
        raise Abort("the evaluation costs more than Kubernetes allows")
