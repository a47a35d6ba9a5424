"""--exclude and .modelplaneignore: the patterns of .gitignore."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from function.cli import files
from function.main import main

ENDPOINT = """apiVersion: modelplane.ai/v1alpha1
kind: ModelEndpoint
metadata: {{name: {}, namespace: ml-team}}
spec: {{url: "https://api.example.org"}}
"""
TREE = ("a.yaml", "dev/b.yaml", "prod/c.yaml", "prod/deep/d.yaml", "test/e.yaml")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for name in TREE:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(ENDPOINT.format(Path(name).stem))
    return root


def names(*paths: Path, exclude: tuple[str, ...] = ()) -> str:
    found = files.read(paths, exclude)
    assert found.broken == []
    return "".join(one.identity.name for one in found.loaded)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(
    ("patterns", "want"),
    [
        ((), "abcde"),
        (("prod/**",), "abe"),
        (("prod/",), "abe"),
        (("/deep/",), "abcde"),
        (("deep",), "abce"),
        (("*.yaml", "!c.yaml"), "c"),
        (("prod", "!prod/c.yaml"), "abe"),
        (("prod/*", "!prod/c.yaml"), "abce"),
        (("dev", "test"), "acd"),
        (("# a comment", ""), "abcde"),
    ],
)
def test_patterns_mean_what_they_mean_to_git(tree: Path, patterns: tuple[str, ...], want: str) -> None:
    assert names(tree, exclude=patterns) == want
    (tree / ".modelplaneignore").write_text("\n".join(patterns))
    assert names(tree) == want


def test_exclude_wins_over_ignore_files(tree: Path) -> None:
    (tree / ".modelplaneignore").write_text("dev\ntest\n")

    assert names(tree, exclude=("!test", "prod")) == "ae"


def test_ignore_files_hold_from_the_root_of_the_repository(tree: Path) -> None:
    (tree / ".modelplaneignore").write_text("/prod/deep\ndev\n")
    (tree.parent / ".modelplaneignore").write_text("*\n")
    outside = names(tree / "prod")
    (tree / ".git").mkdir()

    assert (outside, names(tree / "prod")) == ("cd", "c")


def test_a_file_that_is_named_and_excluded_is_skipped(tree: Path) -> None:
    """The changed files of a commit are named one by one."""
    (tree / ".modelplaneignore").write_text("a.yaml\n")

    got = run("validate", str(tree / "a.yaml"), str(tree / "dev/b.yaml"))

    assert (got.exit_code, got.output) == (
        0,
        "1 object: 0 errors, 0 warnings; skipped: excluded files and folders (1)\n",
    )


def test_a_change_is_read_although_it_is_ignored(tree: Path) -> None:
    """So that a fleet's folder can hold changes that are not part of it."""
    (tree / ".modelplaneignore").write_text("dev/\n")

    got = run("plan", str(tree), "--change", str(tree / "dev/b.yaml"), "-o", "json")

    assert (got.exit_code, got.stderr) == (3, "")


def test_exclude_is_relative_to_the_current_folder_too(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree.parent)

    assert names(Path("root"), exclude=("root/prod/",)) == "abe"
    assert names(Path("root/a.yaml"), Path("root/prod/c.yaml"), exclude=("root/prod/",)) == "a"


@pytest.mark.parametrize("command", [("plan",), ("what-if", "--drain", "x"), ("explain", "md/a/b"), ("validate",)])
def test_every_command_that_reads_folders_takes_it(tree: Path, command: tuple[str, ...]) -> None:
    name, *rest = command

    got = run(name, str(tree), *rest, "--exclude", "*")

    want = "no object of Modelplane in 0 files; skipped: excluded files and folders (4)"
    assert (got.exit_code, want in got.output) == (1, True), got.output


def test_a_pattern_that_is_none_says_so(tree: Path) -> None:
    (tree / ".modelplaneignore").write_text("a\n!\n")

    got = run("validate", str(tree))

    want = f"{tree}/.modelplaneignore:1:1: error: '!' is not a pattern of .gitignore [unreadable]\n"
    assert (got.exit_code, got.output.startswith(want)) == (1, True), got.output
