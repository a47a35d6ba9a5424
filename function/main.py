"""The command line. Each command's module is imported only when the command runs, so that every command starts fast."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import click

from function.vocabulary import settings

_TRACEBACK = "MODELPLANE_TRACEBACK"


_OWN_EXIT_CODES = ("plan", "what-if")
"""Commands that exit with 2 if something that serves would be lost. For the others, 2 means a wrong option, as
usual."""


class _Mistake(click.UsageError):
    """A wrong option of a command in `_OWN_EXIT_CODES`, for which 2 has another meaning."""

    exit_code = 1


class _Command(NamedTuple):
    """The module of a command, and its line in the list of commands."""

    module: str
    summary: str
    attribute: str = ""
    """Name of the command in the module, if it is not the command's own."""


_COMMANDS: Mapping[str, _Command] = {
    "plan": _Command("function.cli.plan", "Show where replicas would be placed, which ones would not, and why."),
    "what-if": _Command("function.cli.whatif", "Show the effect of losing a cluster, or of resizing a fleet."),
    "explain": _Command(
        "function.cli.explain", "Explain why an object is not as its spec asks, and which changes help."
    ),
    "render": _Command("function.cli.render", "Compose one resource and print the result, like crossplane render."),
    "validate": _Command(
        "function.cli.validate", "Validate manifests, with file, line, column and field of each error."
    ),
    "convert": _Command(
        "function.cli.convert", "Convert Deployments, LeaderWorkerSets and others to ModelDeployments."
    ),
    "cel": _Command("function.cli.cel", "Check or evaluate a device selector."),
    "class": _Command("function.cli.inference_class", "Write InferenceClasses from what nodes really have.", "class_"),
    "serve": _Command("function.cli.serve", "Serve the composition function over gRPC."),
    "hydrate": _Command("function.cli.hydrate", "Download a model's weights, completely or not at all."),
    "observe": _Command("function.cli.observe", "Observe what the nodes of an inference cluster really have."),
    "generate": _Command("function.cli.generate", "Generate XRDs, Compositions and reference pages from the models."),
}


class _Lazy(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return [name for name, command in _COMMANDS.items() if find_spec(command.module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = _COMMANDS[cmd_name]
        found = getattr(importlib.import_module(command.module), command.attribute or cmd_name.replace("-", "_"))
        assert isinstance(found, click.Command)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as mistake:
            if ctx.invoked_subcommand not in _OWN_EXIT_CODES:
                raise
            raise _Mistake(mistake.format_message(), mistake.ctx) from mistake
        except click.ClickException as wrong:
            wrong.message = _visible(wrong.message)  # type: ignore[misc]  # the same error, with another message
            raise
        except settings.Invalid as wrong:
            raise click.ClickException(str(wrong)) from wrong
        except (click.Abort, click.exceptions.Exit):
            raise
        except Exception as bug:  # noqa: BLE001
            problem = _bug(bug)
        raise problem  # outside the handler, so that no traceback shows the bug as its context

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name].summary) for name in self.list_commands(ctx)])


def _visible(message: str) -> str:
    """Escape a message for the terminal, line by line: it may repeat what a file contains."""
    from function.core import visible

    return "\n".join(map(visible, message.split("\n")))


def _bug(bug: Exception) -> click.ClickException:
    """Report a bug by its type and place, without its message, which may contain any value, even that of a Secret."""
    from function.server import log

    if os.environ.get(_TRACEBACK):
        click.echo("\n".join(log.bug(bug)["frames"]), err=True)
    return click.ClickException(f"a bug in modelplane at {log.where(bug)} (set {_TRACEBACK}=1 for a traceback)")


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="function-modelplane", message="modelplane %(version)s")
def main() -> None:
    """Serve AI models on fleets of GPU clusters.

    Platform teams declare clusters and hardware, and ML teams declare models. This program runs the code of the
    Crossplane function on YAML files, without a cluster.

    \b
    Start with:
      modelplane plan examples/tour
    """
