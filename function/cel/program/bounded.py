"""Programs whose steps are counted."""

from __future__ import annotations

from typing import Any

from function.cel import effort
from function.cel.checking.checked import Checked
from function.cel.program.code import Frame, Run

_GROWING = frozenset(
    {"_+_", "replace", "join", "format", "split", "findAll", "lists.range", "strings.quote", "add", "sub"}
)
"""Functions whose result can be longer than the text that is written out."""


def bounded(run: Run, checked: Checked, steps: int = effort.MOST) -> Run:
    """A program whose steps are counted from its start, where it has any that count."""
    if not checked.has_loops and _GROWING.isdisjoint(checked.functions):
        return run

    def call(frame: Frame) -> Any:
        effort.begin(steps)
        try:
            return run(frame)
        finally:
            effort.end()

    return call
