"""`modelplane version`: what is installed, and what it works with."""

from __future__ import annotations

import platform
from importlib.metadata import version as installed
from typing import Any

import click

from function.cli.epilog import INVALID_OPTION, UNWRITTEN, epilog
from function.vocabulary import versions

_EXAMPLE = epilog(["modelplane version", "modelplane version -o json"], {0: "shown", 1: UNWRITTEN, 2: INVALID_OPTION})
_PACKAGE = "function-modelplane"


@click.command(epilog=_EXAMPLE)
@click.option("--output", "-o", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def version(form: str) -> None:
    """Show the versions of this program, of Python and of the APIs, and the versions of Crossplane that the end-to-end
    tests run."""
    found = facts()
    if form == "json":
        from function.cli import report

        report.dump(found, form)
        return
    click.echo(f"modelplane {found['modelplane']}")
    for name, title in (
        ("python", "Python"),
        ("apiVersions", "API versions"),
        ("crossplane", "Tested with Crossplane"),
    ):
        value = found[name]
        click.echo(f"{title}: {value if isinstance(value, str) else ', '.join(value)}")


def facts() -> dict[str, Any]:
    return {
        "modelplane": installed(_PACKAGE),
        "python": platform.python_version(),
        "apiVersions": [versions.MODELPLANE, versions.INFRASTRUCTURE],
        "crossplane": list(versions.CROSSPLANES),
    }
