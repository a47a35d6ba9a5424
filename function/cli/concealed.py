"""What an excerpt does not show: text that may be a secret, which no message repeats either.

Somebody may have written an API key where the name of a Secret belongs, or into a field that does not exist.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from function.cli.files import FileLocation, Loaded
from function.core import redaction
from function.publish.catalog import BY_KIND
from function.schema.paths import is_secret
from function.validation import Finding

Columns = Mapping[tuple[str, int], int]
"""By file and line, the column from which the line is not shown."""

_DELICATE = re.compile(r"secret|key|token|pass|auth|bearer|credential|cookie", re.IGNORECASE)
_OURS = re.compile(r"modelplane\.ai/")
_SECRET = re.compile(r"kind['\"]?\s*:\s*['\"]?\w*Secret\b")
_CUT = "…"


def columns(findings: Iterable[Finding], loaded: Sequence[Loaded]) -> Columns:
    """Return what the excerpts of objects do not show."""
    found: dict[tuple[str, int], int] = {}
    for line, column in (place for finding in findings for place in _of(finding, loaded[finding.index])):
        found[line] = min(column, found.get(line, column))
    return found


def cut(source: FileLocation, line: int, concealed: Columns) -> str:
    """Return a line of an object's file as an excerpt shows it."""
    column, text = concealed.get((source.file, line)), source.text(line)
    shown = text if column is None else text[: column - 1]
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(shown, redaction.message(shown), strict=False))
    kept = "".join(character for character, _ in same)
    return kept if kept == text else f"{kept}{_CUT}"


def may_show(text: str) -> bool:
    """Whether lines of a file that cannot be read as objects may be shown: it has objects of ours, and no Secrets."""
    return bool(_OURS.search(text)) and not _SECRET.search(text)


def _of(finding: Finding, one: Loaded) -> Iterator[tuple[tuple[str, int], int]]:
    if finding.is_error and _is_delicate(finding, one):
        start = one.source.region(finding.path).start
        yield (one.source.file, start.line), start.column


def _is_delicate(finding: Finding, one: Loaded) -> bool:
    kind, path = BY_KIND.get(one.kind), finding.path
    is_known = kind is not None and path[:1] == ("spec",) and is_secret(kind.spec, path[1:])
    return is_known or any(_DELICATE.search(str(step)) for step in path)
