"""`modelplane validate`: reports everything that would be refused later, with its place in the file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import click

from function.cli import excludes, overlays, terminal
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.excerpt import Page
from function.cli.files import Input, read
from function.cli.findings import FileFinding, as_github, as_json, as_text, located, with_excerpts
from function.cli.sarif import as_sarif
from function.validation import report

_FORMATS: Mapping[str, Callable[[Sequence[FileFinding], Input], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
_EXAMPLE = epilog(
    [
        "modelplane validate examples/tour",
        "modelplane validate --strict examples/clouds/tour",
        "git diff --name-only --diff-filter=d main -- '*.yaml' | xargs -r modelplane validate --allow-empty",
        "modelplane validate . --exclude 'prod/**' --format github",
        "kubectl get modeldeployments -A -o yaml | modelplane validate -",
    ],
    {
        0: "no error; there may be warnings and notes",
        1: "an error, nothing to check, or, with --strict, a warning",
        2: INVALID_OPTION,
    },
)


@click.command(epilog=_EXAMPLE)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--format",
    "--output",
    "-o",
    "form",
    type=click.Choice(list(_FORMATS)),
    default="text",
    show_default=True,
    help="Output format.",
)
@excludes.option
@click.option("--allow-empty", is_flag=True, help="Exit with 0 if no object of Modelplane is in the input.")
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@click.option(
    "--excerpts/--no-excerpts",
    default=None,
    help="With format text, show the line of the file below each finding. By default, on a terminal.",
)
def validate(
    files: tuple[str, ...],
    form: str,
    exclude: tuple[str, ...],
    *,
    allow_empty: bool,
    strict: bool,
    excerpts: bool | None,
) -> None:
    """Validate manifests in files and folders, or on standard input (-).

    Checks unknown fields, invalid values, rules between fields, device selectors, names, what a cloud cannot do, and
    references between objects: validate all files of a fleet together. Objects of other kinds, and files that contain
    no Kubernetes objects, are skipped and counted. If nothing is left to check, that is an error.
    """
    given = read(files, exclude, ignores_named=True)
    broken = given.broken or ([] if allow_empty else given.missing(files))
    found = located(overlays.findings(given, partial(report, is_complete=not given.broken)), given.loaded, broken)
    given.skipped.note_if(overlays.note(given))
    is_shown = sys.stdout.isatty() if excerpts is None else excerpts
    if form == "text" and is_shown:
        click.echo(with_excerpts(found, given, _page()))
    else:
        click.echo(_FORMATS[form](found, given))
    if any(one.severity == "error" or (strict and one.severity == "warning") for one in found):
        raise SystemExit(1)


def _page() -> Page:
    return Page(
        terminal.width(sys.stdout) or shutil.get_terminal_size().columns, is_coloured=terminal.is_coloured(sys.stdout)
    )
