"""Findings of `validate` as SARIF 2.1.0 (docs.oasis-open.org/sarif), which code scanning services read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from function.cli import locations
from function.cli.files import Input
from function.cli.findings import FileFinding
from function.cli.inputs import NOTHING
from function.cli.values import UNREADABLE
from function.validation.finding import SEVERITIES

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = {"description": {"text": "The root of the repository, or the working directory."}}
"""Without a URI: the absolute path of one machine says nothing on another (SARIF 2.1.0, 3.14.14)."""


def as_sarif(findings: Sequence[FileFinding], given: Input) -> str:
    rules = _rules()
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "modelplane", "version": version("function-modelplane"), "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {locations.ROOT: _ROOT},
        "results": [_result(finding, numbers[finding.code]) for finding in findings],
        "properties": {"objects": given.ours, "skipped": given.skipped.data()},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _rules() -> list[dict[str, Any]]:
    told = [(code, severity, text) for severity, codes in SEVERITIES.items() for code, text in codes.items()]
    unread = (
        (UNREADABLE, "error", "The file cannot be read as Kubernetes objects."),
        (NOTHING, "error", "The input has no object of Modelplane."),
    )
    return [
        {"id": code, "shortDescription": {"text": text}, "defaultConfiguration": {"level": severity}}
        for code, severity, text in sorted([*told, *unread])
    ]


def _result(finding: FileFinding, rule: int) -> dict[str, Any]:
    (line, column), (end_line, end_column) = finding.region
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    place = {"artifactLocation": locations.artifact(finding.file), "region": region}
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }
