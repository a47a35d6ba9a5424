"""Progress: one line on a terminal with a total and an estimate, and nothing anywhere else."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr

import click
import pytest

from function.cli import progress, terminal
from function.cli.progress import Progress
from function.main import main
from tests.unit.cli.test_habits import TOUR


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return Terminal()


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("function.cli.progress.time.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def lines(screen: Terminal) -> list[str]:
    return screen.getvalue().split("\r\x1b[K")[1:]


def test_a_round_has_a_total_and_an_estimate(screen: Terminal, clock: Clock) -> None:
    with redirect_stderr(screen), Progress("drain iowa") as shown:
        for left in range(1000, 0, -1):
            shown(2, left)
            clock.now += 0.01

    got = lines(screen)
    assert got[0] == "drain iowa: round 2: 50 of 1,000 objects"
    assert "drain iowa: round 2: 500 of 1,000 objects, about 5 s left" in got
    assert (got[-1], len(got) < 110) == ("", True)


def test_each_round_is_estimated_by_itself(screen: Terminal, clock: Clock) -> None:
    with redirect_stderr(screen), Progress() as shown:
        clock.now += 1
        shown(1, 10)
        clock.now += 60
        shown(2, 4)

    assert lines(screen) == ["round 1: 0 of 10 objects", "round 2: 0 of 4 objects", ""]


def test_parts_tell_how_many_and_how_long(screen: Terminal, clock: Clock) -> None:
    with redirect_stderr(screen), progress.parts("lose", 300) as counted:
        for index in range(1, 4):
            clock.now += 60
            assert counted(f"c{index}", index) == index

    assert lines(screen) == [
        "lose: c1, 1 of 300, about 299 min left",
        "lose: c2, 2 of 300, about 298 min left",
        "lose: c3, 3 of 300, about 297 min left",
        "",
    ]


def test_a_line_is_never_wider_than_the_terminal(
    screen: Terminal, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could not be written again in place."""
    monkeypatch.setenv("COLUMNS", "40")
    with redirect_stderr(screen), progress.parts("lose", 2) as counted:
        clock.now += 1
        counted("a-cluster-with-a-name-that-is-far-too-long", None)

    assert max(map(len, lines(screen))) == 39


def test_control_characters_of_names_are_escaped(screen: Terminal, clock: Clock) -> None:
    with redirect_stderr(screen), progress.parts("lose", 1) as counted:
        clock.now += 1
        counted("a\x1b[2J", None)

    assert ("\x1b[2J" in screen.getvalue(), "a\\x1b[2J" in screen.getvalue()) == (False, True)


@pytest.mark.parametrize(
    ("is_terminal", "term", "quiet"), [(False, "xterm", False), (True, "dumb", False), (True, "xterm", True)]
)
def test_nothing_is_shown_elsewhere(
    is_terminal: bool, term: str, quiet: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setenv("TERM", term)
    with click.Context(main) as context:
        if quiet:
            terminal.be_quiet(context)
        monkeypatch.setattr(progress, "_SILENCE", 0)
        with Progress() as shown:
            shown(1, 10)
        with progress.parts("lose", 2) as counted:
            counted("x", None)

    assert out.getvalue() == ""


def test_short_work_shows_nothing(screen: Terminal, clock: Clock) -> None:
    with redirect_stderr(screen), Progress() as shown:
        shown(1, 10)

    assert screen.getvalue() == ""


def test_a_plan_shows_its_rounds(
    screen: Terminal, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SILENCE", 0)
    with redirect_stderr(screen), pytest.raises(SystemExit):
        main.main(["plan", TOUR], standalone_mode=False)

    assert (lines(screen)[0].startswith("round 1: 0 of "), lines(screen)[-1]) == (True, "")
    assert "\r" not in capsys.readouterr().out
