"""The excerpt below a finding: the line, and carets under what is wrong."""

from __future__ import annotations

import pytest

from function.cli.excerpt import Page, Source
from function.cli.regions import Region
from function.cli.values import Position


def shown(line: str, start: int, end: int, *, width: int = 80, number: int = 7, last: int | None = None) -> list[str]:
    region = Region(Position(number, start), Position(last or number, end))
    return Page(width).finding("f: error: wrong", "error", Source(line, region)).split("\n")


def test_carets_are_under_the_region() -> None:
    assert shown("spec: {url: x}", 8, 11) == ["f: error: wrong", "7 | spec: {url: x}", "  |        ^^^", ""]


def test_the_gutter_is_as_wide_as_the_number() -> None:
    assert shown("a: b", 4, 5, number=1234)[1:3] == ["1234 | a: b", "     |    ^"]


@pytest.mark.parametrize(
    ("line", "start", "end", "want"),
    [
        ("a:\tb", 4, 5, ("7 | a: b", "  |    ^")),
        ("\ta: b", 2, 3, ("7 |  a: b", "  |  ^")),
        ("日本: b", 5, 6, ("7 | 日本: b", "  |       ^")),
        ("a: 日本", 4, 6, ("7 | a: 日本", "  |    ^^^^")),
        ("e\u0301: b", 5, 6, ("7 | e\u0301: b", "  |    ^")),
        ("a: \x1b[31mb", 9, 10, ("7 | a: \\x1b[31mb", "  |            ^")),
        ("a: b", 5, 5, ("7 | a: b", "  |     ^")),
        ("a: b", 99, 99, ("7 | a: b", "  |     ^")),
    ],
    ids=["tab", "tab first", "wide before", "wide", "combining", "control", "end of line", "behind the line"],
)
def test_characters_are_as_wide_as_a_terminal_shows_them(
    line: str, start: int, end: int, want: tuple[str, str]
) -> None:
    assert tuple(shown(line, start, end)[1:3]) == want


@pytest.mark.parametrize(
    ("start", "end", "want"),
    [
        (1, 3, ["7 | aabbbbbbbbbbbbbbbb…", "  | ^^"]),
        (45, 47, ["7 | …bbbbbbccbbbbbbbbbb…", "  |        ^^"]),
        (89, 91, ["7 | …bbbbbbdd", "  |        ^^"]),
        (1, 91, ["7 | aabbbbbbbbbbbbbbbb…", "  | ^^^^^^^^^^^^^^^^^^"]),
    ],
)
def test_a_long_line_is_cut_around_the_carets(start: int, end: int, want: list[str]) -> None:
    line = "aa" + "b" * 42 + "cc" + "b" * 42 + "dd"
    got = shown(line, start, end, width=24)[1:3]

    assert got == want
    assert all(len(row) <= 24 for row in got)


def test_a_narrow_terminal_shows_something() -> None:
    assert shown("a" * 40, 20, 21, width=5)[2].endswith("^")


def test_a_region_of_several_lines_is_marked_to_the_end_of_the_first() -> None:
    assert shown("a: [1,", 4, 3, last=9)[1:3] == ["7 | a: [1,", "  |    ^^^"]


def test_without_a_line_there_is_no_excerpt() -> None:
    assert shown("", 1, 1) == ["f: error: wrong", ""]


def test_colours_are_for_terminals() -> None:
    source = Source("a: b", Region(Position(1, 4), Position(1, 5)))

    assert "\x1b[" in Page(80, is_coloured=True).finding("f: error: wrong", "error", source)
    assert "\x1b[" not in Page(80).finding("f: error: wrong", "error", source)
