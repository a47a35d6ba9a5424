"""`modelplane serve`: the function that Crossplane calls."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from function.api import tenancy
from function.cli.address import Address
from function.server import grpc_server as server
from function.server import log

_EXAMPLE = """
\b
Example, for `crossplane render` with the Development runtime:
  modelplane serve --insecure --address 127.0.0.1:9443

\b
Exit codes:
  0  it was stopped
  1  it cannot serve: the address, a certificate, a setting in the environment
  2  a wrong option
"""


@click.command(epilog=_EXAMPLE)
@click.option(
    "--address",
    envvar="ADDRESS",
    type=Address(),
    default=server.DEFAULT_ADDRESS,
    show_default=True,
    help="host:port to listen on.",
)
@click.option(
    "--tls-certs-dir",
    "--tls-server-certs-dir",
    envvar="TLS_SERVER_CERTS_DIR",
    type=click.Path(path_type=Path),
    help="Folder with tls.crt, tls.key and ca.crt (clients need a certificate of it); read again when it changes.",
)
@click.option("--insecure", envvar="INSECURE", is_flag=True, help="Serve in plain text, whatever --tls-certs-dir says.")
@click.option("--debug", "-d", envvar="DEBUG", is_flag=True, help="Log more, and for people.")
@click.option(
    "--max-recv-message-size",
    "--max-grpc-message-size",
    envvar=["MAX_RECV_MESSAGE_SIZE", "MAX_GRPC_MESSAGE_SIZE"],
    type=click.IntRange(min=1),
    default=server.LARGEST_MESSAGE,
    show_default=True,
    help="Largest request, in MiB.",
)
@click.option(
    "--max-send-message-size",
    envvar="MAX_SEND_MESSAGE_SIZE",
    type=click.IntRange(min=1),
    default=server.LARGEST_MESSAGE,
    show_default=True,
    help="Largest response, in MiB. Crossplane itself takes 4.",
)
@click.option(
    "--workers",
    envvar="WORKERS",
    type=click.IntRange(min=1),
    default=server.WORKERS,
    show_default=True,
    help="Calls computed at once. They share one core: more make it fairer, not faster.",
)
@click.option(
    "--shutdown-grace",
    envvar="SHUTDOWN_GRACE",
    type=click.IntRange(min=0),
    default=server.GRACE,
    show_default=True,
    help="Seconds that accepted calls have to end after SIGTERM.",
)
@click.option(
    "--metrics-address",
    envvar="METRICS_ADDRESS",
    type=Address(),
    help="host:port for Prometheus. Off unless given.",
)
def serve(  # noqa: PLR0917  (click gives them by name)
    address: str,
    tls_certs_dir: Path | None,
    max_recv_message_size: int,
    max_send_message_size: int,
    metrics_address: str | None,
    workers: int,
    shutdown_grace: int,
    *,
    insecure: bool,
    debug: bool,
) -> None:
    """Answer Crossplane's calls over gRPC."""
    if tls_certs_dir is None and not insecure:
        raise click.UsageError("give --tls-certs-dir DIR, or --insecure to serve in plain text")
    tenancy.reserved()  # raises for a wrong setting: at startup rather than with the first call
    log.configure(debug=debug)
    settings = server.Settings(
        address=address,
        tls_certs_dir=None if insecure else tls_certs_dir,
        max_receive_mib=max_recv_message_size,
        max_send_mib=max_send_message_size,
        metrics_address=metrics_address,
        workers=workers,
        grace=shutdown_grace,
    )
    try:
        ended = asyncio.run(server.serve(settings))
    except (OSError, RuntimeError, ValueError) as problem:  # gRPC's RuntimeError names the address
        raise click.ClickException(f"cannot serve: {problem}") from None
    if not ended:
        _leave()


def _leave() -> NoReturn:
    """End the process while a thread computes. The interpreter's own exit would wait for it, or pull the libraries away
    from under it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
