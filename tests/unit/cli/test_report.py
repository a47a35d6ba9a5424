"""Tables: plain and aligned in a pipe, coloured on a terminal, plain there too when NO_COLOR asks for it."""

from __future__ import annotations

import io

import pytest

from function.cli import report

PARTS = [
    report.Lines("", ["Two things."]),
    report.Table("Things", ("", "name", "none", "state"), [("new", "a", "", "serves"), ("", "longer", "", "")]),
    report.Table("Nothing", ("name",), []),
    report.Lines("Why", ["because", "", "so"]),
]
PLAIN = """Two things.

Things
       NAME    STATE
  new  a       serves
       longer

Why
  because

  so
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(out: io.StringIO) -> str:
    report.show(PARTS, out)
    return out.getvalue()


def test_a_pipe_gets_plain_text() -> None:
    assert shown(io.StringIO()) == PLAIN


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert shown(Terminal()) == PLAIN


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")

    text = shown(Terminal())

    assert ("\x1b[32mserves" in text, "Nothing" in text) == (True, False)
