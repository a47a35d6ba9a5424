"""The command line. Each command's module is imported only when the command runs, so that every command starts fast."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from function.cli import completion, faults, interrupts, parameters
from function.core import closest
from function.vocabulary import settings


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
    "top": _Command("function.cli.top", "Show a fleet at a glance: capacity, who waits and why, what is degraded."),
    "manifests": _Command("function.cli.manifests", "Show what each object becomes on each cluster, as YAML."),
    "simulate": _Command("function.cli.simulate", "Simulate random faults and edits, and check that invariants hold."),
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
    "schema": _Command("function.cli.schema", "Print the JSON Schema of a kind, for editors."),
    "completion": _Command("function.cli.completion", "Print the code that completes commands and names in a shell."),
    "generate": _Command("function.cli.generate", "Generate XRDs, Compositions and reference pages from the models."),
    "help": _Command("function.cli.help", "Show the help of a command.", "help_"),
    "version": _Command("function.cli.version", "Show the versions of this program and of what it works with."),
}


class _Lazy(click.Group):
    """A group that lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return [name for name, command in _COMMANDS.items() if find_spec(command.module)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        if ctx.resilient_parsing and (outline := completion.outline(cmd_name)):
            return outline
        command = _COMMANDS[cmd_name]
        with interrupts.end_at_once():
            module = importlib.import_module(command.module)
        found = getattr(module, command.attribute or cmd_name.replace("-", "_"))
        assert isinstance(found, click.Command)
        return parameters.shared(found)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        meant = closest(name, self.list_commands(ctx))
        if meant and meant != name and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"No such command {name!r}. Did you mean {meant!r}?", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [CompletionItem(name, help=_COMMANDS[name].summary) for name in names]

    def main(self, *args: Any, **extra: Any) -> Any:
        try:
            return super().main(*args, **extra)
        except BrokenPipeError:  # from the message of an error
            faults.silence()
            sys.exit(faults.BROKEN_PIPE)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        try:
            return super().make_context(*args, **extra)
        except KeyboardInterrupt:
            raise faults.Interrupted from None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with faults.told(self, ctx, ctx.meta[_ARGUMENTS]):
            try:
                return super().invoke(ctx)
            except settings.Invalid as wrong:
                raise click.ClickException(str(wrong)) from wrong

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name].summary) for name in self.list_commands(ctx)])


_ARGUMENTS = "function.main.arguments"


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="function-modelplane", message="modelplane %(version)s")
def main() -> None:
    """Serve AI models on fleets of GPU clusters.

    Platform teams declare clusters and hardware, and ML teams declare models. This program runs the code of the
    Crossplane function on YAML files, without a cluster.

    \b
    Start with:
      modelplane plan examples/tour
      modelplane help plan
    """


parameters.add_quiet(main)
