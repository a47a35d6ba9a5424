"""Progress of long work: one line on standard error, on a terminal only, with a total and an estimate."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, TypeVar

import click

from function.cli import terminal
from function.core import visible

T = TypeVar("T")
_SILENCE = 0.5
"""Seconds before the first line: short work needs none."""
_PAUSE = 0.1
"""Seconds between two lines: more are not read."""
_LEAST = 2.0
"""Seconds of work before an estimate: the first results say little."""


class Progress:
    """A progress line. It is written again in place, and removed at the end."""

    def __init__(self, doing: str = "", *, shown: bool = True) -> None:
        self._doing = f"{doing}: " if doing else ""
        self._shown = shown and terminal.shows_progress()
        self._printed = False
        self._next = time.monotonic() + _SILENCE
        self._round = _Round(0, 0, 0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._printed:
            click.echo("\r\x1b[K", err=True, nl=False, color=True)

    def __call__(self, number: int, left: int) -> None:
        """Show how far a round of a control plane is. It is called before each reconcile. The number of rounds is not
        known beforehand, so the estimate is of this round."""
        if not self._shown:
            return
        if number != self._round.number:
            self._round = _Round(number, left, time.monotonic())
        if self._is_due():
            done = self._round.total - left
            self._show(f"round {number}: {counted(done, self._round.total)} objects{self._round.estimate(done)}")

    def part(self, name: str, done: int, parts: _Round) -> None:
        """Show that one of several known parts is done, and how long the others will take."""
        if self._is_due():
            self._show(f"{name}, {counted(done, parts.total)}{parts.estimate(done)}")

    def _is_due(self) -> bool:
        return self._shown and time.monotonic() >= self._next

    def _show(self, what: str) -> None:
        self._printed = True
        self._next = time.monotonic() + _PAUSE
        room = shutil.get_terminal_size().columns - 1
        click.echo(f"\r\x1b[K{visible(self._doing + what)[:room]}", err=True, nl=False, color=True)


@dataclass(frozen=True, slots=True)
class _Round:
    """Work of which the total is known."""

    number: int
    total: int
    began: float

    def estimate(self, done: int) -> str:
        return estimate(time.monotonic() - self.began, done, self.total)


@contextmanager
def parts(doing: str, total: int) -> Iterator[Callable[[str, T], T]]:
    """Show how many of `total` results are done. Yields a function that passes each result through, with its name."""
    with Progress(doing) as progress:
        done, whole = itertools.count(1), _Round(1, total, time.monotonic())

        def count(name: str, result: T) -> T:
            progress.part(name, next(done), whole)
            return result

        yield count


def counted(done: int, total: int) -> str:
    return f"{done:,} of {total:,}"


def estimate(seconds: float, done: int, total: int) -> str:
    """The time left, if what is done took long enough to tell."""
    if seconds < _LEAST or not 0 < done < total:
        return ""
    left = round(seconds / done * (total - done))
    return f", about {left} s left" if left < 120 else f", about {round(left / 60)} min left"  # noqa: PLR2004
