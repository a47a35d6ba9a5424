"""The page about simulations names every kind of step, every step and every invariant."""

from __future__ import annotations

import re
from pathlib import Path

from function.planning.simulation.generator import KINDS
from function.planning.simulation.invariants import Invariant
from function.planning.simulation.steps import STEPS

PAGE = (Path(__file__).parents[2] / "docs/simulate.md").read_text()


def rows(heading: str) -> list[str]:
    """The first cells of the tables of a section."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (found,) = [part for part in section if part.startswith(f"{heading}\n")]
    return re.findall(r"^\| (`[^|]+?) \|", found, re.MULTILINE)


def test_the_kinds_of_steps_are_those_that_can_be_chosen() -> None:
    assert [row.strip("`") for row in rows("Steps")] == [*KINDS]


def test_the_invariants_are_those_that_are_checked() -> None:
    assert [row.strip("`") for row in rows("Invariants")] == [one.title for one in Invariant]


def test_the_steps_are_those_that_can_be_played() -> None:
    lines = [line for row in rows("Repeat what broke") for line in re.findall(r"`([a-z]+)", row)]

    assert sorted(lines) == sorted(STEPS)
