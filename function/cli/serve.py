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
from function.cli.epilog import INVALID_OPTION, epilog
from function.server import grpc_server as server
from function.server import log
from function.vocabulary.settings import rate_limit_server

_EXAMPLE = epilog(
    [
        "modelplane serve --insecure --address 127.0.0.1:9443",
    ],
    {
        0: "stopped by a signal",
        1: "cannot start: invalid address, certificate or environment variable",
        2: INVALID_OPTION,
    },
)


@click.command(epilog=_EXAMPLE)
@click.option(
    "--address",
    envvar="ADDRESS",
    type=Address(),
    default=server.DEFAULT_ADDRESS,
    show_default=True,
    help="Address to listen on.",
)
@click.option(
    "--tls-certs-dir",
    "--tls-server-certs-dir",
    envvar="TLS_SERVER_CERTS_DIR",
    type=click.Path(path_type=Path),
    help="Folder with tls.crt, tls.key, and the ca.crt that must have signed client certificates. Reloaded on change.",
)
@click.option("--insecure", envvar="INSECURE", is_flag=True, help="Serve without TLS. Overrides --tls-certs-dir.")
@click.option("--debug", "-d", envvar="DEBUG", is_flag=True, help="Log at debug level, in a human-readable format.")
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
    help="Largest response, in MiB. Crossplane accepts 4.",
)
@click.option(
    "--workers",
    envvar="WORKERS",
    type=click.IntRange(min=1),
    default=server.WORKERS,
    show_default=True,
    help="Calls that are computed concurrently. They share one core: more improve fairness, not throughput.",
)
@click.option(
    "--shutdown-grace",
    envvar="SHUTDOWN_GRACE",
    type=click.IntRange(min=0),
    default=server.GRACE,
    show_default=True,
    help="Seconds that accepted calls have to finish after SIGTERM.",
)
@click.option(
    "--metrics-address",
    envvar="METRICS_ADDRESS",
    type=Address(),
    help="Address for Prometheus metrics. Disabled by default.",
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
    """Serve the composition function to Crossplane over gRPC."""
    if tls_certs_dir is None and not insecure:
        raise click.UsageError("missing option: use --tls-certs-dir DIR, or --insecure to serve without TLS")
    tenancy.reserved()  # these raise for an invalid setting, at startup rather than in the first call
    rate_limit_server()
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
    """End the process while a thread computes. The interpreter's own exit would wait for the thread, or unload
    libraries that it uses."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
