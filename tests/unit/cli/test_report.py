"""Tables: aligned in a pipe, coloured and wrapped on a terminal, plain there too when NO_COLOR asks for it."""

from __future__ import annotations

import io
import re

import click
import pytest

from function.cli import report

PARTS = [
    report.Lines("", ["Two things."]),
    report.Table("Things", ("", "name", "none", "state"), [("new", "a", "", "serves"), ("", "longer", "", "")]),
    report.Table("Nothing", ("name",), []),
    report.Lines("Why", ["because", "", "so"]),
]
LONG = [
    report.Table(
        "Things",
        ("name", "becomes"),
        [("team/a-name-with-many-dashes", "one, two-and-a-half, three, four"), ("b", "five")],
    ),
    report.Table("Next", ("", ""), [("run it --with --all --that --there --is", "to see"), ("or", "not")]),
    report.Lines(
        "Why", ["team/a: it is full of others", "  east  Full  the pool has no node, since all of them are taken"]
    ),
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


@pytest.mark.parametrize("parts", [PARTS, LONG], ids=["short", "long"])
def test_a_wide_terminal_shows_what_a_pipe_gets(parts: list[report.Part], monkeypatch: pytest.MonkeyPatch) -> None:
    """One is laid out by rich, and the other is not."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    piped, seen = io.StringIO(), Terminal()
    report.show(parts, piped)
    report.show(parts, seen)

    assert (click.unstyle(seen.getvalue()), seen.getvalue() != piped.getvalue()) == (piped.getvalue(), True)


def test_wide_characters_take_two_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    report.show([report.Table("", ("a", "b"), [("\u5927\u962a", "x"), ("kyoto", "y")])], out)

    assert out.getvalue() == "A      B\n\u5927\u962a   x\nkyoto  y\n"


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")

    text = shown(Terminal())

    assert ("\x1b[32mserves" in text, "Nothing" in text) == (True, False)


def on_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    out = Terminal()
    report.show(LONG, out)
    return re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def test_what_is_too_wide_for_a_terminal_is_wrapped_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below its own column, and only where it stands last."""
    want = """Things
  NAME                          BECOMES
  team/a-name-with-many-dashes  one, two-and-a-half,
                                three, four
  b                             five

Next
  run it --with --all --that --there --is  to see
  or                                       not

Why
  team/a: it is full of others
    east  Full  the pool has no node, since all of them
                are taken
"""
    assert on_terminal(56, monkeypatch) == want


@pytest.mark.parametrize("columns", [1, 20, 40, 60])
def test_no_name_and_no_command_is_ever_broken(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = on_terminal(columns, monkeypatch)

    whole = ("team/a-name-with-many-dashes", "two-and-a-half", "run it --with --all --that --there --is")
    assert [words for words in whole if words not in text] == []


def test_no_line_ends_in_blanks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of just that width would show an empty line for them."""
    assert [line for line in on_terminal(40, monkeypatch).splitlines() if line != line.rstrip()] == []


def test_code_is_not_wrapped_and_a_diff_has_the_colour_of_its_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "30")
    lines = ["Deployment a", "  @@ -1 +1 @@", "   - a list", f"  -{'old ' * 20}", "  +new"]
    out = Terminal()

    report.show([report.Lines("Manifests", lines, is_code=True)], out)

    got = out.getvalue().splitlines()[1:]
    assert [re.sub("\x1b[^m]*m", "", line) for line in got] == [f"  {line}" for line in lines]
    assert ["".join(re.findall("\x1b\\[(3[12])m", line)) for line in got] == ["", "", "", "31", "32"]
