"""Where fields begin and end in a file."""

from __future__ import annotations

import pytest

from function.cli import files
from function.cli.regions import Region
from function.cli.values import Position

TEXT = """# above
apiVersion: v1
kind: ConfigMap
metadata: {name: a,
  labels: {b: c}}
data:
  plain: one two
  quoted: "one
    two"
  block: |
    one
    two

  # a comment
  kept: >+
    one

  list:
  - one

  - two
  flow: [1, 2]
  none:
  wide: \u65e5\u672c  # two characters
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {last: x}
"""


def region(*path: str | int, part: tuple[int, int] | None = None, at: int = 0) -> tuple[int, int, int, int]:
    (start, end) = files.parse(TEXT.rpartition("---")[0] if at == 0 else TEXT, "f.yaml")[at].source.region(path, part)
    return (*start, *end)


@pytest.mark.parametrize(
    ("path", "want"),
    [
        (("data", "plain"), (7, 10, 7, 17)),
        (("data", "quoted"), (8, 11, 9, 9)),
        (("data", "block"), (10, 10, 12, 8)),
        (("data", "kept"), (15, 9, 16, 8)),
        (("data", "list"), (19, 3, 19, 8)),
        (("data", "list", 1), (21, 5, 21, 8)),
        (("data", "flow"), (22, 9, 22, 15)),
        (("data", "none"), (23, 8, 23, 8)),
        (("data", "wide"), (24, 9, 24, 11)),
        (("metadata",), (4, 11, 4, 20)),
        ((), (2, 1, 2, 15)),
        (("data", "missing"), (7, 3, 7, 17)),
    ],
)
def test_a_value_begins_and_ends(path: tuple[str | int, ...], want: tuple[int, int, int, int]) -> None:
    """A mapping or a list over several lines is its first line."""
    assert region(*path) == want


def test_the_name_of_a_field_is_its_word() -> None:
    source = files.parse(TEXT.rpartition("---")[0], "f.yaml")[0].source

    assert source.region_of_key(("data", "block")) == Region(Position(10, 3), Position(10, 8))


def test_a_part_of_a_text_is_where_it_is_written() -> None:
    assert region("data", "block", part=(4, 7)) == (12, 5, 12, 8)
    assert region("data", "quoted", part=(4, 7)) == (9, 5, 9, 8)


def test_a_part_of_what_is_no_text_is_the_whole() -> None:
    assert region("data", "list", part=(0, 1)) == (19, 3, 19, 8)


def test_a_line_is_known_by_its_number_in_the_file() -> None:
    source = files.parse(TEXT.rpartition("---")[0], "f.yaml")[0].source

    assert [source.text(line) for line in (1, 3, 99)] == ["", "kind: ConfigMap", ""]
