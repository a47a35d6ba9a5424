"""`modelplane hydrate`: the command of a ModelCache's Job."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from function.cli.epilog import epilog
from function.vocabulary.exit_codes import ExitCode

_EXAMPLE = epilog(
    [
        "modelplane hydrate --repo Qwen/Qwen3-8B --revision main --to /cache/qwen3-8b",
    ],
    {
        0: "staged",
        1: "failed; retry",
        2: "invalid command; do not retry, as for all codes below",
        10: "repository not found, or no access",
        11: "repository is gated",
        12: "revision not found",
        13: "not enough room on the volume",
        14: "no weights in the repository",
    },
)


@click.command(epilog=_EXAMPLE)
@click.option("--repo", required=True, metavar="ORG/NAME", help="Repository of the Hugging Face hub.")
@click.option("--revision", default="main", show_default=True, help="Branch, tag or commit.")
@click.option(
    "--to",
    required=True,
    type=click.Path(path_type=Path),
    help="Target directory. It is created when all files are complete.",
)
def hydrate(repo: str, revision: str, to: Path) -> None:
    """Download a model's weights and verify them against the hub.

    The directory appears only when it is complete. An interrupted download resumes. HF_TOKEN is the token, and
    HF_ENDPOINT is the hub.
    """
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # a Job's log is read later
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        from function.hydrate.hub import Hub
        from function.hydrate.stage import stage
    except ImportError as missing:
        raise click.UsageError(f"{missing}; install function-modelplane[hydrate]") from missing
    hub = Hub(repo, token=os.environ.get("HF_TOKEN"), endpoint=os.environ.get("HF_ENDPOINT"))
    ended = stage(hub, revision=revision, to=to, say=lambda line: click.echo(line, err=True))
    click.echo(ended.message, err=ended.exit_code is not ExitCode.STAGED)
    sys.exit(int(ended.exit_code))
