"""Findings of `validate` with their places in files, as text, JSON, SARIF or GitHub annotations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from function.cli import overlays
from function.cli.files import FileLocation, Input, Loaded
from function.cli.inputs import NOTHING
from function.cli.values import UNREADABLE, BrokenFile
from function.core import plural, visible
from function.schema import Path
from function.validation import Finding
from function.validation.finding import ERRORS, WARNINGS

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True, order=True)
class FileFinding:
    """A finding at a place in a file."""

    file: str
    line: int
    column: int
    severity: str
    """error or warning."""
    object: str
    """Kind, namespace and name."""
    field: str
    message: str
    """What is wrong, after the field."""
    code: str

    def __str__(self) -> str:
        who = f" ({self.object})" if self.object else ""
        return visible(f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message} [{self.code}]{who}")


def located(findings: Iterable[Finding], loaded: Sequence[Loaded], broken: Iterable[BrokenFile]) -> list[FileFinding]:
    """All findings of a check, in order of files and lines.

    Args:
        findings: What validation found in the objects.
        loaded: The objects, in the order in which they were validated.
        broken: What could not be read as objects.
    """
    return sorted([*map(_unreadable, broken), *(_in_file(finding, loaded) for finding in findings)])


def _unreadable(broken: BrokenFile) -> FileFinding:
    line, column = broken.position or (1, 1)
    return FileFinding(broken.file, line, column, "error", "", "", broken.problem, broken.code)


def _in_file(finding: Finding, loaded: Sequence[Loaded]) -> FileFinding:
    """A finding in one of the objects, at its place in the file."""
    one = loaded[finding.index]
    place = one.source.key if finding.is_about_the_key else one.source.position
    line, column = place(finding.path)
    severity = "error" if finding.is_error else "warning"
    who = f"{one.kind[1]} {one.identity}"
    other = _other(loaded[finding.other].source, one.source, finding.path) if finding.other is not None else ""
    message = f"{finding.field}: {finding.message}{other}"
    return FileFinding(one.source.file, line, column, severity, who, finding.field, message, finding.code)


def _other(other: FileLocation, own: FileLocation, path: Path) -> str:
    return f"; the other is at {other.at(path)}{overlays.remedy(own.file, other.file)}"


def as_text(findings: Sequence[FileFinding], given: Input) -> str:
    return "\n".join([*map(str, findings), summary(findings, given), *map(visible, given.skipped.notes)])


def as_json(findings: Sequence[FileFinding], given: Input) -> str:
    data = {"objects": given.ours, "skipped": given.skipped.data(), "findings": [asdict(f) for f in findings]}
    return json.dumps(data, indent=2, ensure_ascii=False)


def as_sarif(findings: Sequence[FileFinding], given: Input) -> str:
    rules = [{"id": code, "shortDescription": {"text": text}} for code, text in sorted(_meanings().items())]
    driver = {"name": "modelplane", "version": version("function-modelplane"), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(f) for f in findings],
        "properties": {"objects": given.ours, "skipped": given.skipped.data()},
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def as_github(findings: Sequence[FileFinding], given: Input) -> str:
    return "\n".join([*map(_annotation, findings), summary(findings, given), *map(visible, given.skipped.notes)])


FORMATS: Mapping[str, Callable[[Sequence[FileFinding], Input], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}


def summary(findings: Sequence[FileFinding], given: Input) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    skipped = f"; skipped: {visible(str(given.skipped))}" if str(given.skipped) else ""
    return f"{plural(given.ours, 'object')}: {plural(errors, 'error')}, {plural(warnings, 'warning')}{skipped}"


def _meanings() -> dict[str, str]:
    return {
        **ERRORS,
        **WARNINGS,
        UNREADABLE: "The file cannot be read as Kubernetes objects.",
        NOTHING: "The input has no object of Modelplane.",
    }


def _result(finding: FileFinding) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    place = {"artifactLocation": {"uri": finding.file}, "region": region}
    return {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def _annotation(finding: FileFinding) -> str:
    """A workflow command of GitHub Actions. % and line ends are escaped, and in properties also : and ,."""
    file = _escaped(finding.file).replace(":", "%3A").replace(",", "%2C")
    place = f"file={file},line={finding.line},col={finding.column},title={finding.code}"
    return f"::{finding.severity} {place}::{_escaped(finding.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
