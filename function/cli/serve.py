"""`modelplane serve`: the function that Crossplane calls."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from crossplane.function import logging

from function import namespaces, server

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
    "--address", envvar="ADDRESS", default=server.DEFAULT_ADDRESS, show_default=True, help="host:port to listen on."
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
@click.option("--metrics-address", envvar="METRICS_ADDRESS", help="host:port for Prometheus. Off unless given.")
def serve(
    address: str,
    tls_certs_dir: Path | None,
    max_recv_message_size: int,
    max_send_message_size: int,
    metrics_address: str | None,
    *,
    insecure: bool,
    debug: bool,
) -> None:
    """Answer Crossplane's calls over gRPC."""
    if tls_certs_dir is None and not insecure:
        raise click.UsageError("give --tls-certs-dir DIR, or --insecure to serve in plain text")
    namespaces.reserved()  # raises for a wrong setting: at startup rather than with the first call
    logging.configure(level=logging.Level.DEBUG if debug else logging.Level.INFO)
    settings = server.Settings(
        address=address,
        tls_certs_dir=None if insecure else tls_certs_dir,
        max_receive_mib=max_recv_message_size,
        max_send_mib=max_send_message_size,
        metrics_address=metrics_address,
    )
    try:
        asyncio.run(server.serve(settings))
    except (OSError, RuntimeError, ValueError) as problem:
        raise click.ClickException(f"cannot serve on {address}: {problem}") from problem
