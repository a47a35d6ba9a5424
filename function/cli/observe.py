"""`modelplane observe`: the observer of an inference cluster, and its observation of a cluster printed once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from function.cli import observation_report
from function.cli.address import Address
from function.cli.epilog import INVALID_OPTION, epilog
from function.cli.report import dump, show
from function.probes import CannotListen, ListenAddress
from function.vocabulary import names

if TYPE_CHECKING:
    from function.observe.once import Seen

_EXAMPLE = epilog(
    [
        "modelplane observe --kubeconfig cluster.kubeconfig",
        "modelplane observe --kubeconfig cluster.kubeconfig --context prod -o yaml",
        "modelplane observe --address :8081 --namespace modelplane-system",
    ],
    {
        0: "observed, or stopped by a signal",
        1: "the cluster cannot be reached, or the address cannot be used",
        2: INVALID_OPTION,
    },
)
_PORT = 8081


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
@click.option("--follow", is_flag=True, help="With --kubeconfig: do not print; observe as a pod of the cluster does.")
@click.option(
    "--namespace",
    default=names.SYSTEM_NAMESPACE,
    show_default=True,
    help="Namespace of the ConfigMaps of observations.",
)
@click.option(
    "--address",
    type=Address(_PORT),
    default=f":{_PORT}",
    show_default=True,
    help="Address of the probes /healthz and /readyz.",
)
@click.option("--debug", "-d", is_flag=True, help="Log in a human-readable format.")
def observe(
    *,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    follow: bool,
    namespace: str,
    address: ListenAddress,
    debug: bool,
) -> None:
    """Observe what the nodes of an inference cluster really have.

    With --kubeconfig, the command prints the nodes by pool, their devices, and who holds them. Nodes without the label
    modelplane.ai/pool are grouped by their devices.

    Without it, the command is the observer of the cluster in which it runs. It compares nodes and devices with the
    declarations in its namespace, and writes observations there, and why pods of engines do not run.
    """
    if context is not None and kubeconfig is None:
        raise click.UsageError("--context needs --kubeconfig.")
    if follow and kubeconfig is None:
        raise click.UsageError("--follow needs --kubeconfig.")
    if kubeconfig is None or follow:
        _serve(kubeconfig, context, namespace=namespace, address=address, debug=debug)
        return
    found = observation_report.observation(seen(kubeconfig, context))
    if output == "text":
        show(observation_report.parts(found))
    else:
        dump(found, output)


def seen(kubeconfig: Path, context: str | None, selector: str = "") -> Seen:
    """What the cluster of a kubeconfig has, on the nodes that a label selector selects."""
    try:
        from function.apiserver import client as api
        from function.apiserver import credentials
        from function.observe import once
    except ImportError as missing:
        raise not_installed(missing) from missing

    async def see() -> Seen:
        async with credentials.of_files([kubeconfig], context).client as client:
            return await once.see(client, selector)

    try:
        return asyncio.run(see())
    except (credentials.UnusableCredentials, api.NoAnswer) as fault:
        raise click.ClickException(str(fault)) from fault


def _serve(
    kubeconfig: Path | None, context: str | None, *, namespace: str, address: ListenAddress, debug: bool
) -> None:
    try:
        from function.apiserver import credentials
        from function.observe import health, service
    except ImportError as missing:
        raise not_installed(missing) from missing
    import structlog

    from function.server import log

    log.configure(debug=debug)
    logger: Any = structlog.get_logger()
    state = health.Health(time.monotonic)
    state.turn()

    async def serve() -> None:
        asyncio.get_running_loop().set_exception_handler(log.of_loop)
        access = credentials.of_files([kubeconfig], context) if kubeconfig else credentials.in_cluster()
        async with access.client as client:
            observer = asyncio.ensure_future(service.run(client, service.Settings(namespace), state, logger.warning))
            for name in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(name, observer.cancel)
            with contextlib.suppress(asyncio.CancelledError):
                await observer

    try:
        with health.serving(state, address) as bound:
            logger.info("observing", namespace=namespace, port=bound.port)
            asyncio.run(serve())
    except credentials.UnusableCredentials as fault:
        raise click.ClickException(str(fault)) from fault
    except CannotListen as fault:
        raise click.ClickException(f"cannot listen on --address {fault}") from fault
    logger.info("stopped")


def not_installed(missing: ImportError) -> click.UsageError:
    return click.UsageError(f"{missing}; install function-modelplane[observe]")
