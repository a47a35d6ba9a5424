"""`modelplane schema`: JSON Schemas of our kinds, for editors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from function.cli.epilog import INVALID_OPTION, epilog
from function.core import closest, enumerate_names

if TYPE_CHECKING:
    from function.publish.catalog import Kind

_EXAMPLE = epilog(
    [
        "modelplane schema ModelDeployment > modeldeployment.json",
        "modelplane schema md -o yaml",
        "modelplane schema --all --to .schemas",
    ],
    {
        0: "printed, or written",
        1: "the files cannot be written",
        2: INVALID_OPTION,
    },
    note=(
        "\b\nFor editors with yaml-language-server, write this line at the top of a manifest:\n"
        "  # yaml-language-server: $schema=.schemas/modelplane.json"
    ),
)


@click.command(epilog=_EXAMPLE)
@click.argument("kind", required=False, metavar="[KIND]")
@click.option("--all", "every", is_flag=True, help="Write the schemas of all kinds to the folder of --to.")
@click.option(
    "--to", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder to write to, with --all."
)
@click.option("--output", "-o", "form", type=click.Choice(("json", "yaml")), default="json", show_default=True)
def schema(kind: str | None, to: Path | None, form: str, *, every: bool) -> None:
    """Print the JSON Schema of a kind, so that editors complete and check manifests.

    KIND is a kind, its plural or its short name, as kubectl takes it. With --all, the folder also gets modelplane.json,
    for files with objects of several kinds. The schemas have no rules in CEL: `modelplane validate` checks those.
    """
    from function.cli import report
    from function.publish import json_schema

    if every != (kind is None) or every != (to is not None):
        raise click.UsageError("use either KIND, such as ModelDeployment, or --all with --to DIR")
    if kind is not None:
        report.dump(json_schema.of(_kind(kind)), form)
        return
    assert to is not None, "checked above"
    try:
        for path in _write(to):
            click.echo(path)
    except OSError as problem:
        raise click.ClickException(f"{problem.filename}: cannot be written: {problem.strerror}") from problem


def _kind(text: str) -> Kind:
    """The kind that a user names. Raises UsageError, with the nearest one."""
    from function.publish.catalog import KINDS

    known = {name.lower(): kind for kind in KINDS for name in (kind.kind, kind.plural, kind.crd, *kind.short_names)}
    found = known.get(text.lower())
    if found is not None:
        return found
    names = sorted(kind.kind for kind in KINDS)
    meant = closest(text, [*names, *known])
    hint = f"did you mean {known[meant.lower()].kind}?" if meant else f"known: {enumerate_names(names, len(names))}"
    raise click.UsageError(f"{text} is no kind of Modelplane; {hint}")


def _write(folder: Path) -> Iterator[Path]:
    from function.publish import json_schema
    from function.publish.catalog import KINDS

    folder.mkdir(parents=True, exist_ok=True)
    schemas: dict[str, Any] = {json_schema.file_name(kind): json_schema.of(kind) for kind in KINDS}
    for name, content in {**schemas, json_schema.ALL: json_schema.of_all(KINDS)}.items():
        path = folder / name
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        yield path
