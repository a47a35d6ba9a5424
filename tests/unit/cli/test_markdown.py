"""Reports as Markdown: valid, whatever stands in a cell, and short enough for a comment."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from function.cli import plan_markdown
from function.cli.markdown import LIMIT, MarkdownDiffs, MarkdownTable, code, document, words
from function.core import visible
from function.main import main
from function.planning.comparison import compare
from function.planning.outcome import ClusterRejection, DeploymentOutcome, PlanOutcome, ReplicaOutcome
from function.planning.unchanged import touched

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests/data/markdown"
NOTE = re.compile(r"(\d+) more rows are left out")
texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60) | st.text("`|\\ \n<>@#*_", min_size=1)


class _Cells(HTMLParser):
    """The texts of the cells of the tables in a page, row by row, and what is in a code span of them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.inside.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.inside):
            self.rows[-1][-1] += data


def cells(text: str) -> list[list[str]]:
    page = _Cells()
    page.feed(MarkdownIt("commonmark").enable("table").render(text))
    return page.rows


def flat(text: str) -> str:
    """What of a text can stand on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_whatever_stands_in_a_cell_stays_in_it(rows: list[tuple[str, str]]) -> None:
    table = MarkdownTable("T", ("what", "a", "b"), [("new", *map(code, row)) for row in rows])
    shown = document("x\n", [table])

    kept = [i for i in range(2) if any(flat(row[i]) for row in rows)]
    want = [["new", *(flat(row[i]) for i in kept)] for row in rows]
    assert cells(shown)[1:] == want


@given(texts)
def test_nothing_that_is_shown_is_markup(text: str) -> None:
    """No mention, no reference, no HTML: there is a code span, and nothing beside it."""
    html = MarkdownIt("commonmark").render(code(text))

    assert re.fullmatch(r"(<p><code>[^<>]*</code></p>\n)?", html), html


@given(texts)
def test_a_sentence_of_ours_is_shown_as_it_is(text: str) -> None:
    html = MarkdownIt("commonmark").renderInline(words(flat(text)))

    assert "<" not in html


def test_a_long_text_is_cut() -> None:
    assert (len(code("x" * 10_000)), code("x" * 10_000)[-2:]) == (402, "…`")


@pytest.mark.parametrize("count", [0, 1, 40, 400, 4_000])
@pytest.mark.parametrize("limit", [3_000, LIMIT])
def test_what_does_not_fit_is_counted(count: int, limit: int) -> None:
    rows = [(code(f"deployment-{i}"), code("why " * 20)) for i in range(count)]
    tables = [
        MarkdownTable("Replicas", ("name", "why"), rows),
        MarkdownTable("Capacity", ("name", "why"), rows, folded=True),
    ]

    got = document("A lead.\n", tables, limit)

    shown = [row for row in cells(got) if row[0] != "name"]
    left_out = sum(int(n) for n in NOTE.findall(got))
    assert (len(got) <= limit, len(shown) + left_out) == (True, 2 * count)


def fences(text: str) -> list[str]:
    """The blocks of code of a page."""
    return [token.content for token in MarkdownIt("commonmark").parse(text) if token.type == "fence"]


@given(st.lists(st.lists(texts, min_size=1, max_size=5), min_size=1, max_size=3))
def test_whatever_stands_in_a_diff_stays_in_it(diffs: list[list[str]]) -> None:
    shown = document("x\n", [], diffs=MarkdownDiffs("Manifests", [("a", lines) for lines in diffs]))

    assert fences(shown) == ["".join(f"{visible(line)}\n" for line in lines) for lines in diffs]


@pytest.mark.parametrize("count", [1, 40, 400])
@pytest.mark.parametrize("limit", [100, 3_000, LIMIT])
def test_diffs_that_do_not_fit_are_counted(count: int, limit: int) -> None:
    rows = [(code(f"deployment-{i}"),) for i in range(40)]
    diffs = MarkdownDiffs("Manifests", [(f"Deployment d-{i}", ["-a", "+b"] * 50) for i in range(count)])

    whole = document("A lead.\n", [MarkdownTable("Replicas", ("name",), rows)], limit)
    got = document("A lead.\n", [MarkdownTable("Replicas", ("name",), rows)], limit, diffs=diffs)

    left_out = sum(int(n) for n in re.findall(r"(\d+) more diffs are left out", got))
    assert got.startswith(whole)
    assert len(got) <= max(limit, len(whole))
    assert got == whole or len(fences(got)) + left_out == count


def test_the_plan_of_a_large_fleet_fits_into_a_comment() -> None:
    rejections = tuple(ClusterRejection(f"cluster-{i}", "Full", "no room | at all") for i in range(32))
    replicas = tuple(
        ReplicaOutcome(f"replica-{i}", f"cluster-{i}", ("l4",), True, True, "", "", "", ()) for i in range(40)
    )  # fmt: skip
    deployments = tuple(
        DeploymentOutcome("ml-team", f"d-{i}", 41, replicas, "Full: no room", rejections) for i in range(100)
    )
    nothing = PlanOutcome((), (), (), (), (), (), ())

    got = plan_markdown.text(touched(compare(nothing, PlanOutcome(deployments, (), (), (), (), (), ()))))

    changed = sum(row[0] == "new" for row in cells(got))
    assert len(got) <= LIMIT
    assert changed + sum(int(n) for n in NOTE.findall(got)[:1]) == 4_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("plan", ["plan", "examples/tour"]),
        ("plan-of-a-loss", ["plan", "examples/tour", "--change", "tests/data/markdown/smaller.yaml"]),
        ("clouds", ["plan", "examples/clouds/tour"]),
        ("another-pool", ["plan", "examples/clouds/tour", "--change", "examples/clouds/edit/clusters.yaml"]),
        ("cloud-pool", ["what-if", "examples/clouds/tour", "--pool", "europe/l4=6"]),
        ("drain", ["what-if", "examples/tour", "--drain", "virginia"]),
        ("loss", ["what-if", "examples/spare", "--lose", "iowa"]),
        ("shared-nodes", ["plan", "examples/shared-nodes"]),
        ("shared-pool", ["what-if", "examples/fragmented", "--pool", "lab/h100=3"]),
        ("pool", ["what-if", "examples/tour", "--pool", "europe/a100=2"]),
        ("losses", ["what-if", "examples/spare", "--pool", "taiwan/l4=1", "--lose", "any"]),
    ],
)
def test_looks_like_this(name: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    got = CliRunner().invoke(main, [*arguments, "-o", "markdown"])

    assert got.stdout == (GOLDEN / f"{name}.md").read_text()


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.md")), ids=lambda path: path.stem)
def test_every_row_has_as_many_cells_as_its_table_has_columns(path: Path) -> None:
    """And every line that looks like a row is one."""
    text = path.read_text()

    rows = cells(text)
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("| ---")]
    assert [len(row) for row in rows] == [len(re.findall(r"(?<!\\)\|", line)) - 1 for line in lines]
    assert len(text) < LIMIT
