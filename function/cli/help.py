"""`modelplane help`: the help of a command."""

from __future__ import annotations

import click

from function.cli.epilog import INVALID_OPTION, UNWRITTEN, epilog

_EXAMPLE = epilog(["modelplane help plan", "modelplane help cel check"], {0: "shown", 1: UNWRITTEN, 2: INVALID_OPTION})


@click.command("help", epilog=_EXAMPLE)
@click.argument("command", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help_(context: click.Context, command: tuple[str, ...]) -> None:
    """Show the help of a command, the same as that of its option --help."""
    shown = context.find_root()
    for word in command:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands of its own")
        _, found, _ = group.resolve_command(shown, [word])
        assert found is not None, "an unknown command is an error"
        shown = click.Context(found, info_name=word, parent=shown)
    click.echo(shown.get_help())
