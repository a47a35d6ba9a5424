"""`modelplane generate`: XRDs, Compositions, the API reference and heads of runbook pages, from the models."""

from __future__ import annotations

from pathlib import Path

import click

from function.cli import reference
from function.cli.epilog import INVALID_OPTION, epilog
from function.publish import generate as generated
from function.publish import runbooks

_EXAMPLE = epilog(
    [
        "modelplane generate          after you change function/api/*.py",
        "modelplane generate --check  what CI runs",
    ],
    {
        0: "all files are up to date",
        1: "with --check: a file is out of date",
        2: INVALID_OPTION,
    },
)


@click.command(short_help="Generate XRDs, Compositions and reference pages from the models.", epilog=_EXAMPLE)
@click.option("--check", is_flag=True, help="Write nothing. Exit with 1 if a file is out of date.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="Root of the repository. Default: the current folder.",
)
@click.pass_context
def generate(context: click.Context, *, check: bool, root: Path) -> None:
    """Generate XRDs, Compositions and reference pages from the models, and a page from the commands."""
    main = context.find_root().command
    assert isinstance(main, click.Group), "this is one of its commands"
    others = {**reference.files(main), **runbooks.files(root)}
    if not check:
        for path in generated.write(root, others):
            click.echo(path)
        return
    stale = generated.check(root, others)
    for path, problem in stale:
        click.echo(f"{path} {problem}", err=True)
    if stale:
        raise click.ClickException("generated files are not up to date; run `make generate`")
