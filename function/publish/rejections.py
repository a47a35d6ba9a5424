"""The reference page of rejections, from the classes in `scheduling/rejection.py`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from function.scheduling.rejection import NEAREST_FIRST, Reason

PAGE = "rejections.md"
TITLE = "Rejections"
_NOTE = "<!-- Written by `modelplane generate` from function/scheduling/rejection.py. Edit that. -->"
_ABOUT = """\
A rejection is the reason why a cluster takes no more replicas of a ModelDeployment. `status.rejections` has one for
each cluster, with the `reason` below and a message; the condition `ReplicasScheduled` counts the clusters for each
reason. `modelplane explain` shows the details. See [Scheduling](../scheduling.md).

Reasons are sorted from the cluster that nearly took the replica to the one that was never considered."""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_NOTE, "", f"# {TITLE}", "", _ABOUT, "", *_table()]) + "\n"


def meaning(reason: type[Reason]) -> str:
    """Return the first paragraph of a reason's docstring on one line. Raises ValueError if it has none."""
    if not reason.__doc__ or reason.__doc__.startswith(f"{reason.__name__}("):  # what dataclasses write
        raise ValueError(f"{reason.__name__} has no docstring, which is its text in the reference")
    return " ".join(inspect.cleandoc(reason.__doc__).partition("\n\n")[0].split())


def _table() -> Iterator[str]:
    yield from ("| reason | meaning |", "|---|---|")
    yield from (
        f"| [{reason.__name__}](../runbooks/{reason.__name__}.md) | {meaning(reason)} |" for reason in NEAREST_FIRST
    )
