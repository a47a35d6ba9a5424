"""The runbook pages: one for each reason of a condition, and one for each rejection.

People write the sections of a page. Everything above its first section is generated: the conditions and kinds that have
the reason, and the templates of its messages. The index of all pages is generated as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from function.core import Reason
from function.publish import markdown, reasons, rejections
from function.publish.catalog import KINDS, Kind
from function.scheduling.rejection import NEAREST_FIRST

FOLDER = "docs/runbooks"
INDEX = f"{FOLDER}/README.md"
_NOTE = "<!-- `modelplane generate` writes all that is above the first section. Edit the sections. -->"
_INDEX_NOTE = "<!-- Written by `modelplane generate` from the conditions and rejections. Edit those. -->"
_SECTION = "\n## "
_ABOUT = """\
# Runbooks

Every condition of an object of Modelplane has a reason: one word that says why the condition is True, False or Unknown.
This page lists all reasons by kind and condition. The page of a reason tells what it means, what it affects, how to
find the cause, and what to do. [Troubleshooting](../troubleshooting.md) starts from symptoms instead, and
[Monitoring](../monitoring.md) lists the alerts, which have pages of their own.

To see the reasons of an object:

```sh
kubectl get modeldeployment NAME -n NAMESPACE \\
  -o jsonpath='{range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}'
```
"""
_ABOUT_REJECTIONS = """\
## Rejections

A rejection tells why a cluster takes no more replicas of a ModelDeployment. `status.rejections` of the deployment has
one for each cluster, and `modelplane explain` shows them with the changes that would help. They are sorted from the
cluster that nearly took the replica to the one that was never considered.

| reason | meaning |
|---|---|
"""


@cache
def of_conditions() -> Mapping[str, tuple[tuple[Kind, Reason], ...]]:
    """Return the reasons of all conditions by their name, each with the kinds that have it."""
    found = [(kind, reason) for kind in KINDS for reason in reasons.of(kind)]
    names = sorted({reason.reason for _, reason in found})
    return MappingProxyType({name: tuple(pair for pair in found if pair[1].reason == name) for name in names})


@cache
def of_rejections() -> Mapping[str, str]:
    """Return the meaning of each rejection by its name."""
    return MappingProxyType({reason.__name__: rejections.meaning(reason) for reason in NEAREST_FIRST})


def path(name: str) -> str:
    """Return the path of a reason's page in the repository."""
    return f"{FOLDER}/{name}.md"


def link(name: str) -> str:
    """Return a link to a reason's page, for pages in docs/reference."""
    return f"[{name}](../runbooks/{name}.md)"


def head(name: str) -> str:
    """Return the part of a page that is generated."""
    return "\n".join([_NOTE, "", f"# {name}", "", *_conditions(name), *_rejection(name)])


def files(root: Path) -> dict[str, str]:
    """Return the pages that exist in a repository, by path, each with its head as it is now."""
    names = (*of_conditions(), *of_rejections())
    pages = {name: root / path(name) for name in names}
    return {path(name): _with_head(name, page) for name, page in sorted(pages.items()) if page.is_file()}


def index() -> str:
    """Return the page that lists all reasons."""
    return "\n".join([_INDEX_NOTE, "", _ABOUT, *_kinds(), _ABOUT_REJECTIONS.rstrip("\n"), *_all_rejections()]) + "\n"


def _with_head(name: str, page: Path) -> str:
    _, section, body = page.read_text(encoding="utf-8").partition(_SECTION)
    return f"{head(name)}{section}{body}"


# The head of a page


def _conditions(name: str) -> Iterator[str]:
    found = of_conditions().get(name, ())
    if not found:
        return
    yield from ("| condition | status | kinds | message |", "|---|---|---|---|")
    for reason in dict.fromkeys(reason for _, reason in found):
        kinds = ", ".join(_kind(kind) for kind, other in found if other == reason)
        yield f"| {reason.type} | {reason.status} | {kinds} | {markdown.template(reason)} |"
    yield ""


def _rejection(name: str) -> Iterator[str]:
    if name in of_rejections():
        where = "[rejection](../reference/rejections.md) of a cluster by a [ModelDeployment]"
        yield f"A {where}(../reference/modeldeployment.md). {markdown.cell(of_rejections()[name])}"
        yield ""


def _kind(kind: Kind) -> str:
    return f"[{kind.kind}](../reference/{kind.kind.lower()}.md)"


# The index


def _kinds() -> Iterator[str]:
    for kind in KINDS:
        found = reasons.of(kind)
        if found:
            yield from (f"## {kind.kind}", "", "| condition | status | reason |", "|---|---|---|")
            yield from _rows(found)
            yield ""


def _rows(found: Iterable[Reason]) -> Iterator[str]:
    rows: dict[tuple[str, str], dict[str, None]] = {}
    for reason in found:
        rows.setdefault((reason.type, reason.status), {})[reason.reason] = None
    for (type_, status), names in rows.items():
        yield f"| {type_} | {status} | {', '.join(f'[{name}]({name}.md)' for name in names)} |"


def _all_rejections() -> Iterator[str]:
    yield from (f"| [{name}]({name}.md) | {markdown.cell(meaning)} |" for name, meaning in of_rejections().items())
