"""`modelplane validate`: reports everything that would be refused later, with its place in the file."""

from __future__ import annotations

import click

from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.files import examine
from function.cli.findings import FORMATS, located
from function.validation import report

_EXAMPLE = epilog(
    [
        "modelplane validate examples/tour",
        "modelplane validate examples/clouds/tour",
        "git diff --name-only --diff-filter=d main -- '*.yaml' | xargs -r modelplane validate --format github",
        "kubectl get modeldeployments -A -o yaml | modelplane validate -",
    ],
    {
        0: "no error; there may be warnings",
        1: "an error",
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
def validate(files: tuple[str, ...], form: str) -> None:
    """Validate manifests in files and folders, or on standard input (-).

    Checks unknown fields, invalid values, rules between fields, device selectors, names, what a cloud cannot do, and
    references between objects. Kinds that do not belong to Modelplane are skipped.
    """
    loaded, broken = examine(files)
    findings = located(report([one.manifest for one in loaded], is_complete=not broken), loaded, broken)
    click.echo(FORMATS[form](findings, len(loaded)))
    if any(finding.severity == "error" for finding in findings):
        raise SystemExit(1)
