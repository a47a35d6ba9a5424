"""What the parameters of all commands have in common: --quiet, the nearest of the allowed values, completion."""

from __future__ import annotations

from typing import Any

import click

from function.cli import completion, terminal
from function.core import closest

_QUIET = ("--quiet", "-q")


class _Choice(click.Choice[str]):
    """A choice that names the nearest value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as wrong:
            meant = closest(str(value), self.choices)
            if meant is None:
                raise
            raise click.BadParameter(f"{wrong.message} Did you mean {meant!r}?", ctx, param) from wrong


def shared(command: click.Command) -> click.Command:
    """The command, with what all commands have in common. Does nothing the second time."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            shared(inner)
    elif not any(set(_QUIET) & set(param.opts) for param in command.params):
        for param in command.params:
            _improve(param)
        add_quiet(command)
    return command


def _improve(param: click.Parameter) -> None:
    if type(param.type) is click.Choice:
        param.type = _Choice(param.type.choices, param.type.case_sensitive)
    elif param.type is click.STRING and (kind := completion.kind(param)):
        param.type = kind


def add_quiet(command: click.Command) -> None:
    command.params.append(
        click.Option(
            [*_QUIET], is_flag=True, expose_value=False, callback=_be_quiet, help="Show no progress and no hints."
        )
    )


def _be_quiet(context: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001  (click's)
    if value and not context.resilient_parsing:
        terminal.be_quiet(context)
