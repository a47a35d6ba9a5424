"""Findings of `validate` with their places in files, as text, JSON or GitHub annotations. sarif.py writes SARIF."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from function.cli import concealed, excerpt, locations, overlays
from function.cli.files import FileLocation, Input, Loaded
from function.cli.regions import Region
from function.cli.values import UNREADABLE, BrokenFile, Position
from function.core import plural, visible
from function.schema import Path as FieldPath
from function.validation import Finding
from function.validation.finding import SEVERITIES

_NOT_CHECKED = "references between objects are not checked while there is something that cannot be read"
_GITHUB = {"error": "error", "warning": "warning", "note": "notice"}
"""Workflow commands of GitHub Actions, by severity."""


@dataclass(frozen=True, slots=True, order=True)
class FileFinding:
    """A finding at a region of a file."""

    file: str
    region: Region
    severity: str
    """error, warning or note."""
    object: str
    """Kind, namespace and name."""
    field: str
    message: str
    """What is wrong, after the field."""
    code: str
    text: str = dataclasses.field(default="", compare=False, repr=False)
    """The line in which the region begins, without what may be secret."""

    def __str__(self) -> str:
        who = f" ({self.object})" if self.object else ""
        line, column = self.region.start
        return visible(f"{self.file}:{line}:{column}: {self.severity}: {self.message} [{self.code}]{who}")


def located(findings: Iterable[Finding], loaded: Sequence[Loaded], broken: Sequence[BrokenFile]) -> list[FileFinding]:
    """All findings of a check, in order of files and lines.

    Args:
        findings: What validation found in the objects.
        loaded: The objects, in the order in which they were validated.
        broken: What could not be read as objects.
    """
    given = list(findings)
    hidden = concealed.columns(given, loaded)
    found = [*map(_unreadable, broken), *(_in_file(finding, loaded, hidden) for finding in given)]
    if any(one.code == UNREADABLE for one in broken):
        first = _unreadable(broken[0])
        found.append(FileFinding(first.file, first.region, "note", "", "", _NOT_CHECKED, "unchecked"))
    return sorted(found)


def _unreadable(broken: BrokenFile) -> FileFinding:
    place = broken.position or Position(1, 1)
    text = _line(broken.file, place.line) if broken.position else ""
    return FileFinding(broken.file, Region(place, place), "error", "", "", broken.problem, broken.code, text)


def _line(file: str, number: int) -> str:
    """A line of a file that cannot be read as objects; empty if it cannot be read at all, or may be secret."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig", errors="replace")
    except (OSError, ValueError):
        return ""
    lines = text.split("\n") if concealed.may_show(text) else []
    return lines[number - 1].rstrip("\r") if number <= len(lines) else ""


def _in_file(finding: Finding, loaded: Sequence[Loaded], hidden: concealed.Columns) -> FileFinding:
    """A finding in one of the objects, at its place in the file."""
    one = loaded[finding.index]
    place = one.source
    region = place.region_of_key(finding.path) if finding.is_about_the_key else place.region(finding.path, finding.span)
    other = _other(loaded[finding.other].source, place, finding.path) if finding.other is not None else ""
    is_placed = finding.span is not None and region != place.region(finding.path)
    told = (finding.brief if is_placed else "") or finding.message
    message = f"{finding.field}: {told}{other}"
    who, text = f"{one.kind[1]} {one.identity}", concealed.cut(place, region.start.line, hidden)
    return FileFinding(place.file, region, finding.severity, who, finding.field, message, finding.code, text)


def _other(other: FileLocation, own: FileLocation, path: FieldPath) -> str:
    return f"; the other is at {other.at(path)}{overlays.remedy(own.file, other.file)}"


def as_text(findings: Sequence[FileFinding], given: Input) -> str:
    """One finding a line, as other programs read it."""
    return "\n".join([*map(str, findings), summary(findings, given), *map(visible, given.skipped.notes)])


def with_excerpts(findings: Sequence[FileFinding], given: Input, page: excerpt.Page) -> str:
    """Each finding with the line of its file, for people to read."""
    shown = [page.finding(str(one), one.severity, excerpt.Source(one.text, one.region)) for one in findings]
    return "\n".join([*shown, summary(findings, given), *map(visible, given.skipped.notes)])


def as_json(findings: Sequence[FileFinding], given: Input) -> str:
    data = {"objects": given.ours, "skipped": given.skipped.data(), "findings": [*map(plain, findings)]}
    return json.dumps(data, indent=2, ensure_ascii=False)


def plain(one: FileFinding) -> dict[str, Any]:
    """A finding as data."""
    (line, column), (end_line, end_column) = one.region
    return {
        "file": one.file,
        "line": line,
        "column": column,
        "endLine": end_line,
        "endColumn": end_column,
        "severity": one.severity,
        "object": one.object,
        "field": one.field,
        "message": one.message,
        "code": one.code,
    }


def as_github(findings: Sequence[FileFinding], given: Input) -> str:
    return "\n".join([*map(_annotation, findings), summary(findings, given), *map(visible, given.skipped.notes)])


def summary(findings: Sequence[FileFinding], given: Input) -> str:
    """The number of findings by severity. Notes are counted if there are any."""
    numbers = {severity: sum(one.severity == severity for one in findings) for severity in SEVERITIES}
    counted = [plural(number, word) for word, number in numbers.items() if number or word != "note"]
    skipped = f"; skipped: {visible(str(given.skipped))}" if str(given.skipped) else ""
    return f"{plural(given.ours, 'object')}: {', '.join(counted)}{skipped}"


def _annotation(finding: FileFinding) -> str:
    """A workflow command of GitHub Actions. % and line ends are escaped, and in properties also : and ,.

    GitHub takes columns only of a region within one line.
    """
    (line, column), (end_line, end_column) = finding.region
    file = _escaped(locations.shown(finding.file)).replace(":", "%3A").replace(",", "%2C")
    columns = f",col={column},endColumn={end_column}" if line == end_line else ""
    place = f"file={file},line={line},endLine={end_line}{columns},title={finding.code}"
    return f"::{_GITHUB[finding.severity]} {place}::{_escaped(finding.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
