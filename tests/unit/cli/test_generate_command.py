"""`modelplane generate`: writes what is not up to date, or says so."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from function.cli import reference
from function.main import main
from function.publish import generate


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["generate", *arguments])


def test_it_names_what_it_writes_and_then_nothing_more(tmp_path: Path) -> None:
    first = run("--root", str(tmp_path))
    second = run("--root", str(tmp_path))

    assert (first.exit_code, first.output.splitlines()) == (0, sorted([*generate.files(), *reference.files(main)]))
    assert (second.exit_code, second.output) == (0, "")


def test_a_check_writes_nothing_and_names_every_file_that_is_not_up_to_date(tmp_path: Path) -> None:
    run("--root", str(tmp_path))
    (tmp_path / "xrds/modelcaches.yaml").write_text("edited")
    (tmp_path / "package/rbac.yaml").unlink()
    (tmp_path / "compositions/gone.yaml").write_text("")

    got = run("--root", str(tmp_path), "--check")

    want = (
        "compositions/gone.yaml belongs to no kind\n"
        "package/rbac.yaml is missing\n"
        "xrds/modelcaches.yaml is not what its model says\n"
        "Error: generated files are not up to date; run `make generate`\n"
    )
    assert (got.exit_code, got.output) == (1, want)
    assert (tmp_path / "xrds/modelcaches.yaml").read_text() == "edited"
