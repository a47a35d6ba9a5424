"""`modelplane observe`: the observer of an inference cluster, and its observation of a cluster printed once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from function.cli import observation_report
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.report import dump, show

if TYPE_CHECKING:
    from function.observe.once import Seen

_EXAMPLE = epilog(
    [
        "modelplane observe --kubeconfig cluster.kubeconfig",
        "modelplane observe --kubeconfig cluster.kubeconfig --context prod -o yaml",
    ],
    {0: "observed", 1: "the cluster cannot be reached", 2: INVALID_OPTION},
)


@click.command(epilog=_EXAMPLE)
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path),
    help="Observe the cluster of a kubeconfig once, print what it has, and write nothing.",
)
@click.option("--context", help="Context of the kubeconfig. By default, its current one.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True, help="Format."
)
def observe(*, kubeconfig: Path | None, context: str | None, output: str) -> None:
    """Observe what the nodes of an inference cluster really have.

    With --kubeconfig, the command prints the nodes by pool, their devices, and who holds them. Nodes without the label
    modelplane.ai/pool are grouped by their devices.
    """
    if kubeconfig is None:
        raise click.UsageError("Set --kubeconfig.")
    found = observation_report.observation(_seen(kubeconfig, context))
    if output == "text":
        show(observation_report.parts(found))
    else:
        dump(found, output)


def _seen(kubeconfig: Path, context: str | None) -> Seen:
    try:
        from function.observe import client as api
        from function.observe import once
    except ImportError as missing:
        raise not_installed(missing) from missing

    async def see() -> Seen:
        async with api.of_file(kubeconfig, context) as client:
            return await once.see(client)

    try:
        return asyncio.run(see())
    except (api.Unusable, api.Unreachable) as fault:
        raise click.ClickException(str(fault)) from fault


def not_installed(missing: ImportError) -> click.UsageError:
    return click.UsageError(f"{missing}; install function-modelplane[observe]")
