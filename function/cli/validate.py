"""`modelplane validate`: reports everything that would be refused later, with its place in the file."""

from __future__ import annotations

import click

from function.cli import excludes, overlays
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.files import read
from function.cli.findings import FORMATS, located
from function.validation import validate as check

_EXAMPLE = epilog(
    [
        "modelplane validate examples/tour",
        "modelplane validate examples/clouds/tour",
        "git diff --name-only --diff-filter=d main -- '*.yaml' | xargs -r modelplane validate --allow-empty",
        "modelplane validate . --exclude 'prod/**' --format github",
        "kubectl get modeldeployments -A -o yaml | modelplane validate -",
    ],
    {
        0: "no error; there may be warnings",
        1: "an error, or nothing to check",
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
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="Output format.",
)
@excludes.option
@click.option("--allow-empty", is_flag=True, help="Exit with 0 if no object of Modelplane is in the input.")
def validate(files: tuple[str, ...], form: str, exclude: tuple[str, ...], *, allow_empty: bool) -> None:
    """Validate manifests in files and folders, or on standard input (-).

    Checks unknown fields, invalid values, rules between fields, device selectors, names, what a cloud cannot do, and
    references between objects. Objects of other kinds, and files that contain no Kubernetes objects, are skipped and
    counted. If nothing is left to check, that is an error.
    """
    given = read(files, exclude, ignores_named=True)
    broken = given.broken or ([] if allow_empty else given.missing(files))
    findings = located(overlays.findings(given, check), given.loaded, broken)
    given.skipped.note_if(overlays.note(given))
    click.echo(FORMATS[form](findings, given))
    if any(finding.severity == "error" for finding in findings):
        raise SystemExit(1)
