"""Steps print as lines and are read back; a line that is no step says what would be one."""

from __future__ import annotations

import dataclasses

import pytest

from function.planning.simulation import replays, steps
from function.planning.simulation.steps import STEPS, Step, UnknownStep

SAMPLES = {"value": """{"a b": "it's", "c": [1, null, "\\"#"]}""", "fault": "slow", "policy": "orphan"}


def sample(step: type[Step]) -> Step:
    """A step of a type, with words that need quotes."""
    fields = dataclasses.fields(step)
    words = {f.name: -7 if f.type == "int" else SAMPLES.get(f.name, f"odd {f.name}'s") for f in fields}
    return step(**words)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_step_is_read_back_from_its_line(step: type[Step]) -> None:
    assert steps.read(str(sample(step))) == sample(step)


def test_comments_and_blank_lines_are_passed_over() -> None:
    played = tuple(map(sample, STEPS.values()))

    assert replays.read(replays.text(played, ["a comment", ""]) + "\n  # another\n") == played


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("setle 0", "unknown step setle; did you mean settle?"),
        ("zzzzzz", f"unknown step zzzzzz; known: {', '.join(STEPS)}"),
        ("settle", "settle has 0 words after it; use: settle ORDER"),
        ("settle 0 1", "settle has 2 words after it; use: settle ORDER"),
        ("settle x", "x is not a whole number; use: settle ORDER"),
        ("set a /b {", "{ is not JSON; use: set TARGET POINTER VALUE"),
        ("set 'a", "set 'a: No closing quotation"),
        ("remove Object/a/b background", "background is no policy; known: foreground, orphan"),
        ("fault nothing iowa", "nothing is no fault; known: "),
    ],
)
def test_a_line_that_is_no_step_says_what_would_be_one(line: str, said: str) -> None:
    with pytest.raises(UnknownStep) as raised:
        steps.read(line)

    assert str(raised.value).startswith(said)


def test_the_line_is_named() -> None:
    with pytest.raises(replays.Unreadable, match=r"^3: unknown step nothing"):
        replays.read("# first\nsettle 0\nnothing\n")
