"""`modelplane serve`: the function that Crossplane calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from function.api import tenancy
from function.cli.address import Address
from function.cli.epilog import INVALID_OPTION, epilog
from function.probes import CannotListen, ListenAddress
from function.server import grpc_server as server
from function.server import log
from function.server.certificates import UnusableCertificates
from function.vocabulary.settings import rate_limit_server

MEBIBYTES = click.IntRange(min=1, max=server.MOST_MIB)
_EXAMPLE = epilog(
    [
        "modelplane serve --insecure --address 127.0.0.1:9443",
        "modelplane serve --insecure --http-address :8080",
    ],
    {
        0: "stopped by a signal",
        1: "cannot start: an address that is in use, an invalid certificate or environment variable",
        2: INVALID_OPTION,
    },
)


@click.command(epilog=_EXAMPLE)
@click.option(
    "--address",
    envvar="ADDRESS",
    type=Address(server.PORT),
    default=str(server.DEFAULT_ADDRESS),
    show_default=True,
    help="Address of the gRPC server.",
)
@click.option(
    "--tls-certs-dir",
    "--tls-server-certs-dir",
    envvar="TLS_SERVER_CERTS_DIR",
    type=click.Path(path_type=Path, readable=False),  # its files are read, and told about, by the server
    help="Folder with tls.crt, tls.key, and the ca.crt that must have signed client certificates. Reloaded on change.",
)
@click.option("--insecure", envvar="INSECURE", is_flag=True, help="Serve without TLS. Overrides --tls-certs-dir.")
@click.option("--debug", "-d", envvar="DEBUG", is_flag=True, help="Log at debug level, in a human-readable format.")
@click.option(
    "--max-recv-message-size",
    "--max-grpc-message-size",
    envvar=["MAX_RECV_MESSAGE_SIZE", "MAX_GRPC_MESSAGE_SIZE"],
    type=MEBIBYTES,
    default=server.LARGEST_MESSAGE,
    show_default=True,
    help="Largest request, in MiB.",
)
@click.option(
    "--max-total-recv-size",
    envvar="MAX_TOTAL_RECV_SIZE",
    type=click.IntRange(min=1),
    show_default="twice --max-recv-message-size",
    help="All requests in memory, in MiB. Further calls wait unread.",
)
@click.option(
    "--max-send-message-size",
    envvar="MAX_SEND_MESSAGE_SIZE",
    type=MEBIBYTES,
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
    "--max-call-seconds",
    envvar="MAX_CALL_SECONDS",
    type=click.IntRange(min=1),
    default=server.LONGEST_CALL,
    show_default=True,
    help="Seconds that a call may compute. It ends earlier at its client's deadline.",
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
    "--http-address",
    envvar="HTTP_ADDRESS",
    type=Address(server.HTTP_PORT),
    help="Address of the probes /healthz and /readyz, and of Prometheus metrics at /metrics, in plain text. Off by "
    f"default; the image sets :{server.HTTP_PORT}.",
)
def serve(  # noqa: PLR0917  (click gives them by name)
    address: ListenAddress,
    tls_certs_dir: Path | None,
    max_recv_message_size: int,
    max_total_recv_size: int | None,
    max_send_message_size: int,
    max_call_seconds: int,
    http_address: ListenAddress | None,
    workers: int,
    shutdown_grace: int,
    *,
    insecure: bool,
    debug: bool,
) -> None:
    """Serve the composition function to Crossplane over gRPC."""
    if tls_certs_dir is None and not insecure:
        raise click.UsageError("missing option: use --tls-certs-dir DIR, or --insecure to serve without TLS")
    if max_total_recv_size is not None and max_total_recv_size < max_recv_message_size:
        raise click.UsageError(
            f"--max-total-recv-size {max_total_recv_size} is less than --max-recv-message-size "
            f"{max_recv_message_size}: a request of the largest size would never be received"
        )
    if http_address is not None and http_address.overlaps(address):
        raise click.UsageError(
            f"--address {address} and --http-address {http_address}: one port cannot serve both; give one another port"
        )
    tenancy.reserved()  # these raise for an invalid setting, at startup rather than in the first call
    rate_limit_server()
    log.configure(debug=debug)
    settings = server.Settings(
        address=address,
        tls_certs_dir=None if insecure else tls_certs_dir,
        max_receive_mib=max_recv_message_size,
        max_send_mib=max_send_message_size,
        max_total_receive_mib=max_total_recv_size,
        longest_call=max_call_seconds,
        http_address=http_address,
        workers=workers,
        grace=shutdown_grace,
    )
    try:
        ended = asyncio.run(server.serve(settings))
    except CannotListen as problem:
        option = "--http-address" if problem.address == http_address else "--address"
        raise click.ClickException(f"cannot serve: {option} {problem}") from None
    except UnusableCertificates as problem:
        raise click.ClickException(f"cannot serve: --tls-certs-dir: {problem}") from None
    except (OSError, RuntimeError, ValueError) as problem:  # gRPC's RuntimeError names the address
        raise click.ClickException(f"cannot serve: {problem}") from None
    if not ended:
        _leave()


def _leave() -> NoReturn:
    """End the process while a thread computes. The interpreter's own exit would wait for the thread, or unload
    libraries that it uses."""
    with contextlib.suppress(OSError):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    os._exit(0)
