"""`modelplane hydrate`: the command of a ModelCache's Job."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from function.cli.epilog import epilog
from function.vocabulary.exit_codes import ExitCode

if TYPE_CHECKING:
    from function.hydrate.bucket import Bucket
    from function.hydrate.hub import Hub

_EXAMPLE = epilog(
    [
        "modelplane hydrate --repo Qwen/Qwen3-8B --revision main --to /cache/qwen3-8b",
        "modelplane hydrate --repo org/model-GGUF --include '*Q4_K_M.gguf' --to /cache/model",
        "modelplane hydrate --bucket models --prefix qwen3-8b --to /cache/qwen3-8b",
    ],
    {
        0: "staged",
        1: "failed; retry",
        2: "invalid command; do not retry, as for all codes below",
        10: "repository or bucket not found, or no access",
        11: "repository is gated, or access to the bucket is denied",
        12: "revision not found",
        13: "not enough room on the volume",
        14: "no weights in the repository, or no object under the prefix",
        15: "certificate of the server is not trusted",
        16: "proxy refuses the connection",
    },
)


@click.command(epilog=_EXAMPLE)
@click.option("--repo", metavar="ORG/NAME", help="Repository of the Hugging Face hub.")
@click.option("--revision", default="main", show_default=True, help="Branch, tag or commit of the repository.")
@click.option("--bucket", metavar="NAME", help="Bucket of S3, or of a store with the same API.")
@click.option("--prefix", default="", metavar="PATH", help="Folder of the bucket. By default, all of it.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Stage only files that match one of the patterns.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files that match one of the patterns.")
@click.option(
    "--ca-bundle",
    type=click.Path(path_type=Path),
    help="Certificates of authorities to trust in addition to the system's, in PEM.",
)
@click.option(
    "--to",
    required=True,
    type=click.Path(path_type=Path),
    help="Target directory. It is created when all files are complete.",
)
def hydrate(
    *,
    repo: str | None,
    revision: str,
    bucket: str | None,
    prefix: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    ca_bundle: Path | None,
    to: Path,
) -> None:
    """Download a model's weights and verify them against the hub or the bucket.

    The directory appears only when it is complete. An interrupted download resumes.

    HF_TOKEN is the token, and HF_ENDPOINT is the hub. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN
    are the credentials of a bucket, AWS_ENDPOINT_URL_S3 is its store, and AWS_REGION its region. HTTPS_PROXY,
    HTTP_PROXY and NO_PROXY are proxies.
    """
    if (repo is None) == (bucket is None):
        raise click.UsageError("Set either --repo or --bucket.")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # a Job's log is read later
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from function.hydrate.secrets import CREDENTIALS, PROXIES, redactor
    from function.hydrate.selection import Patterns
    from function.hydrate.stage import stage

    for name in (*CREDENTIALS, *PROXIES):
        if name in os.environ:
            os.environ[name] = os.environ[name].strip()  # a Secret's value often ends with a line break
    _trust(ca_bundle)
    told = redactor(os.environ)
    origin = _hub(repo, revision, os.environ) if repo else _bucket(str(bucket), prefix, os.environ)
    ended = stage(origin, to=to, say=lambda line: click.echo(told(line), err=True), patterns=Patterns(include, exclude))
    click.echo(told(ended.message), err=ended.exit_code is not ExitCode.STAGED)
    sys.exit(int(ended.exit_code))


def _trust(bundle: Path | None) -> None:
    from function.hydrate import trust

    if bundle is None:
        return
    try:
        trust.also(bundle)
    except trust.Untrustworthy as fault:
        raise click.UsageError(str(fault)) from fault


def _hub(repo: str, revision: str, environment: Mapping[str, str]) -> Hub:
    try:
        from function.hydrate.hub import Hub
    except ImportError as missing:
        raise _not_installed(missing) from missing
    return Hub(repo, revision, token=environment.get("HF_TOKEN"), endpoint=environment.get("HF_ENDPOINT"))


def _bucket(name: str, prefix: str, environment: Mapping[str, str]) -> Bucket:
    try:
        from function.hydrate.bucket import Bucket, Keys
    except ImportError as missing:
        raise _not_installed(missing) from missing
    access_key, secret_key = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    if bool(access_key) != bool(secret_key):
        raise click.UsageError("Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither.")
    token = environment.get("AWS_SESSION_TOKEN") or None
    keys = Keys(access_key, secret_key, token) if access_key and secret_key else None
    return Bucket(
        name,
        prefix,
        keys=keys,
        endpoint=environment.get("AWS_ENDPOINT_URL_S3") or None,
        region=environment.get("AWS_REGION") or None,
    )


def _not_installed(missing: ImportError) -> click.UsageError:
    return click.UsageError(f"{missing}; install function-modelplane[hydrate]")
