"""`modelplane generate`: definitions, Compositions and the reference of the API, from the models."""

from __future__ import annotations

from pathlib import Path

import click

from function.publish import generate as generated

_EXAMPLE = """
\b
Examples:
  modelplane generate          after a change of function/api/*.py
  modelplane generate --check  what CI runs

\b
Exit codes:
  0  all files are up to date
  1  with --check, one is not
  2  a wrong option
"""


@click.command(short_help="Write XRDs, Compositions and reference pages from the models.", epilog=_EXAMPLE)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file is not up to date.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="The repository. Default: the current folder.",
)
def generate(*, check: bool, root: Path) -> None:
    """Write XRDs, Compositions and reference pages from the models."""
    if not check:
        for path in generated.write(root):
            click.echo(path)
        return
    stale = generated.check(root)
    for path, problem in stale:
        click.echo(f"{path} {problem}", err=True)
    if stale:
        raise click.ClickException("generated files are not up to date; run `make generate`")
