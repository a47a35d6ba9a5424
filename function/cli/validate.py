"""`modelplane validate`: everything that would be refused later, said now, with its place in the file."""

from __future__ import annotations

import click

from function.cli.files import examine
from function.cli.findings import FORMATS, located
from function.validation import validate as check

_EXAMPLE = """
\b
Examples:
  modelplane validate examples/tour
  git diff --name-only --diff-filter=d main -- '*.yaml' | xargs -r modelplane validate --format github
  kubectl get modeldeployments -A -o yaml | modelplane validate -

\b
Exit codes:
  0  no error; there may be warnings
  1  an error
  2  a wrong option
"""


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
    help="How to print findings.",
)
def validate(files: tuple[str, ...], form: str) -> None:
    """Check manifests strictly: files, folders, or - for standard input.

    Unknown fields, wrong values, rules between fields, device selectors, names, and what several objects say of each
    other. Kinds that are not Modelplane's are passed over.
    """
    loaded, broken = examine(files)
    findings = located(check([one.manifest for one in loaded]), loaded, broken)
    click.echo(FORMATS[form](findings, len(loaded)))
    if any(finding.severity == "error" for finding in findings):
        raise SystemExit(1)
