"""modelplane hydrate: what a ModelCache's Job runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from function.vocabulary.exit_codes import ExitCode

_EXAMPLE = """
\b
Example:
  modelplane hydrate --repo Qwen/Qwen3-8B --revision main --to /cache/qwen3-8b

\b
Exit codes:
   0  staged
   1  try again
  what no other try would change:
   2  a refused command
  10  no such repository, or no access
  11  gated
  12  no such revision
  13  no room
  14  nothing to load
"""


@click.command(epilog=_EXAMPLE)
@click.option("--repo", required=True, metavar="ORG/NAME", help="Repository of the Hugging Face hub.")
@click.option("--revision", default="main", show_default=True, help="Branch, tag or commit.")
@click.option(
    "--to",
    required=True,
    type=click.Path(path_type=Path),
    help="Directory to stage in. It appears when everything is in it.",
)
def hydrate(repo: str, revision: str, to: Path) -> None:
    """Stage a model's weights: completely, checked against the hub, or not at all.

    A try that was interrupted goes on where it ended. The token is read from HF_TOKEN, the hub from HF_ENDPOINT.
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
