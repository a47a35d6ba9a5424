"""Findings of `validate` with their places in files, as text, JSON, SARIF or GitHub annotations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from function.cli.files import Loaded
from function.cli.values import BrokenFile
from function.core import plural, visible
from function.validation import Finding
from function.validation.finding import ERRORS, WARNINGS

UNREADABLE = "unreadable"
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
    return FileFinding(broken.file, line, column, "error", "", "", broken.problem, UNREADABLE)


def _in_file(finding: Finding, loaded: Sequence[Loaded]) -> FileFinding:
    """A finding in one of the objects, at its place in the file."""
    one = loaded[finding.index]
    place = one.source.key if finding.is_about_the_key else one.source.position
    line, column = place(finding.path)
    severity = finding.severity
    who = f"{one.kind[1]} {one.identity}"
    other = f"; the other is at {loaded[finding.other].source.at(finding.path)}" if finding.other is not None else ""
    message = f"{finding.field}: {finding.message}{other}"
    return FileFinding(one.source.file, line, column, severity, who, finding.field, message, finding.code)


def as_text(findings: Sequence[FileFinding], objects: int) -> str:
    return "\n".join([*map(str, findings), summary(findings, objects)])


def as_json(findings: Sequence[FileFinding], objects: int) -> str:
    return json.dumps({"objects": objects, "findings": [asdict(f) for f in findings]}, indent=2, ensure_ascii=False)


def as_sarif(findings: Sequence[FileFinding], objects: int) -> str:  # noqa: ARG001  (one signature for all formats)
    rules = [{"id": code, "shortDescription": {"text": text}} for code, text in sorted(_meanings().items())]
    driver = {"name": "modelplane", "version": version("function-modelplane"), "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": [_result(f) for f in findings]}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def as_github(findings: Sequence[FileFinding], objects: int) -> str:
    return "\n".join([*map(_annotation, findings), summary(findings, objects)])


FORMATS: Mapping[str, Callable[[Sequence[FileFinding], int], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}


def summary(findings: Sequence[FileFinding], objects: int) -> str:
    errors = sum(finding.severity == "error" for finding in findings)
    warnings = len(findings) - errors
    return f"{plural(objects, 'object')}: {plural(errors, 'error')}, {plural(warnings, 'warning')}"


def _meanings() -> dict[str, str]:
    return {**ERRORS, **WARNINGS, UNREADABLE: "The file cannot be read as Kubernetes objects."}


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
